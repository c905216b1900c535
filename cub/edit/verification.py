"""The proof before a write: the section reads as one, and the user's blocks are as they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cub.edit.blocks import Block
from cub.edit.document import Document
from cub.edit.sections import Section, find_section

_MANY = 1000  # lines of one block that are better not parsed again
_PROBE = b"\n\n<!-- end -->\n"


def find_fault(
    before: Document, old: Section | None, after: Document, new_span: tuple[int, int]
) -> str:
    """What is wrong with `after`, whose lines `new_span` are new (the section, what goes with it).

    An empty string if the section is found there, its heading renders as a heading, and every
    block of the user's part outside it parses to the same tokens as in `before`.
    """
    new = find_section(after)
    if new is None or not (new_span[0] <= new.start and new.end <= new_span[1]):
        return "the managed section would not be found where it was put"
    if new.author != "cub":
        return "the managed section would not carry its own digest"
    hole = (old.start, old.end) if old else (new_span[0], new_span[0])
    around = _common_boundaries(before, hole, after, new_span)
    found = after.boundaries.parse_blocks_between(around.above[1], around.below[1])
    inside = [b for b in found if new.start <= b.start < new.end]
    if not any(block.kind == "heading_open" for block in inside):
        return "the managed section's heading would not render"
    known = before.boundaries.parse_blocks_between(around.above[0], around.below[0])
    if not _same_outside(known, hole, found, new_span):
        return "the text outside the managed section would render differently"
    if not _same_lines(before, after, around):
        return "the text outside the managed section would not stay as it is"
    return ""


def describe_open_block(document: Document) -> str:
    """Why text appended to `document` would be swallowed ("" if it would not be).

    Says which block is still open at its end, and in which line that block begins.
    """
    lines = len(document.lines)
    start = document.boundaries.find_at_or_above(lines - 1) if lines else 0
    probed = document.replace_data(document.data + _PROBE, start)
    last = probed.boundaries.parse_blocks_between(start, len(probed.lines))[-1]
    if last.start == len(probed.lines) - 1:
        return ""
    kind = "code fence" if last.kind == "fence" else "comment or raw HTML block"
    return f"the {kind} that begins in line {last.start + 1} is never closed"


class _Around(NamedTuple):
    """Boundaries above and below a change, each by its line in the old and in the new text."""

    above: tuple[int, int]
    below: tuple[int, int]


def _common_boundaries(
    before: Document, old_span: tuple[int, int], after: Document, span: tuple[int, int]
) -> _Around:
    """The nearest ones. What is above the first and below the second is the same text, in which
    blocks begin anew: it needs no parsing to be the same blocks.
    """
    above = _above(before, old_span[0], after, span[0])
    shift = span[1] - old_span[1]
    old = before.boundaries.find_at_or_below(old_span[1])
    while (new := after.boundaries.find_at_or_below(old + shift)) != old + shift:
        if old == len(before.boundaries):
            return _Around(above, (old, len(after.boundaries)))
        old = before.boundaries.find_at_or_below(new - shift)
    return _Around(above, (old, new))


def _above(before: Document, hole: int, after: Document, span: int) -> tuple[int, int]:
    """A boundary above lines that are the same in both texts up to there; behind a block of very
    many lines, those lines themselves as far as that block ends there.
    """
    start = before.boundaries.find_at_or_above(max(0, hole - 1))
    if hole - start > _MANY and before.boundaries.find_at_or_above(hole) == hole:
        below = after.boundaries.find_at_or_below(span)
        if not b"".join(after.lines[span:below]).strip():
            return hole, below
    return start, start


def _same_lines(before: Document, after: Document, around: _Around) -> bool:
    above = _same_above(before, after, around.above[0])
    return above and _rest(before, around.below[0]) == _rest(after, around.below[1])


def _same_above(before: Document, after: Document, lines: int) -> bool:
    """Whether so many lines are the same; the last one of a file may have got a line end."""
    if not lines:
        return True
    one, other = (text.get_line(lines - 1).rstrip(b"\r\n") for text in (before, after))
    return one == other and before.lines[: lines - 1] == after.lines[: lines - 1]


def _rest(document: Document, line: int) -> tuple[bytes, ...]:
    """The lines from `line` on, without a byte order mark."""
    rest = document.lines[line:]
    return tuple(filter(None, (document.get_line(0), *rest[1:]))) if rest and not line else rest


def _same_outside(
    before: Sequence[Block], hole: tuple[int, int], after: Sequence[Block], span: tuple[int, int]
) -> bool:
    """Compare the blocks around `hole` and `span`, by content and by line.

    A block that reaches across an edge of the old section (an HTML block without a blank line
    beside the marker) is left out: its user lines are the same bytes, its extent is not.
    """
    first = min((b.start for b in before if b.start < hole[0] < b.end), default=hole[0])
    shift = span[1] - hole[1]
    last = max((b.end for b in before if b.start < hole[1] < b.end), default=hole[1])
    return [_key(b, 0) for b in before if b.start < first] == [
        _key(b, 0) for b in after if b.start < first
    ] and [_key(b, shift) for b in before if b.start >= last] == [
        _key(b, 0) for b in after if b.start >= last + shift
    ]


def _key(block: Block, shift: int) -> tuple[object, ...]:
    return block.start + shift, block.token_key
