"""The pieces of a document whose markers are broken: what could be the section, what is cub's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Literal

from cub.edit.document import Document
from cub.edit.markers import Marker, free_lines
from cub.edit.repair.proof import proven_end
from cub.edit.sections import Author, author_of, is_old_digest, is_own_comment, own_comments

_MOST = 20  # markers whose missing partner is sought: each costs a pass over the document


@dataclass(frozen=True, slots=True)
class Region:
    """Lines `start` to `end`, half-open, that are a section or would be with the marker they lack.

    `solid`: a BEGIN and the next END with a digest that fits. What lacks a marker, or has foreign
    markers inside, is proven by its digest too; everything else is a pair as it stands.
    """

    start: int
    end: int
    version: int
    author: Author
    lacks: Literal["", "BEGIN", "END"] = ""
    solid: bool = False

    @property
    def lines(self) -> range:
        """All its lines."""
        return range(self.start, self.end)

    @property
    def markers(self) -> set[int]:
        """The lines of its own markers, as far as they are there."""
        lines = {"BEGIN": self.start, "END": self.end - 1}
        return {line for name, line in lines.items() if name != self.lacks}

    def overlaps(self, other: Region) -> bool:
        """Whether they share a line."""
        return self.start < other.end and other.start < self.end


def regions(document: Document, found: Sequence[Marker]) -> list[Region]:
    """The regions of `document` with the markers `found`, in order; only proven ones overlap."""
    headers = own_headers(document, found)
    pairs = {b.line: _pair(document, b, e) for b, e in pairwise(found) if _is_pair(b, e)}
    solid = [region for region in pairs.values() if region.solid]
    hidden = {*headers, *chain(*headers.values()), *chain(*(region.lines for region in solid))}
    alone = [m for m in found if m.version is not None and m.line not in {r.start for r in solid}]
    sought = (
        _stretched(document, begin, found, hidden - set(headers[begin.line]))
        for begin in alone[:_MOST]
    )
    proven = solid + [
        region
        for region in sought
        # A person's lines between cub's and END are an edit of the section.
        if region and (not (p := pairs.get(region.start)) or region.end > p.end)
    ]
    taken = {region.end - 1 for region in proven}
    ends = [m.line for m in found if m.version is None and m.line not in taken]
    proven += [r for end in ends[:_MOST] if (r := _headed(document, found, headers[end], end))]
    lines = set(chain(*(region.lines for region in proven)))
    rest = [pair for pair in pairs.values() if lines.isdisjoint(pair.lines)]
    return sorted(proven + rest, key=lambda region: region.start)


def own_headers(document: Document, found: Sequence[Marker]) -> dict[int, list[int]]:
    """By the line of each marker, the lines of cub's comments that belong to it.

    They stand below a BEGIN. Above an END that has no BEGIN, they are what a lost one left.
    """
    headers: dict[int, list[int]] = {}
    bounds = [-1, *(marker.line for marker in found), len(document.lines)]
    for number, marker in enumerate(found):
        if marker.version is not None:
            behind = document.lines[marker.line + 1 : bounds[number + 2]]
            headers[marker.line] = [marker.line + 1 + n for n in own_comments(behind)]
        elif number and found[number - 1].version is not None:
            headers[marker.line] = []
        else:
            headers[marker.line] = _left(document, bounds[number] + 1, marker.line)
    return headers


def _left(document: Document, start: int, end: int) -> list[int]:
    """The last run of cub's comments between two lines, blank lines in it not counted."""
    comments = [n for n in _comments(document, start, end) if is_own_comment(document.line(n))]
    run: list[int] = []
    for number in sorted(free_lines(document, comments)):
        between = document.lines[run[-1] + 1 : number] if run else ()
        run = [number] if any(line.strip() for line in between) else [*run, number]
    return run


def _comments(document: Document, start: int, end: int) -> list[int]:
    """The lines that may be a comment, which are few in a large text."""
    inside = document.lines[start:end]
    return [number for number, line in enumerate(inside, start) if b"<!--" in line]


def _is_pair(begin: Marker, end: Marker) -> bool:
    return begin.version is not None and end.version is None


def _pair(document: Document, begin: Marker, end: Marker) -> Region:
    author = author_of(document.lines[begin.line + 1 : end.line])
    version = begin.version or 0
    return Region(begin.line, end.line + 1, version, author, solid=author == "cub")


def _stretched(
    document: Document, begin: Marker, found: Sequence[Marker], hidden: set[int]
) -> Region | None:
    """What the digest below `begin` proves, across the lines that are `hidden`."""
    behind = [n for n in range(begin.line + 1, len(document.lines)) if n not in hidden]
    count = proven_end([document.lines[n] for n in behind])
    if count is None:
        return None
    last, version = behind[count - 1], begin.version or 0
    end = _closing(document, found, last)
    if end is not None:
        return Region(begin.line, end + 1, version, "cub")
    blank = last + 1 < len(document.lines) and not document.lines[last + 1].strip()
    return Region(begin.line, last + 1 + blank, version, "cub", lacks="END")


def _closing(document: Document, found: Sequence[Marker], last: int) -> int | None:
    """The first END that only blank lines and markers part from the line `last`."""
    is_end = {marker.line: marker.version is None for marker in found}
    for number in range(last + 1, len(document.lines)):
        if is_end.get(number):
            return number
        if document.lines[number].strip() and number not in is_end:
            break
    return None


def _headed(
    document: Document, found: Sequence[Marker], header: list[int], end: int
) -> Region | None:
    """What a digest above `end` proves, its BEGIN lost."""
    last = max((marker.line for marker in found if marker.line < end), default=-1)
    comments = _comments(document, last + 1, end)
    old = [n for n in comments if is_old_digest(document.line(n))][:1]
    for start in (*header[:1], *free_lines(document, old)):
        if author_of([document.line(n) for n in range(start, end)]) == "cub":
            return Region(start, end + 1, 1, "cub", lacks="BEGIN")
    return None
