"""List the ways to repair a document whose markers are broken; none loses a user's line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cub.edit.document import Document
from cub.edit.markers import (
    BEGIN_MARKER,
    END_MARKER,
    Marker,
    find_markers,
    find_overlapping_conflicts,
)
from cub.edit.repair.conflict_choices import RecognizeBody, list_conflict_choices
from cub.edit.repair.repair_choice import RepairChoice, make_end_line, rebuild_document
from cub.edit.repair.section_regions import SectionRegion, find_header_lines, find_regions
from cub.edit.repair.unmarked_sections import (
    LoadBodies,
    find_unmarked_sections,
    list_unmarked_choices,
)
from cub.edit.sections import find_section_or_none
from cub.errors import CubError

MAX_CHOICES = 9
_OPENER = re.compile(rb"[ ]{0,3}(<!--|`{3,}|~{3,}|<(pre|script|style|textarea)\b)", re.IGNORECASE)
_KINDS = {"<!-": "comment", "```": "code fence", "~~~": "code fence"}


def list_repair_choices(
    document: Document, recognize: RecognizeBody, load_bodies: LoadBodies = tuple
) -> list[RepairChoice]:
    """List the repairs of `document`, best first; none if it is well formed.

    `recognize` returns the text that cub once wrote for a section that a user edited; by the
    released bodies, a section without markers is recognized. Raises CubError for a conflict that
    has to be resolved by hand.
    """
    markers = find_markers(document)
    if not markers:
        return list_unmarked_choices(document, find_unmarked_sections(document, load_bodies))
    if conflicts := find_overlapping_conflicts(document, markers[0].line, markers[-1].line):
        try:
            return list_conflict_choices(document, conflicts, recognize)
        except CubError:
            # A conflict between two sections needs no resolving once one of them is left.
            if not (choices := _list_keeping_choices(document, markers)):
                raise
            return [*choices, _remove_markers(document, markers)]
    if [marker.version is None for marker in markers] == [False, True]:
        return []
    closing = _list_closing_choices(document, markers[0])
    choices = [*closing, *_list_keeping_choices(document, markers)]
    return [*choices[: MAX_CHOICES - 1], _remove_markers(document, markers)]


def _list_closing_choices(document: Document, begin: Marker) -> list[RepairChoice]:
    """Close a comment, fence or raw HTML element that hides the END below `begin`."""
    ends = [n for n in document.find_lines_with(END_MARKER.encode()) if n > begin.line]
    openers = range(begin.line + 1, ends[0] if ends else 0)
    found = [(n, match) for n in openers if (match := _OPENER.match(document.lines[n]))]
    for number, opener in found[-MAX_CHOICES:]:
        kind, tag = opener[1][:3].decode(), (opener[2] or b"").decode().lower()
        closer = f"</{tag}>" if tag else "-->" if kind == "<!-" else opener[1].decode()
        # A comment ends with its line, so that cub's text is none; code goes on to the marker.
        place = number + 1 if closer == "-->" else ends[0]
        line = {place: closer.encode() + document.newline}
        data = rebuild_document(document, (), line)
        section = find_section_or_none(document.replace_data(data))
        if section and section.start == begin.line:
            title = (
                f"close the {_KINDS.get(kind, 'raw HTML')} that starts in {_format_line(number)}"
            )
            return [RepairChoice(title, "it hides the END marker; no line changes", data)]
    return []


def _list_keeping_choices(document: Document, markers: Sequence[Marker]) -> list[RepairChoice]:
    headers, regions = find_header_lines(document, markers), find_regions(document, markers)
    # An unproven one first, as the others become text; then new and upper ones.
    ranked = sorted(regions, key=lambda r: (r.author == "cub", -r.version, r.start))
    choices = (_keep_region(document, headers, regions, kept) for kept in ranked[: MAX_CHOICES - 1])
    return [choice for choice in choices if choice]


def _keep_region(
    document: Document,
    headers: dict[int, list[int]],
    regions: Sequence[SectionRegion],
    kept: SectionRegion,
) -> RepairChoice | None:
    """Keep one region as the section: drop other proven ones, and the markers of the rest."""
    dropped = [r for r in regions if r != kept and _can_drop(r, kept)]
    inner = {line for r in dropped if _is_within(r, kept) for line in r.line_range}
    outer = {line for r in dropped for line in r.line_range} - set(kept.line_range)
    removed = inner | outer
    strays = [line for line in headers if line not in removed | kept.marker_lines]
    removed |= set(strays).union(*(headers[line] for line in strays))
    data = rebuild_document(document, removed, _make_missing_marker(document, kept))
    section = find_section_or_none(document.replace_data(data))
    if section is None or section.author != kept.author:
        return None
    parts = [_describe_kept(kept), *_describe_dropped(dropped), *_describe_strays(strays)]
    return RepairChoice(", ".join(parts), _explain(kept, dropped, regions), data)


def _remove_markers(document: Document, markers: Sequence[Marker]) -> RepairChoice:
    labels = {1: f"the marker in {_format_line(markers[0].line)}", 2: "both markers"}
    title = f"remove {labels.get(len(markers), f'all {len(markers)} markers')}, keep all text"
    result = document
    while remaining := find_markers(result):
        headers = find_header_lines(result, remaining)
        lines = set(headers).union(*headers.values())
        result = result.replace_data(rebuild_document(result, lines))
    return RepairChoice(title, "cub's text becomes yours and stays where it is", result.data)


def _can_drop(part: SectionRegion, kept: SectionRegion) -> bool:
    if part.author != "cub":
        return False
    if _is_within(part, kept):
        return part.is_complete
    return kept.is_complete if _is_within(kept, part) else not part.overlaps(kept)


def _is_within(inner: SectionRegion, outer: SectionRegion) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _make_missing_marker(document: Document, kept: SectionRegion) -> dict[int, bytes]:
    if kept.missing_marker == "BEGIN":
        begin = BEGIN_MARKER.format(version=kept.version).encode()
        return {kept.start: begin + document.newline}
    if kept.missing_marker == "END":
        return {kept.end: make_end_line(document, kept.end)}
    return {}


def _describe_kept(kept: SectionRegion) -> str:
    if kept.missing_marker == "END":
        return f"restore END below {_format_line(kept.end - 1)}"
    if kept.missing_marker == "BEGIN":
        return f"restore BEGIN above {_format_line(kept.start)}"
    return f"keep the section in {_format_span(kept)}"


def _describe_dropped(dropped: Sequence[SectionRegion]) -> Iterable[str]:
    if len(dropped) == 1:
        yield f"drop the one in {_format_span(dropped[0])}"
    elif dropped:
        yield f"drop the {len(dropped)} others"


def _describe_strays(strays: Sequence[int]) -> Iterable[str]:
    if len(strays) == 1:
        yield f"remove the marker in {_format_line(strays[0])}"
    elif len(strays) == 2:
        yield f"remove the markers in lines {strays[0] + 1} and {strays[1] + 1}"
    elif strays:
        yield f"remove the {len(strays)} other markers"


def _explain(
    kept: SectionRegion, dropped: Sequence[SectionRegion], regions: Sequence[SectionRegion]
) -> str:
    if any(region.author != "cub" for region in regions if region != kept):
        return "text between removed markers stays: no digest proves that it is cub's"
    if dropped:
        return "the digest of the dropped text proves that it was not edited"
    if kept.missing_marker:
        edge = "ends" if kept.missing_marker == "END" else "starts"
        return f"the digest proves that cub's text {edge} there"
    return "only markers go" if kept.author != "cub" else "the digest of this section fits"


def _format_line(number: int) -> str:
    return f"line {number + 1}"


def _format_span(region: SectionRegion) -> str:
    return f"lines {region.start + 1}-{region.end}"
