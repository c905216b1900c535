"""Unified diffs of exact bytes, as lines of text in which no byte is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from typing import TypeVar

Line = TypeVar("Line", bytes, str)

_QUOTED = re.compile(r'["\\\x00-\x1f\x7f]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def header_name(name: str) -> str:
    """A file's name as git writes it into the header of a diff.

    Quoted where it would end the line or read as another name; behind a blank in it, a tab says
    that no time follows.
    """
    if _QUOTED.search(name):
        return f'"{_QUOTED.sub(_escaped, name)}"'
    return f"{name}\t" if " " in name else name


def _escaped(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[0]) or f"\\{ord(found[0]):03o}"


def text_diff(before: str, after: str, path: str, before_name: str, after_name: str) -> list[str]:
    """A short unified diff of two texts with names of their own, for messages."""
    lines = hunks_of(*(text.encode("utf-8", "surrogateescape") for text in (before, after)))
    return [f"--- {path} ({before_name})", f"+++ {path} ({after_name})", *lines]


def hunks_of(before: bytes, after: bytes) -> Iterator[str]:
    """Hunks with three lines of context; common ends are cut off first, so big files are cheap."""
    old, new = _display(before), _display(after)
    skip, tail = (max(0, n - 3) for n in common_ends(old, new))
    diff = unified_diff(old[skip : len(old) - tail], new[skip : len(new) - tail], lineterm="")
    for line in list(diff)[2:]:
        if line.startswith("@@"):
            yield _shifted(line, skip)
        else:
            yield from line.split("\n")


def _display(data: bytes) -> list[str]:
    """Lines as git cuts them: at LF only."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    return lines if lines[-1] else lines[:-1]


def common_ends(old: Sequence[Line], new: Sequence[Line]) -> tuple[int, int]:
    """How many lines two versions have in common at the start, and behind that at the end."""
    skip = _common(old, new)
    return skip, _common(old[skip:][::-1], new[skip:][::-1])


def _common(old: Sequence[Line], new: Sequence[Line]) -> int:
    pairs = zip(old, new, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))


def _shifted(header: str, skip: int) -> str:
    """A hunk header whose line numbers count from the start of the file."""
    old, new = header.split()[1:3]

    def moved(span: str) -> str:
        start, comma, length = span[1:].partition(",")
        return f"{span[0]}{int(start) + skip}{comma}{length}"

    return f"@@ {moved(old)} {moved(new)} @@"
