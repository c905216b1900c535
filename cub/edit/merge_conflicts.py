"""Git's merge conflicts in a document: where each begins and ends, and the lines of its sides."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cub.edit.document import Document

_EDGE = re.compile(rb"(?:<{7}|>{7})(?: .*)?")
_BASE = re.compile(rb"\|{7}(?: .*)?")
_MIDDLE = re.compile(rb"={7}")


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """The lines `start` (`<<<<<<<`) to `end` (behind `>>>>>>>`), half-open.

    `base` and `middle` are the lines `|||||||` and `=======`, `base` None where there is none, and
    `middle` None where nobody can tell the sides apart.
    """

    start: int
    end: int
    base: int | None = None
    middle: int | None = None

    @property
    def ours(self) -> range:
        """The lines of the upper side."""
        last = self.middle if self.base is None else self.base
        return range(self.start + 1, last or self.start + 1)

    @property
    def theirs(self) -> range:
        """The lines of the lower side."""
        return range(self.end if self.middle is None else self.middle + 1, self.end - 1)

    @property
    def ancestor(self) -> range:
        """The lines that both sides come from, as far as git shows them (diff3, zdiff3)."""
        first = self.start if self.base is None else self.base + 1
        return range(first, first if self.base is None else self.middle or first)


def find_conflicts(document: Document) -> list[MergeConflict]:
    """Every conflict, from a line `<<<<<<<` to the next line `>>>>>>>`."""
    found: list[MergeConflict] = []
    start: int | None = None
    if b"<<<<<<<" not in document.data:
        return found
    for number, line in enumerate(document.lines):
        if line[:1] in b"<>" and _EDGE.fullmatch(line.rstrip(b"\r\n")):
            if line.startswith(b"<"):
                start = number if start is None else start
            elif start is not None:
                found.append(_conflict(document, start, number + 1))
                start = None
    return found


def find_overlapping_conflicts(document: Document, first: int, last: int) -> list[MergeConflict]:
    """The conflicts that share a line with the lines `first` to `last`, or stand between them."""
    return [c for c in find_conflicts(document) if c.start <= last and first < c.end]


def _conflict(document: Document, start: int, end: int) -> MergeConflict:
    """The parts, told only where each line that parts them stands there once, in git's order."""
    bare = [line.rstrip(b"\r\n") for line in document.lines[start + 1 : end - 1]]
    edges = [n for n, line in enumerate(bare, start + 1) if _EDGE.fullmatch(line)]
    bases = [n for n, line in enumerate(bare, start + 1) if _BASE.fullmatch(line)]
    middles = [n for n, line in enumerate(bare, start + 1) if _MIDDLE.fullmatch(line)]
    if (
        edges
        or len(bases) > 1
        or len(middles) != 1
        or [*bases, *middles] != sorted(bases + middles)
    ):
        return MergeConflict(start, end)
    return MergeConflict(start, end, bases[0] if bases else None, middles[0])
