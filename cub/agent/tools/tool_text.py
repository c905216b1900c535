"""Bound the text of results, and make it such that every service takes it."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_RESULT_CHARS = 100_000  # about 25,000 tokens
_MAX_LINE_CHARS = 2_000
_MAX_KEPT_CHARS = 8_000  # a block below the size from which old ones are cut
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f\udc80-\udcff]")  # the last are bytes that are not UTF-8
_QUOTED = re.compile('["\\\\\x00-\x1f\x7f\udc80-\udcff]')
_OCTAL = re.compile(r"\\([0-3][0-7]{2})")


def make_valid_text(text: str) -> str:
    """Return a text with a replacement character for each byte that was not UTF-8."""
    return _SURROGATE.sub("\ufffd", text)


def quote_name(path: str) -> str:
    """Return a path on one line and in UTF-8: one that can't be is quoted as git does."""
    if not _UNPRINTABLE.search(path):
        return path
    return '"' + _QUOTED.sub(lambda match: f"\\{ord(match[0]) & 0xFF:03o}", path) + '"'


def unquote_name(text: str) -> str:
    """Return the path that `quote_name` has quoted; any other text as it is."""
    codes = (text[:1] == text[-1:] == '"') and _OCTAL.sub(_decode_octal, text[1:-1])
    return codes if codes and quote_name(codes) == text else text


def _decode_octal(match: re.Match[str]) -> str:
    code = int(match[1], 8)
    return chr(code if code < 0x80 else 0xDC00 + code)


def cut_line(line: str) -> str:
    """Return the first 2,000 characters of a line, with a notice of how many there are."""
    if len(line) <= _MAX_LINE_CHARS:
        return line
    return f"{line[:_MAX_LINE_CHARS]}… [line cut: it has {len(line):,} characters]"


def join_bounded(lines: Iterable[str], max_chars: int, notice: str) -> str:
    """Join lines up to `max_chars` characters; with `notice` as the last one if there are more."""
    parts: list[str] = []
    size = 0
    for line in lines:
        size += len(line) + 1
        if size > max_chars:
            parts.append(notice)
            break
        parts.append(line)
    return "\n".join(parts)


def split_kept_text(text: str) -> list[str]:
    """Return a text in blocks that are never cut as old ones, divided at line endings."""
    blocks = []
    while len(text) > _MAX_KEPT_CHARS:
        at = text.rfind("\n", 1, _MAX_KEPT_CHARS)
        at = _MAX_KEPT_CHARS if at < 0 else at
        blocks.append(text[:at])
        text = text[at:].removeprefix("\n")
    return [*blocks, text]
