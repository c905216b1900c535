"""Turn a terminal's output into the text that stays on the screen."""

from __future__ import annotations

import re

_ERASE = "\x00"  # stands for "erase to the end of the line" while a line is replayed
_ERASE_ALL = "\x01"
_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)(?P<arguments>[0-?]*)[ -/]*(?P<final>[@-~])"  # CSI
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # OSC and kin
    r"|\x1b[ -/]*[0-~]"
)
_MOVE = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[GK]")
_CONTROL = re.compile(r"[\x00-\x06\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]")
_UNPRINTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LINE_END = re.compile(r"(?<!\r)\r+\n")
_MAX_LINE_CHARS = 1_000
_STEP = re.compile(r"[\r\b\x00\x01]|[^\r\b\x00\x01]+")


def to_plain_text(text: str) -> str:
    """Return the text without escapes and control characters except line endings and tabs.

    Text that a carriage return or a backspace overwrote is gone, as on a terminal.
    """
    if _UNPRINTED.search(text) is None:
        return text
    text = _CONTROL.sub("", text)
    text = _ESCAPE.sub(_read_escape if _MOVE.search(text) else "", text)
    lines = _LINE_END.sub("\n", text).split("\n")
    lines = [_replay_line(line) if "\r" in line or "\b" in line else line for line in lines]
    return _UNPRINTED.sub("", "\n".join(lines))


def split_lines(text: str) -> list[str]:
    """Return the plain text's lines, each cut to its first 1,000 characters."""
    return [line[:_MAX_LINE_CHARS] for line in to_plain_text(text).split("\n")]


def take_tail(text: str, max_chars: int) -> str:
    """Return the last `max_chars` characters of the plain text, from a line's start if possible.

    Blank lines at the end are dropped.
    """
    plain = to_plain_text(text).rstrip()
    start = max(0, len(plain) - max(0, max_chars))
    if start and plain[start - 1] != "\n":
        start = plain.find("\n", start) + 1 or start
    return plain[start:]


def _read_escape(escape: re.Match[str]) -> str:
    """Return the replacement of an escape: the few that move or erase within a line matter."""
    kind = (escape["final"] or "") + (escape["arguments"] or "").lstrip("0")
    return {"G": "\r", "G1": "\r", "K": _ERASE, "K2": _ERASE_ALL}.get(kind, "")


def _replay_line(line: str) -> str:
    cells: list[str] = []
    at = 0
    for step in _STEP.findall(line):
        if step == "\r":
            at = 0
        elif step == "\b":
            at = max(0, at - 1)
        elif step == _ERASE:
            del cells[at:]
        elif step == _ERASE_ALL:  # comes with a carriage return wherever it is used
            cells, at = [], 0
        else:
            cells[at : at + len(step)] = step
            at += len(step)
    return "".join(cells)
