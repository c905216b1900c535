"""Split a merge into its sides, and merge again what is outside of the section: no line is lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from cub.edit.document import Document
from cub.edit.line_matching import count_common_lines
from cub.edit.markers import Marker, MergeConflict, find_markers
from cub.edit.repair.section_regions import SectionRegion, find_header_lines, find_regions
from cub.edit.sections import Section, find_section, parse_section
from cub.errors import CubError


@dataclass(frozen=True, slots=True)
class SectionMerge:
    """Hold a document, its conflicts, and its sides; `base` is None if its section is unknown."""

    document: Document
    conflicts: Sequence[MergeConflict]
    ours: MergeSide
    theirs: MergeSide
    base: MergeSide | None

    @property
    def section_line(self) -> int:
        """Return the line where the section begins: on both sides, or else on one."""
        both = set(self.ours.section_starts) & set(self.theirs.section_starts)
        starts = sorted(both) or self.ours.section_starts or self.theirs.section_starts
        return starts[0] if starts else len(self.document.lines)

    @property
    def sides_without_section(self) -> tuple[MergeSide, ...]:
        """Return the sides that a user took the section out of, or never put one into."""
        both = (self.ours, self.theirs)
        return tuple(side for side in both if not side.sections and not side.has_broken_markers)

    @property
    def cub_lines(self) -> frozenset[int]:
        """Return cub's lines outside of conflicts: those of both sides, or of the readable one."""
        if self.ours.has_broken_markers or self.theirs.has_broken_markers:
            return (self.theirs if self.ours.has_broken_markers else self.ours).cub_lines
        return self.ours.cub_lines & self.theirs.cub_lines

    @property
    def sides(self) -> tuple[MergeSide, ...]:
        """Return ours, theirs, and the base if it is known."""
        sides = (self.ours, self.theirs)
        return (*sides, self.base) if self.base else sides


def merge_around_section(merge: SectionMerge) -> tuple[list[bytes], list[bytes]]:
    """Return the lines above the section and those below it."""
    above: list[bytes] = []
    below: list[bytes] = []
    cub_lines, section_line, start = merge.cub_lines, merge.section_line, 0
    for conflict in (*merge.conflicts, None):
        common = range(start, conflict.start if conflict else len(merge.document.lines))
        user_lines = [number for number in common if number not in cub_lines]
        above += _get_lines(merge.document, [n for n in user_lines if n < section_line])
        below += _get_lines(merge.document, [n for n in user_lines if n >= section_line])
        if conflict:
            parts = _split(merge, conflict)
            above += merge_lines(merge.document, conflict, parts[0])
            below += merge_lines(merge.document, conflict, parts[1])
            start = conflict.end
    return above, below


def merge_lines(
    document: Document, conflict: MergeConflict, lines: Mapping[SideName, Sequence[bytes]]
) -> list[bytes]:
    """Return the lines of both sides: once if they are equal, else between git's conflict lines.

    Lines that only one side has, and the ancestor has not, are an addition and no conflict. If the
    sides differ in blank lines only, the longer run stays, so that no texts are joined.
    """
    ours, theirs = list(lines["ours"]), list(lines["theirs"])
    base = lines.get("ancestor")
    head = count_common_lines(ours, theirs)
    tail = count_common_lines(ours[head:][::-1], theirs[head:][::-1])
    first, last = ours[:head], ours[len(ours) - tail :]
    ours_only, theirs_only = ours[head : len(ours) - tail], theirs[head : len(theirs) - tail]
    both_changed = _has_text(ours_only) and _has_text(theirs_only)
    is_addition = base is not None and not _has_text(base) and not both_changed
    if is_addition or not _has_text([*ours_only, *theirs_only]):
        longer = max(ours_only, theirs_only, key=lambda part: (_has_text(part), len(part)))
        return [*first, *longer, *last]
    has_ancestor = conflict.base is not None and base is not None
    ancestor = [document.lines[conflict.base or 0], *(base or ())] if has_ancestor else []
    opening, middle = document.get_line(conflict.start), document.lines[conflict.middle or 0]
    closing = document.lines[conflict.end - 1]
    return [*first, opening, *ours_only, *ancestor, middle, *theirs_only, closing, *last]


def _has_text(lines: Sequence[bytes]) -> bool:
    return bool(b"".join(lines).strip())


