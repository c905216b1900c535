"""Bound the text of results, and make it such that every service takes it."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_RESULT_CHARS = 100_000  # about 25,000 tokens
_MAX_LINE_CHARS = 2_000
_SURROGATE = re.compile("[\ud800-\udfff]")


def make_valid_text(text: str) -> str:
    """Return a text with a replacement character for each byte that was not UTF-8."""
    return _SURROGATE.sub("\ufffd", text)


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
