"""The sides of a merge as documents of their own, with what in each of them is cub's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from cub.edit.conflicts import Conflict
from cub.edit.document import Document
from cub.edit.markers import Marker, scan
from cub.edit.repair.regions import Region, own_headers, regions
from cub.edit.sections import Section, find, section_between
from cub.errors import CubError

Name = Literal["ours", "theirs", "ancestor"]


@dataclass(frozen=True, slots=True)
class Side:
    """`document` is what the file would be with the lines of one side in every conflict.

    `lines` are the numbers that its lines have in the file with the conflicts, and `own` those of
    them that are a section's, markers, or cub's as a digest proves. A `broken` side has no
    section; others may have several, every one of them cub's own: one branch moved the section,
    and the other one changed it.
    """

    name: Name
    document: Document
    lines: tuple[int, ...]
    sections: tuple[Section, ...]
    own: frozenset[int]
    broken: bool = False

    @property
    def starts(self) -> list[int]:
        """Where its sections begin, in the file with the conflicts."""
        return [self.lines[section.start] for section in self.sections]


def side(document: Document, conflicts: Sequence[Conflict], name: Name) -> Side:
    """One side of `document`."""
    lines = tuple(side_lines(document, conflicts, name))
    apart = document.with_data(b"".join(document.lines[number] for number in lines))
    try:
        section = find(apart)
    except CubError:
        return _of_many(apart, name, lines)
    sections = (section,) if section else ()
    return Side(name, apart, lines, sections, _numbers(lines, sections))


def side_lines(document: Document, conflicts: Sequence[Conflict], name: Name) -> Iterator[int]:
    """The numbers of the lines that one side has, in the file with the conflicts."""
    start = 0
    for conflict in conflicts:
        yield from range(start, conflict.start)
        yield from getattr(conflict, name)
        start = conflict.end
    yield from range(start, len(document.lines))


def _of_many(apart: Document, name: Name, lines: tuple[int, ...]) -> Side:
    """A side with several sections, or one that is broken."""
    found = scan(apart)
    proven = [region for region in regions(apart, found) if region.author == "cub"]
    sections = tuple(
        section_between(apart, Marker(region.start, region.version), region.end - 1)
        for region in proven
        if region.solid
    )
    own = _numbers(lines, proven)
    if 2 * len(sections) == len(found):
        return Side(name, apart, lines, sections, own)
    headers = own_headers(apart, found)
    loose = chain(headers, *headers.values())
    return Side(name, apart, lines, (), own.union(lines[n] for n in loose), broken=True)


def _numbers(lines: Sequence[int], parts: Sequence[Section | Region]) -> frozenset[int]:
    return frozenset(chain(*(lines[part.start : part.end] for part in parts)))
