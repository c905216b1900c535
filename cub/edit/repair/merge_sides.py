"""What stays of a merge outside of the section: every line that is not cub's, in order, and git's
conflict lines where the sides still differ.

The sides of a merge as documents of their own, with what in each of them is cub's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from cub.edit.document import Document
from cub.edit.markers import Marker, find_markers
from cub.edit.merge_conflicts import MergeConflict
from cub.edit.repair.section_regions import SectionRegion, find_header_lines, find_regions
from cub.edit.sections import Section, find_section, parse_section
from cub.errors import CubError


@dataclass(frozen=True, slots=True)
class SectionMerge:
    """A document, the conflicts in it that are to be resolved, and its sides.

    `base` is None where nobody can tell what in the common ancestor is cub's.
    """

    document: Document
    conflicts: Sequence[MergeConflict]
    ours: MergeSide
    theirs: MergeSide
    base: MergeSide | None

    @property
    def section_line(self) -> int:
        """The line where the section begins: the same on both sides if it can be, else ours."""
        both = set(self.ours.section_starts) & set(self.theirs.section_starts)
        starts = sorted(both) or self.ours.section_starts or self.theirs.section_starts
        return starts[0] if starts else len(self.document.lines)

    @property
    def sides_without_section(self) -> tuple[MergeSide, ...]:
        """The sides that a person took the section out of, or never put one into."""
        both = (self.ours, self.theirs)
        return tuple(one for one in both if not one.sections and not one.has_broken_markers)

    @property
    def cub_lines(self) -> frozenset[int]:
        """The lines outside of conflicts that are cub's: on both sides, as far as that shows."""
        if self.ours.has_broken_markers or self.theirs.has_broken_markers:
            return (self.theirs if self.ours.has_broken_markers else self.ours).cub_lines
        return self.ours.cub_lines & self.theirs.cub_lines

    @property
    def sides(self) -> tuple[MergeSide, ...]:
        """The sides that are known."""
        known = (self.ours, self.theirs)
        return (*known, self.base) if self.base else known


def merge_around_section(merge: SectionMerge) -> tuple[list[bytes], list[bytes]]:
    """The lines above the section and those below it."""
    above: list[bytes] = []
    below: list[bytes] = []
    own, anchor, start = merge.cub_lines, merge.section_line, 0
    for conflict in (*merge.conflicts, None):
        common = range(start, conflict.start if conflict else len(merge.document.lines))
        kept = [number for number in common if number not in own]
        above += _text(merge.document, [n for n in kept if n < anchor])
        below += _text(merge.document, [n for n in kept if n >= anchor])
        if conflict:
            parts = _parted(merge, conflict)
            above += merge_lines(merge.document, conflict, parts[0])
            below += merge_lines(merge.document, conflict, parts[1])
            start = conflict.end
    return above, below


def merge_lines(
    document: Document, conflict: MergeConflict, lines: Mapping[SideName, Sequence[bytes]]
) -> list[bytes]:
    """The lines of both sides: once where they are equal, else between git's conflict lines.

    Lines that one side alone has, and the ancestor has not, are an addition and no conflict.
    Where the sides differ in blank lines only, the more of them the better: none joins texts.
    """
    ours, theirs = list(lines["ours"]), list(lines["theirs"])
    base = lines.get("ancestor")
    head = _common(ours, theirs)
    tail = _common(ours[head:][::-1], theirs[head:][::-1])
    first, last = ours[:head], ours[len(ours) - tail :]
    one, other = ours[head : len(ours) - tail], theirs[head : len(theirs) - tail]
    added = base is not None and not _said(base) and not (_said(one) and _said(other))
    if added or not _said([*one, *other]):
        return [*first, *max(one, other, key=lambda part: (_said(part), len(part))), *last]
    known = conflict.base is not None and base is not None
    ancestor = [document.lines[conflict.base or 0], *(base or ())] if known else []
    opening, middle = document.get_line(conflict.start), document.lines[conflict.middle or 0]
    closing = document.lines[conflict.end - 1]
    return [*first, opening, *one, *ancestor, middle, *other, closing, *last]


def _said(lines: Sequence[bytes]) -> bool:
    """Whether there is more than blank lines."""
    return bool(b"".join(lines).strip())


