"""Ways to repair a document whose markers are broken, none of which loses a person's line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cub.edit import markers
from cub.edit.document import Document, get_line_end
from cub.edit.markers import Marker
from cub.edit.merge_conflicts import find_overlapping_conflicts
from cub.edit.repair.conflict_choices import RecognizeBody, list_conflict_choices
from cub.edit.repair.repair_choice import RepairChoice, rebuild_document
from cub.edit.repair.section_regions import SectionRegion, find_header_lines, find_regions
from cub.edit.repair.unmarked_sections import (
    NO_RELEASED_BODIES,
    ReleasedBodies,
    find_unmarked_sections,
    list_unmarked_choices,
)
from cub.edit.sections import find_section_or_none
from cub.errors import CubError

MAX_CHOICES = 9


@dataclass(frozen=True, slots=True)
class _Broken:
    """A document, its markers with cub's comments beside each, and the regions they make."""

    document: Document
    headers: dict[int, list[int]]
    regions: list[SectionRegion]


def list_repair_choices(
    document: Document,
    recognize: RecognizeBody,
    released_bodies: ReleasedBodies = NO_RELEASED_BODIES,
) -> list[RepairChoice]:
    """What can be done about `document`, best first; nothing where it is well formed.

    `recognize` tells the text that cub once wrote from a section that a person edited; by
    `released_bodies`, a section without markers is known. Raises CubError for a conflict that has
    to be resolved by hand.
    """
    found = markers.find_markers(document)
    if not found:
        return list_unmarked_choices(document, find_unmarked_sections(document, released_bodies))
    if conflicts := find_overlapping_conflicts(document, found[0].line, found[-1].line):
        try:
            return list_conflict_choices(document, conflicts, recognize)
        except CubError:
            # A conflict between two sections needs no resolving once one of them is left.
            if not (kept := _keepers(document, found)):
                raise
            return [*kept, _bare(document, found)]
    if [marker.version is None for marker in found] == [False, True]:
        return []
    return [*_keepers(document, found), _bare(document, found)]


def _keepers(document: Document, found: Sequence[Marker]) -> list[RepairChoice]:
    """The ways to keep one section."""
    broken = _Broken(document, find_header_lines(document, found), find_regions(document, found))
    loose = sum(region.author != "cub" for region in broken.regions)
    ranked = sorted(broken.regions, key=lambda region: _rank(region, loose))
    kept = (_keeping(broken, region) for region in ranked[: MAX_CHOICES - 1])
    return [choice for choice in kept if choice]


def _rank(keeper: SectionRegion, loose: int) -> tuple[int, bool, int, int]:
    """Best is what turns the fewest of the `loose` sections, those that no digest proves, into
    text; then proven ones, new ones, upper ones.
    """
    is_loose = keeper.author != "cub"
    return loose - is_loose, is_loose, -keeper.version, keeper.start


def _keeping(broken: _Broken, keeper: SectionRegion) -> RepairChoice | None:
    """`keeper` as the section: what else is proven goes, of everything else the markers do."""
    dropped = [r for r in broken.regions if r != keeper and _may_go(r, keeper)]
    inner = {line for r in dropped if _within(r, keeper) for line in r.line_range}
    outer = {line for r in dropped for line in r.line_range} - set(keeper.line_range)
    gone = inner | outer
    strays = [line for line in broken.headers if line not in gone | keeper.marker_lines]
    gone |= set(strays).union(*(broken.headers[line] for line in strays))
    data = rebuild_document(broken.document, gone, _missing(broken.document, keeper))
    section = find_section_or_none(broken.document.replace_data(data))
    if section is None or section.author != keeper.author:
        return None
    title = ", ".join([_kept(keeper), *_drops(dropped), *_removes(strays)])
    return RepairChoice(title, _why(keeper, dropped, broken.regions), data)


def _bare(document: Document, found: Sequence[Marker]) -> RepairChoice:
    """No section: every marker goes, with cub's comments beside it, and all text stays."""
    which = {1: f"the marker in {_line(found[0].line)}", 2: "both markers"}
    title = f"remove {which.get(len(found), f'all {len(found)} markers')}, keep all text"
    rest = document
    while now := markers.find_markers(rest):
        headers = find_header_lines(rest, now)
        rest = rest.replace_data(rebuild_document(rest, set(headers).union(*headers.values())))
    return RepairChoice(title, "cub's text becomes yours where it stands", rest.data)


def _may_go(part: SectionRegion, keeper: SectionRegion) -> bool:
    """Whether all of `part` outside of `keeper` is cub's own, and nothing of `keeper`."""
    if part.author != "cub":
        return False
    if _within(part, keeper):
        return part.is_complete
    return keeper.is_complete if _within(keeper, part) else not part.overlaps(keeper)


def _within(inner: SectionRegion, outer: SectionRegion) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _missing(document: Document, keeper: SectionRegion) -> dict[int, bytes]:
    """The marker that `keeper` lacks, by the line that it goes above."""
    newline = document.newline
    if keeper.missing_marker == "BEGIN":
        return {
            keeper.start: markers.BEGIN_MARKER.format(version=keeper.version).encode() + newline
        }
    if keeper.missing_marker == "END":
        last = document.lines[keeper.end - 1]
        blank = newline if last.strip() else b""
        return {
            keeper.end: blank
            + markers.END_MARKER.encode()
            + (newline if get_line_end(last) else b"")
        }
    return {}


def _kept(keeper: SectionRegion) -> str:
    if keeper.missing_marker == "END":
        return f"put END back below {_line(keeper.end - 1)}"
    if keeper.missing_marker == "BEGIN":
        return f"put BEGIN back above {_line(keeper.start)}"
    return f"keep the section in {_span(keeper)}"


def _drops(dropped: Sequence[SectionRegion]) -> Iterable[str]:
    if len(dropped) == 1:
        yield f"drop the one in {_span(dropped[0])}"
    elif dropped:
        yield f"drop the {len(dropped)} others"


def _removes(strays: Sequence[int]) -> Iterable[str]:
    if len(strays) == 1:
        yield f"remove the marker in {_line(strays[0])}"
    elif len(strays) == 2:
        yield f"remove the markers in lines {strays[0] + 1} and {strays[1] + 1}"
    elif strays:
        yield f"remove the {len(strays)} other markers"


def _why(
    keeper: SectionRegion, dropped: Sequence[SectionRegion], parts: Sequence[SectionRegion]
) -> str:
    if any(part.author != "cub" for part in parts if part != keeper):
        return "text between removed markers stays: no digest proves that it is cub's"
    if dropped:
        return "the digest of what is dropped proves that nobody edited it"
    if keeper.missing_marker:
        return f"the digest proves that cub's text {_EDGES[keeper.missing_marker]} there"
    if keeper.author != "cub":
        return "only markers go"
    return "the digest of this section fits"


_EDGES = {"END": "ends", "BEGIN": "begins"}


def _line(number: int) -> str:
    return f"line {number + 1}"


def _span(region: SectionRegion) -> str:
    return f"lines {region.start + 1}-{region.end}"