def _split(merge: SectionMerge, conflict: MergeConflict) -> list[dict[SideName, list[bytes]]]:
    """Return what is not cub's of a conflict's lines, by side: above the section, and below it."""
    parts: list[dict[SideName, list[bytes]]] = [{}, {}]
    for side in merge.sides:
        user_lines = [n for n in getattr(conflict, side.name) if n not in side.cub_lines]
        cut = _find_cut(merge, conflict, side, user_lines)
        parts[0][side.name] = _get_lines(merge.document, [n for n in user_lines if n < cut])
        parts[1][side.name] = _get_lines(merge.document, [n for n in user_lines if n >= cut])
    if conflict.base is not None and not conflict.ancestor:
        parts[0]["ancestor"] = parts[1]["ancestor"] = []
    return parts


def _find_cut(
    merge: SectionMerge, conflict: MergeConflict, side: MergeSide, user_lines: Sequence[int]
) -> int:
    if not conflict.start < merge.section_line < conflict.end:
        return conflict.end if conflict.end <= merge.section_line else conflict.start
    starts = [start for start in side.section_starts if start in getattr(conflict, side.name)]
    if starts or side.sections:
        elsewhere = conflict.start if side.section_starts[0] < conflict.start else conflict.end
        return starts[0] if starts else elsewhere
    return _match_cut(merge, conflict, user_lines)


def _match_cut(merge: SectionMerge, conflict: MergeConflict, user_lines: Sequence[int]) -> int:
    holder = merge.ours if merge.section_line in conflict.ours else merge.theirs
    outside = [n for n in getattr(conflict, holder.name) if n not in holder.cub_lines]
    above = _get_lines(merge.document, [n for n in outside if n < merge.section_line])
    lines = _get_lines(merge.document, user_lines)
    if lines[: len(above)] == above and len(above) < len(user_lines):
        return user_lines[len(above)]
    return conflict.end


def _get_lines(document: Document, lines: Sequence[int]) -> list[bytes]:
    return [document.get_line(number) for number in lines]


SideName = Literal["ours", "theirs", "ancestor"]


@dataclass(frozen=True, slots=True)
class MergeSide:
    """Hold one side of a merge: `document` is the file with its lines in every conflict.

    `lines` are the numbers that its lines have in the file with the conflicts, and `cub_lines`
    those of them that are a section's, markers, or cub's as a digest proves. A side with
    `has_broken_markers` has no section; others may have several, every one of them cub's own: one
    branch moved the section, and the other one changed it.
    """

    name: SideName
    document: Document
    lines: tuple[int, ...]
    sections: tuple[Section, ...]
    cub_lines: frozenset[int]
    has_broken_markers: bool = False

    @property
    def section_starts(self) -> list[int]:
        """Return where its sections begin, in the file with the conflicts."""
        return [self.lines[section.start] for section in self.sections]


def build_side(document: Document, conflicts: Sequence[MergeConflict], name: SideName) -> MergeSide:
    """Build the file as it would be with the lines of one side in every conflict."""
    lines = tuple(iter_side_lines(document, conflicts, name))
    side = document.replace_data(b"".join(document.lines[number] for number in lines))
    try:
        section = find_section(side)
    except CubError:
        return _build_other_side(side, name, lines)
    sections = (section,) if section else ()
    return MergeSide(name, side, lines, sections, _map_lines(lines, sections))


def iter_side_lines(
    document: Document, conflicts: Sequence[MergeConflict], name: SideName
) -> Iterator[int]:
    """Yield the numbers of the lines that one side has, in the file with the conflicts."""
    start = 0
    for conflict in conflicts:
        yield from range(start, conflict.start)
        yield from getattr(conflict, name)
        start = conflict.end
    yield from range(start, len(document.lines))


def _build_other_side(side: Document, name: SideName, lines: tuple[int, ...]) -> MergeSide:
    markers = find_markers(side)
    proven = [region for region in find_regions(side, markers) if region.author == "cub"]
    sections = tuple(
        parse_section(side, Marker(region.start, region.version), region.end - 1)
        for region in proven
        if region.is_complete
    )
    cub_lines = _map_lines(lines, proven)
    if 2 * len(sections) == len(markers):
        return MergeSide(name, side, lines, sections, cub_lines)
    headers = find_header_lines(side, markers)
    unproven = chain(headers, *headers.values())
    return MergeSide(
        name, side, lines, (), cub_lines.union(lines[n] for n in unproven), has_broken_markers=True
    )


def _map_lines(lines: Sequence[int], parts: Sequence[Section | SectionRegion]) -> frozenset[int]:
    return frozenset(chain(*(lines[part.start : part.end] for part in parts)))
