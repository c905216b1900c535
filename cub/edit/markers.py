"""Find the markers of a managed section, git's merge conflicts, and lines of HTML that are free."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from cub.edit.document import Document
from cub.errors import CubError

_EDGE = re.compile(rb"(?:<{7}|>{7})(?: .*)?")
_BASE = re.compile(rb"\|{7}(?: .*)?")
_MIDDLE = re.compile(rb"={7}")


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """Describe the lines `start` (`<<<<<<<`) to `end` (after `>>>>>>>`), half-open.

    `base` (`|||||||`) is None if there is none, `middle` (`=======`) if the sides can't be told
    apart.
    """

    start: int
    end: int
    base: int | None = None
    middle: int | None = None

    @property
    def ours(self) -> range:
        """Return the lines of the upper side."""
        last = self.middle if self.base is None else self.base
        return range(self.start + 1, last or self.start + 1)

    @property
    def theirs(self) -> range:
        """Return the lines of the lower side."""
        return range(self.end if self.middle is None else self.middle + 1, self.end - 1)

    @property
    def ancestor(self) -> range:
        """Return the lines that both sides come from, if git shows them (diff3, zdiff3)."""
        first = self.start if self.base is None else self.base + 1
        return range(first, first if self.base is None else self.middle or first)


def find_conflicts(document: Document) -> list[MergeConflict]:
    """Return every conflict, from a line `<<<<<<<` to the next line `>>>>>>>`."""
    conflicts: list[MergeConflict] = []
    start: int | None = None
    if b"<<<<<<<" not in document.data:
        return conflicts
    for number, line in enumerate(document.lines):
        if line[:1] in b"<>" and _EDGE.fullmatch(line.rstrip(b"\r\n")):
            if line.startswith(b"<"):
                start = number if start is None else start
            elif start is not None:
                conflicts.append(_parse_conflict(document, start, number + 1))
                start = None
    return conflicts


def find_overlapping_conflicts(document: Document, first: int, last: int) -> list[MergeConflict]:
    """Return the conflicts that share a line with, or are between, the lines `first` to `last`."""
    return [c for c in find_conflicts(document) if c.start <= last and first < c.end]


def _parse_conflict(document: Document, start: int, end: int) -> MergeConflict:
    bare = [line.rstrip(b"\r\n") for line in document.lines[start + 1 : end - 1]]
    edges, bases, middles = (
        [number for number, line in enumerate(bare, start + 1) if pattern.fullmatch(line)]
        for pattern in (_EDGE, _BASE, _MIDDLE)
    )
    inner = [*bases, *middles]
    if edges or len(bases) > 1 or len(middles) != 1 or inner != sorted(inner):
        return MergeConflict(start, end)
    return MergeConflict(start, end, bases[0] if bases else None, middles[0])


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
# What a line of an HTML block (CommonMark 4.6) opens or ends.
_TOKEN = re.compile(rb"<!--|-->|<(/?)(?:pre|script|style|textarea)\b", re.IGNORECASE)
_MAX_DESCRIBED_MARKERS = 20


class Marker(NamedTuple):
    """Describe a marker line: `version` is None for END."""

    line: int
    version: int | None


def find_markers(document: Document) -> list[Marker]:
    """Return the markers of `document`, in order.

    A line is a marker if it reads as one and CommonMark makes it a free line of HTML. A document
    without such lines is never parsed.
    """
    candidates = _find_candidates(document)
    free = filter_html_lines(document, [marker.line for marker in candidates])
    return [marker for marker in candidates if marker.line in free]


def filter_html_lines(document: Document, lines: Iterable[int]) -> set[int]:
    """Return those of `lines` that are in a top-level HTML block (CommonMark 4.6), not in a
    comment.
    """
    numbers = sorted(set(lines))
    free: set[int] = set()
    piece = range(0)
    for line in numbers:
        if line not in piece:
            piece, blocks = document.boundaries.find_html_blocks(line)
            in_piece = set(
                numbers[bisect_left(numbers, piece.start) : bisect_left(numbers, piece.stop)]
            )
            for block in blocks:
                free |= _filter_free_lines(document, range(block.start, block.end), in_piece)
    return free


def _filter_free_lines(document: Document, block: range, numbers: set[int]) -> set[int]:
    """Return those of `numbers` that are in nothing that began in an earlier line of the block."""
    start = document.get_line(block.start).lstrip(b" ")
    if start.startswith((b"<?", b"<!")) and not start.startswith(b"<!--"):
        return numbers & {block.start}
    free, in_comment, raw_elements = set[int](), False, 0
    for number in block:
        if number in numbers and not in_comment and raw_elements <= 0:
            free.add(number)
        for token in _TOKEN.finditer(document.get_line(number)):
            if in_comment:
                in_comment = token[0] != b"-->"
            elif token[0] == b"<!--":
                in_comment = True
            elif token[0] != b"-->":
                raw_elements += -1 if token[1] else 1
    return free


def find_marker_pair(document: Document) -> tuple[Marker, Marker] | None:
    """Return the one BEGIN and END of `document`; None if it has no marker at all.

    Anything else is an error that names every marker's line: what is broken is never guessed at.
    """
    markers = find_markers(document)
    if not markers:
        return None
    _refuse_conflict(markers, document)
    if [marker.version is None for marker in markers] == [False, True]:
        return markers[0], markers[1]
    culprit, hint = markers[0], f"run `cub repair`, or delete line {markers[0].line + 1}"
    if len(markers) > 1:
        hint = "run `cub repair`, or leave exactly one BEGIN and one END line, in this order"
        if culprit.version is not None:
            culprit = markers[1] if markers[1].version is not None else markers[2]
    raise CubError(
        _describe_fault(markers),
        where=document.format_location(culprit.line),
        hint=hint,
        details=describe_markers(markers, document),
    )


def _find_candidates(document: Document) -> list[Marker]:
    candidates = []
    for number in document.find_lines_with(b"CUB"):
        bare = document.get_line(number).rstrip(b"\r\n")
        if begin := _BEGIN.fullmatch(bare):
            candidates.append(Marker(number, int(begin[1])))
        elif _END.fullmatch(bare):
            candidates.append(Marker(number, None))
    return candidates


def _refuse_conflict(markers: list[Marker], document: Document) -> None:
    if conflicts := find_overlapping_conflicts(document, markers[0].line, markers[-1].line):
        raise CubError(
            "git conflict markers overlap the managed section",
            where=document.format_location(conflicts[0].start),
            hint="run `cub repair`, or resolve the conflict: keep either side of the section whole",
            details=describe_markers(markers, document),
        )


def describe_markers(markers: list[Marker], document: Document) -> list[str]:
    """Describe the first markers, each with its `file:line`."""
    lines = [
        f"{document.format_location(line)}: {'END' if version is None else f'BEGIN v{version}'}"
        for line, version in markers[:_MAX_DESCRIBED_MARKERS]
    ]
    more = len(markers) - len(lines)
    return [*lines, f"and {more} more"] if more else lines


def _describe_fault(markers: list[Marker]) -> str:
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
