"""Find git's merge conflicts in a document, with the lines of their sides."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cub.edit.document import Document

_EDGE = re.compile(rb"(?:<{7}|>{7})(?: .*)?")
_BASE = re.compile(rb"\|{7}(?: .*)?")
_MIDDLE = re.compile(rb"={7}")


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """Describe the lines `start` (`<<<<<<<`) to `end` (after `>>>>>>>`), half-open.

    `base` (`|||||||`) is None if there is none, `middle` (`=======`) if the sides can't be told
    apart.
    """

    start: int
    end: int
    base: int | None = None
    middle: int | None = None

    @property
    def ours(self) -> range:
        """Return the lines of the upper side."""
        last = self.middle if self.base is None else self.base
        return range(self.start + 1, last or self.start + 1)

    @property
    def theirs(self) -> range:
        """Return the lines of the lower side."""
        return range(self.end if self.middle is None else self.middle + 1, self.end - 1)

    @property
    def ancestor(self) -> range:
        """Return the lines that both sides come from, if git shows them (diff3, zdiff3)."""
        first = self.start if self.base is None else self.base + 1
        return range(first, first if self.base is None else self.middle or first)


def find_conflicts(document: Document) -> list[MergeConflict]:
    """Return every conflict, from a line `<<<<<<<` to the next line `>>>>>>>`."""
    conflicts: list[MergeConflict] = []
    start: int | None = None
    if b"<<<<<<<" not in document.data:
        return conflicts
    for number, line in enumerate(document.lines):
        if line[:1] in b"<>" and _EDGE.fullmatch(line.rstrip(b"\r\n")):
            if line.startswith(b"<"):
                start = number if start is None else start
            elif start is not None:
                conflicts.append(_parse_conflict(document, start, number + 1))
                start = None
    return conflicts


def find_overlapping_conflicts(document: Document, first: int, last: int) -> list[MergeConflict]:
    """Return the conflicts that share a line with, or are between, the lines `first` to `last`."""
    return [c for c in find_conflicts(document) if c.start <= last and first < c.end]


def _parse_conflict(document: Document, start: int, end: int) -> MergeConflict:
    bare = [line.rstrip(b"\r\n") for line in document.lines[start + 1 : end - 1]]
    edges, bases, middles = (
        [number for number, line in enumerate(bare, start + 1) if pattern.fullmatch(line)]
        for pattern in (_EDGE, _BASE, _MIDDLE)
    )
    inner = [*bases, *middles]
    if edges or len(bases) > 1 or len(middles) != 1 or inner != sorted(inner):
        return MergeConflict(start, end)
    return MergeConflict(start, end, bases[0] if bases else None, middles[0])
