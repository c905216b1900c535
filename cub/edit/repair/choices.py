"""Ways to repair a document whose markers are broken, none of which loses a person's line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cub.edit import markers
from cub.edit.conflicts import overlapping
from cub.edit.document import Document, line_end
from cub.edit.markers import Marker
from cub.edit.repair.choice import Choice, rebuilt, section_in
from cub.edit.repair.regions import Region, own_headers, regions
from cub.edit.repair.resolve import Recognize, resolutions
from cub.edit.repair.unmarked import NOTHING_RELEASED, Released, find_unmarked
from cub.edit.repair.unmarked_choices import unmarked_choices
from cub.errors import CubError

MOST = 9


@dataclass(frozen=True, slots=True)
class _Broken:
    """A document, its markers with cub's comments beside each, and the regions they make."""

    document: Document
    headers: dict[int, list[int]]
    regions: list[Region]


def choices(
    document: Document, recognize: Recognize, released: Released = NOTHING_RELEASED
) -> list[Choice]:
    """What can be done about `document`, best first; nothing where it is well formed.

    `recognize` tells the text that cub once wrote from a section that a person edited; by
    `released`, a section without markers is known. Raises CubError for a conflict that has to be
    resolved by hand.
    """
    found = markers.scan(document)
    if not found:
        return unmarked_choices(document, find_unmarked(document, released))
    if conflicts := overlapping(document, found[0].line, found[-1].line):
        try:
            return resolutions(document, conflicts, recognize)
        except CubError:
            # A conflict between two sections needs no resolving once one of them is left.
            if not (kept := _keepers(document, found)):
                raise
            return [*kept, _bare(document, found)]
    if [marker.version is None for marker in found] == [False, True]:
        return []
    return [*_keepers(document, found), _bare(document, found)]


def _keepers(document: Document, found: Sequence[Marker]) -> list[Choice]:
    """The ways to keep one section."""
    broken = _Broken(document, own_headers(document, found), regions(document, found))
    loose = sum(region.author != "cub" for region in broken.regions)
    ranked = sorted(broken.regions, key=lambda region: _rank(region, loose))
    kept = (_keeping(broken, region) for region in ranked[: MOST - 1])
    return [choice for choice in kept if choice]


def _rank(keeper: Region, loose: int) -> tuple[int, bool, int, int]:
    """Best is what turns the fewest of the `loose` sections, those that no digest proves, into
    text; then proven ones, new ones, upper ones.
    """
    is_loose = keeper.author != "cub"
    return loose - is_loose, is_loose, -keeper.version, keeper.start


def _keeping(broken: _Broken, keeper: Region) -> Choice | None:
    """`keeper` as the section: what else is proven goes, of everything else the markers do."""
    dropped = [r for r in broken.regions if r != keeper and _may_go(r, keeper)]
    inner = {line for r in dropped if _within(r, keeper) for line in r.lines}
    outer = {line for r in dropped for line in r.lines} - set(keeper.lines)
    gone = inner | outer
    strays = [line for line in broken.headers if line not in gone | keeper.markers]
    gone |= set(strays).union(*(broken.headers[line] for line in strays))
    data = rebuilt(broken.document, gone, _missing(broken.document, keeper))
    section = section_in(broken.document.with_data(data))
    if section is None or section.author != keeper.author:
        return None
    title = ", ".join([_kept(keeper), *_drops(dropped), *_removes(strays)])
    return Choice(title, _why(keeper, dropped, broken.regions), data)


def _bare(document: Document, found: Sequence[Marker]) -> Choice:
    """No section: every marker goes, with cub's comments beside it, and all text stays."""
    which = {1: f"the marker in {_line(found[0].line)}", 2: "both markers"}
    title = f"remove {which.get(len(found), f'all {len(found)} markers')}, keep all text"
    rest = document
    while now := markers.scan(rest):
        headers = own_headers(rest, now)
        rest = rest.with_data(rebuilt(rest, set(headers).union(*headers.values())))
    return Choice(title, "cub's text becomes yours where it stands", rest.data)


def _may_go(part: Region, keeper: Region) -> bool:
    """Whether all of `part` outside of `keeper` is cub's own, and nothing of `keeper`."""
    if part.author != "cub":
        return False
    if _within(part, keeper):
        return part.solid
    return keeper.solid if _within(keeper, part) else not part.overlaps(keeper)


def _within(inner: Region, outer: Region) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _missing(document: Document, keeper: Region) -> dict[int, bytes]:
    """The marker that `keeper` lacks, by the line that it goes above."""
    newline = document.newline
    if keeper.lacks == "BEGIN":
        return {keeper.start: markers.BEGIN.format(version=keeper.version).encode() + newline}
    if keeper.lacks == "END":
        last = document.lines[keeper.end - 1]
        blank = newline if last.strip() else b""
        return {keeper.end: blank + markers.END.encode() + (newline if line_end(last) else b"")}
    return {}


def _kept(keeper: Region) -> str:
    if keeper.lacks == "END":
        return f"put END back below {_line(keeper.end - 1)}"
    if keeper.lacks == "BEGIN":
        return f"put BEGIN back above {_line(keeper.start)}"
    return f"keep the section in {_span(keeper)}"


def _drops(dropped: Sequence[Region]) -> Iterable[str]:
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


def _why(keeper: Region, dropped: Sequence[Region], parts: Sequence[Region]) -> str:
    if any(part.author != "cub" for part in parts if part != keeper):
        return "text between removed markers stays: no digest proves that it is cub's"
    if dropped:
        return "the digest of what is dropped proves that nobody edited it"
    if keeper.lacks:
        return f"the digest proves that cub's text {_EDGES[keeper.lacks]} there"
    if keeper.author != "cub":
        return "only markers go"
    return "the digest of this section fits"


_EDGES = {"END": "ends", "BEGIN": "begins"}


def _line(number: int) -> str:
    return f"line {number + 1}"


def _span(region: Region) -> str:
    return f"lines {region.start + 1}-{region.end}"