def _parted(merge: SectionMerge, conflict: MergeConflict) -> list[dict[SideName, list[bytes]]]:
    """By side, what is not cub's of a conflict's lines: above the section, and below it."""
    parts: list[dict[SideName, list[bytes]]] = [{}, {}]
    for side in merge.sides:
        kept = [n for n in getattr(conflict, side.name) if n not in side.cub_lines]
        cut = _cut(merge, conflict, side, kept)
        parts[0][side.name] = _text(merge.document, [n for n in kept if n < cut])
        parts[1][side.name] = _text(merge.document, [n for n in kept if n >= cut])
    if conflict.base is not None and not conflict.ancestor:
        parts[0]["ancestor"] = parts[1]["ancestor"] = []
    return parts


def _cut(merge: SectionMerge, conflict: MergeConflict, side: MergeSide, kept: Sequence[int]) -> int:
    """The line of `side` where what stands below the section begins."""
    if not conflict.start < merge.section_line < conflict.end:
        return conflict.end if conflict.end <= merge.section_line else conflict.start
    starts = [start for start in side.section_starts if start in getattr(conflict, side.name)]
    if starts or side.sections:
        elsewhere = conflict.start if side.section_starts[0] < conflict.start else conflict.end
        return starts[0] if starts else elsewhere
    return _cut_alike(merge, conflict, kept)


def _cut_alike(merge: SectionMerge, conflict: MergeConflict, kept: Sequence[int]) -> int:
    """Where a side without a section has the lines that stand above it on the other side."""
    holder = merge.ours if merge.section_line in conflict.ours else merge.theirs
    outside = [n for n in getattr(conflict, holder.name) if n not in holder.cub_lines]
    above = _text(merge.document, [n for n in outside if n < merge.section_line])
    lines = _text(merge.document, kept)
    if lines[: len(above)] == above and len(above) < len(kept):
        return kept[len(above)]
    return conflict.end


def _text(document: Document, lines: Sequence[int]) -> list[bytes]:
    return [document.get_line(number) for number in lines]


def _common(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


SideName = Literal["ours", "theirs", "ancestor"]


@dataclass(frozen=True, slots=True)
class MergeSide:
    """`document` is what the file would be with the lines of one side in every conflict.

    `lines` are the numbers that its lines have in the file with the conflicts, and `cub_lines`
    those of them that are a section's, markers, or cub's as a digest proves. A `has_broken_markers`
    side has no section; others may have several, every one of them cub's own: one branch moved the
    section, and the other one changed it.
    """

    name: SideName
    document: Document
    lines: tuple[int, ...]
    sections: tuple[Section, ...]
    cub_lines: frozenset[int]
    has_broken_markers: bool = False

    @property
    def section_starts(self) -> list[int]:
        """Where its sections begin, in the file with the conflicts."""
        return [self.lines[section.start] for section in self.sections]


def build_side(document: Document, conflicts: Sequence[MergeConflict], name: SideName) -> MergeSide:
    """One side of `document`."""
    lines = tuple(iter_side_lines(document, conflicts, name))
    apart = document.replace_data(b"".join(document.lines[number] for number in lines))
    try:
        section = find_section(apart)
    except CubError:
        return _of_many(apart, name, lines)
    sections = (section,) if section else ()
    return MergeSide(name, apart, lines, sections, _numbers(lines, sections))


def iter_side_lines(
    document: Document, conflicts: Sequence[MergeConflict], name: SideName
) -> Iterator[int]:
    """The numbers of the lines that one side has, in the file with the conflicts."""
    start = 0
    for conflict in conflicts:
        yield from range(start, conflict.start)
        yield from getattr(conflict, name)
        start = conflict.end
    yield from range(start, len(document.lines))


def _of_many(apart: Document, name: SideName, lines: tuple[int, ...]) -> MergeSide:
    """A side with several sections, or one that is broken."""
    found = find_markers(apart)
    proven = [region for region in find_regions(apart, found) if region.author == "cub"]
    sections = tuple(
        parse_section(apart, Marker(region.start, region.version), region.end - 1)
        for region in proven
        if region.is_complete
    )
    own = _numbers(lines, proven)
    if 2 * len(sections) == len(found):
        return MergeSide(name, apart, lines, sections, own)
    headers = find_header_lines(apart, found)
    loose = chain(headers, *headers.values())
    return MergeSide(
        name, apart, lines, (), own.union(lines[n] for n in loose), has_broken_markers=True
    )


def _numbers(lines: Sequence[int], parts: Sequence[Section | SectionRegion]) -> frozenset[int]:
    return frozenset(chain(*(lines[part.start : part.end] for part in parts)))
