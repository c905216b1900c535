"""Bound the text of results, and make it such that every service takes it."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_RESULT_CHARS = 100_000  # about 25,000 tokens
_MAX_LINE_CHARS = 2_000
_MAX_KEPT_CHARS = 8_000  # a block below the size from which old ones are cut
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


def split_kept_text(text: str) -> list[str]:
    """Return a text in blocks that are never cut as old ones, divided at line endings."""
    blocks = []
    while len(text) > _MAX_KEPT_CHARS:
        at = text.rfind("\n", 1, _MAX_KEPT_CHARS)
        at = _MAX_KEPT_CHARS if at < 0 else at
        blocks.append(text[:at])
        text = text[at:].removeprefix("\n")
    return [*blocks, text]
