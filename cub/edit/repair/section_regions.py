"""Find the regions of a document with broken markers: what could be the section, what is cub's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Literal

from cub.edit.document import Document
from cub.edit.markers import Marker, filter_html_lines
from cub.edit.sections import (
    SectionAuthor,
    detect_author,
    find_digest_end,
    find_header_comments,
    is_header_comment,
    is_legacy_digest_comment,
)

_MAX_LONE = 20  # markers whose missing partner is searched for, in one pass each


@dataclass(frozen=True, slots=True)
class SectionRegion:
    """Describe half-open lines that are a section, or would be with the marker that they lack.

    `is_complete` says that they are a BEGIN and the next END with a digest that matches. What lacks
    a marker, or has foreign markers inside, is proven by its digest too; everything else is a pair
    as it is.
    """

    start: int
    end: int
    version: int
    author: SectionAuthor
    missing_marker: Literal["", "BEGIN", "END"] = ""
    is_complete: bool = False

    @property
    def line_range(self) -> range:
        """Return all its lines."""
        return range(self.start, self.end)

    @property
    def marker_lines(self) -> set[int]:
        """Return the lines of its own markers that are there."""
        lines = {"BEGIN": self.start, "END": self.end - 1}
        return {line for name, line in lines.items() if name != self.missing_marker}

    def overlaps(self, other: SectionRegion) -> bool:
        """Tell whether two regions share a line."""
        return self.start < other.end and other.start < self.end


def find_regions(document: Document, markers: Sequence[Marker]) -> list[SectionRegion]:
    """Return the regions of `document` with these markers, in order; only proven ones overlap."""
    headers = find_header_lines(document, markers)
    pairs = {
        begin.line: _make_pair(document, begin, end)
        for begin, end in pairwise(markers)
        if begin.version is not None and end.version is None
    }
    solid = [region for region in pairs.values() if region.is_complete]
    hidden = {*headers, *chain(*headers.values()), *chain(*(region.line_range for region in solid))}
    alone = [m for m in markers if m.version is not None and m.line not in {r.start for r in solid}]
    sought = (
        _prove_from_begin(document, begin, markers, hidden - set(headers[begin.line]))
        for begin in alone[:_MAX_LONE]
    )
    proven = solid + [
        region
        for region in sought
        # A person's lines between cub's and END are an edit of the section.
        if region and (not (p := pairs.get(region.start)) or region.end > p.end)
    ]
    taken = {region.end - 1 for region in proven}
    ends = [m.line for m in markers if m.version is None and m.line not in taken]
    proven += [
        r
        for end in ends[:_MAX_LONE]
        if (r := _prove_from_end(document, markers, headers[end], end))
    ]
    lines = set(chain(*(region.line_range for region in proven)))
    rest = [pair for pair in pairs.values() if lines.isdisjoint(pair.line_range)]
    return sorted(proven + rest, key=lambda region: region.start)


def find_header_lines(document: Document, markers: Sequence[Marker]) -> dict[int, list[int]]:
    """Return by the line of each marker the lines of cub's comments that belong to it.

    They are below a BEGIN. Above an END that has no BEGIN, they are what a lost one left.
    """
    headers: dict[int, list[int]] = {}
    bounds = [-1, *(marker.line for marker in markers), len(document.lines)]
    for number, marker in enumerate(markers):
        if marker.version is not None:
            behind = document.lines[marker.line + 1 : bounds[number + 2]]
            headers[marker.line] = [marker.line + 1 + n for n in find_header_comments(behind)]
        elif number and markers[number - 1].version is not None:
            headers[marker.line] = []
        else:
            headers[marker.line] = _find_last_comments(document, bounds[number] + 1, marker.line)
    return headers


def _find_last_comments(document: Document, start: int, end: int) -> list[int]:
    comments = [
        n
        for n in _find_comment_lines(document, start, end)
        if is_header_comment(document.get_line(n))
    ]
    run: list[int] = []
    for number in sorted(filter_html_lines(document, comments)):
        between = document.lines[run[-1] + 1 : number] if run else ()
        run = [number] if any(line.strip() for line in between) else [*run, number]
    return run


def _find_comment_lines(document: Document, start: int, end: int) -> list[int]:
    inside = document.lines[start:end]
    return [number for number, line in enumerate(inside, start) if b"<!--" in line]


def _make_pair(document: Document, begin: Marker, end: Marker) -> SectionRegion:
    author = detect_author(document.lines[begin.line + 1 : end.line])
    version = begin.version or 0
    return SectionRegion(begin.line, end.line + 1, version, author, is_complete=author == "cub")


def _prove_from_begin(
    document: Document, begin: Marker, markers: Sequence[Marker], hidden: set[int]
) -> SectionRegion | None:
    behind = [n for n in range(begin.line + 1, len(document.lines)) if n not in hidden]
    count = find_digest_end([document.lines[n] for n in behind])
    if count is None:
        return None
    last, version = behind[count - 1], begin.version or 0
    end = _find_closing_end(document, markers, last)
    if end is not None:
        return SectionRegion(begin.line, end + 1, version, "cub")
    blank = last + 1 < len(document.lines) and not document.lines[last + 1].strip()
    return SectionRegion(begin.line, last + 1 + blank, version, "cub", missing_marker="END")


def _find_closing_end(document: Document, markers: Sequence[Marker], last: int) -> int | None:
    is_end = {marker.line: marker.version is None for marker in markers}
    for number in range(last + 1, len(document.lines)):
        if is_end.get(number):
            return number
        if document.lines[number].strip() and number not in is_end:
            break
    return None


def _prove_from_end(
    document: Document, markers: Sequence[Marker], header: list[int], end: int
) -> SectionRegion | None:
    last = max((marker.line for marker in markers if marker.line < end), default=-1)
    comments = _find_comment_lines(document, last + 1, end)
    old = [n for n in comments if is_legacy_digest_comment(document.get_line(n))][:1]
    for start in (*header[:1], *filter_html_lines(document, old)):
        if detect_author([document.get_line(n) for n in range(start, end)]) == "cub":
            return SectionRegion(start, end + 1, 1, "cub", missing_marker="BEGIN")
    return None
