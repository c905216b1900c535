"""Compute the digest of what cub wrote: of its words, which formatters keep in their order.

Formatters wrap lines, and rewrite marks: bullets, numbers of lists, emphasis, escapes, tables.
Older digests are of lines, as are those of files that are not Markdown; both forms are read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from html import unescape

from cub.edit.document import normalize_lines, split_lines

_BREAK = re.compile(r"[ \t]*(?:[-*_][ \t]*){3,}")
# Marks of quotes, list items and numbered items at the start of a line.
_MARKS = re.compile(r"[ \t]*(?:(?:>|[-*+](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$))[ \t]*)+")
_MARK = re.compile(r"([-*+])|\d+([.)])|>")
_FENCE = re.compile(r"[ \t]*(?:`{3,}(?=[^`]*$)|~{3,})")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~]|$)")
_EMPHASIS = re.compile(r"(?<![^\W_])[*_]+|[*_]+(?![^\W_])")
_RULE = re.compile(r"-{2,}")  # also the cells below the head of a table
# Chinese and Japanese have no blanks between words: a formatter may wrap at any character.
_WIDE = "\u2e80-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_WIDE}]|[^{_WIDE}\s|]+", re.ASCII)


def split_words(line: bytes) -> list[str]:
    """Return the words of a line of Markdown, in one form for each mark that has several."""
    text = line.decode("utf-8", "surrogateescape").rstrip("\r\n")
    if _BREAK.fullmatch(text):
        return ["-"]
    text = _FENCE.sub("", text)
    if marks := _MARKS.match(text):
        bullets = _MARK.sub(lambda m: "- " if m[1] else "1. " if m[2] else "", marks[0])
        text = bullets + text[marks.end() :]
    text = unescape(_ESCAPE.sub(r"\1", text))
    text = _EMPHASIS.sub(lambda match: "*" * len(match[0]), text)
    return [_RULE.sub("-", word) if not word.strip(":-") else word for word in _WORD.findall(text)]


def compute_digest(body: bytes) -> str:
    """Return `sha256-` and 16 hex digits over the words of `body`."""
    words = (word for line in split_lines(body) for word in split_words(line))
    return _format_digest(sha256(_encode(" ".join(words))).hexdigest())


def compute_line_digest(body: bytes) -> str:
    """Return `sha256-` and 16 hex digits over the normalized lines of `body`."""
    return _format_digest(sha256(b"\n".join(normalize_lines(body))).hexdigest())


def matches_digest(recorded: str, body: bytes) -> bool:
    """Tell whether `recorded` is the digest of `body`, by its words or by its lines."""
    return recorded == compute_digest(body) or recorded == compute_line_digest(body)


def compute_legacy_digest(inside: Sequence[bytes]) -> str:
    """Compute the older form: over the stripped text between its own line and END."""
    lines = [line.rstrip(b"\r\n") for line in inside]
    text = b"\n".join(lines).strip().partition(b"\n")[2].strip()
    return f"sha256:{sha256(text).hexdigest()}"


def count_matching_lines(lines: Sequence[bytes], recorded: str) -> int | None:
    """Return the least number of lines that have the recorded digest, of any form, or None."""
    if recorded.startswith("sha256:"):
        return _count_matching_lines(lines, recorded[len("sha256:") :], old=True)
    by_words, hashed, joint = recorded[len("sha256-") :], sha256(), ""
    for number, line in enumerate(lines, 1):
        for word in split_words(line):
            hashed.update(_encode(joint + word))
            joint = " "
        if joint and hashed.hexdigest().startswith(by_words):
            return number
    return _count_matching_lines(lines, by_words, old=False)


def _count_matching_lines(lines: Sequence[bytes], hex_digest: str, *, old: bool) -> int | None:
    hashed, between = sha256(), b""
    started = False
    for number, line in enumerate(lines, 1):
        whole = line.rstrip(b"\r\n") if old else line.rstrip(b" \t\r\n")
        if not (whole.strip() if old else whole):
            between += whole + b"\n" if started else b""
            continue
        text = whole.lstrip() if old and not started else whole
        last = text.rstrip() if old else text
        hashed.update(between + last)
        if hashed.hexdigest().startswith(hex_digest):
            return number
        between, started = text[len(last) :] + b"\n", True
    return None


def _format_digest(hex_digest: str) -> str:
    return f"sha256-{hex_digest[:16]}"


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
