"""The markers around a managed section: how they are written, and which lines are markers.

Reading an HTML block line by line: whether it is inside a comment or a raw text element.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple

from cub.edit.document import Document
from cub.edit.merge_conflicts import find_overlapping_conflicts
from cub.errors import CubError

BEGIN_MARKER = "<!-- BEGIN CUB MANAGED SECTION v{version} -->"
HEADER_COMMENTS = (
    "<!-- Do not edit this section. Run `cub update` to refresh. -->",
    "<!-- To customize cub behavior, add your overrides OUTSIDE this section. -->",
)
DIGEST_COMMENT = "<!-- cub:digest {digest} -->"
END_MARKER = "<!-- END CUB MANAGED SECTION -->"

_BEGIN = re.compile(
    rb" {0,3}<!--[ \t]+BEGIN[ \t]+CUB[ \t]+MANAGED[ \t]+SECTION[ \t]+v([0-9]{1,9})[ \t]+-->[ \t]*"
)
_END = re.compile(rb" {0,3}<!--[ \t]+END[ \t]+CUB[ \t]+MANAGED[ \t]+SECTION[ \t]+-->[ \t]*")
_SHOWN = 20


class Marker(NamedTuple):
    """A marker line: `version` is None for END."""

    line: int
    version: int | None


def find_markers(document: Document) -> list[Marker]:
    """The markers of `document`, in order.

    A line is a marker if it reads as one and CommonMark makes it a free line of HTML. A document
    without such lines is never parsed.
    """
    found = _candidates(document)
    free = filter_html_lines(document, [marker.line for marker in found])
    return [marker for marker in found if marker.line in free]


def filter_html_lines(document: Document, lines: Iterable[int]) -> set[int]:
    """Those of `lines` that CommonMark makes, whole, part of a top-level HTML block (spec 4.6),
    outside longer comments and raw elements.
    """
    wanted = sorted(set(lines))
    free: set[int] = set()
    seen = range(0)
    for line in wanted:
        if line not in seen:
            seen, blocks = document.boundaries.find_html_blocks(line)
            here = set(wanted[bisect_left(wanted, seen.start) : bisect_left(wanted, seen.stop)])
            for block in blocks:
                free |= _free_in(document, range(block.start, block.end), here)
    return free


def _free_in(document: Document, block: range, wanted: set[int]) -> set[int]:
    """Those of `wanted` that are free in one HTML block."""
    free, html = set[int](), HtmlBlockState()
    for number in block:
        if number in wanted and not html.is_open:
            free.add(number)
        html.feed_line(document.get_line(number))
    return free


def find_marker_pair(document: Document) -> tuple[Marker, Marker] | None:
    """The one BEGIN and END of `document`; None where it has no marker at all.

    Anything else is an error that names every marker's line: what is broken is never guessed at.
    """
    markers = find_markers(document)
    if not markers:
        return None
    _refuse_conflict(markers, document)
    if [marker.version is None for marker in markers] == [False, True]:
        return markers[0], markers[1]
    raise CubError(
        _fault(markers),
        where=document.format_location(_culprit(markers).line),
        hint=_mend(markers),
        details=describe_markers(markers, document),
    )


def _candidates(document: Document) -> list[Marker]:
    found = []
    for number in document.find_lines_with(b"CUB"):
        bare = document.get_line(number).rstrip(b"\r\n")
        if begin := _BEGIN.fullmatch(bare):
            found.append(Marker(number, int(begin[1])))
        elif _END.fullmatch(bare):
            found.append(Marker(number, None))
    return found


def _refuse_conflict(markers: list[Marker], document: Document) -> None:
    if found := find_overlapping_conflicts(document, markers[0].line, markers[-1].line):
        raise CubError(
            "git conflict markers overlap the managed section",
            where=document.format_location(found[0].start),
            hint="run `cub repair`, or resolve the conflict: keep either side of the section whole",
            details=describe_markers(markers, document),
        )


def describe_markers(markers: list[Marker], document: Document) -> list[str]:
    """The first markers with their `file:line`."""
    shown = [
        f"{document.format_location(line)}: {'END' if version is None else f'BEGIN v{version}'}"
        for line, version in markers[:_SHOWN]
    ]
    more = len(markers) - len(shown)
    return [*shown, f"and {more} more"] if more else shown


def _culprit(markers: list[Marker]) -> Marker:
    """The first marker that breaks the order BEGIN, END."""
    if markers[0].version is None or len(markers) == 1:
        return markers[0]
    return markers[1] if markers[1].version is not None else markers[2]


def _fault(markers: list[Marker]) -> str:
    kinds = "".join("E" if m.version is None else "B" for m in markers)
    if kinds == "B":
        return "BEGIN marker without an END marker"
    if kinds.startswith("BB"):
        return "BEGIN marker inside a managed section that has no END yet"
    if kinds.startswith("BEB"):
        return "second managed section"
    if kinds.startswith("E") and "B" in kinds:
        return "END marker before the BEGIN marker"
    return "END marker without a BEGIN marker"


def _mend(markers: list[Marker]) -> str:
    if len(markers) == 1:
        return f"run `cub repair`, or delete line {markers[0].line + 1}"
    return "run `cub repair`, or leave exactly one BEGIN and one END line, in this order"


_TOKEN = re.compile(rb"<!--|-->|<(/?)(?:pre|script|style|textarea)\b", re.IGNORECASE)


class HtmlBlockState:
    """The state behind the lines that were fed so far, of one CommonMark HTML block (spec 4.6)."""

    def __init__(self) -> None:
        self._first = True
        self._instruction = False
        self._comment = False
        self._raw = 0

    @property
    def is_open(self) -> bool:
        """Whether what follows is text of something that began earlier in the block."""
        return self._instruction or self._comment or self._raw > 0

    def feed_line(self, line: bytes) -> None:
        """Go on by one line."""
        if self._first:
            start = line.lstrip(b" ")
            self._instruction = start.startswith((b"<?", b"<!")) and not start.startswith(b"<!--")
            self._first = False
        for token in _TOKEN.finditer(line):
            if self._comment:
                self._comment = token[0] != b"-->"
            elif token[0] == b"<!--":
                self._comment = True
            elif token[0] != b"-->":
                self._raw += -1 if token[1] else 1
