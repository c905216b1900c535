"""The proof before a write: the section reads as one, and the user's blocks are as they were."""

from __future__ import annotations

from collections.abc import Sequence

from cub.edit.blocks import Block
from cub.edit.document import Document
from cub.edit.sections import Section, find

_PROBE = b"\n\n<!-- end -->\n"


def fault(before: Document, old: Section | None, after: Document, span: tuple[int, int]) -> str:
    """What is wrong with `after`, whose lines `span` are new (the section, what goes with it).

    An empty string if the section is found there, its heading renders as a heading, and every
    block of the user's part outside it parses to the same tokens as in `before`.
    """
    new = find(after)
    if new is None or not (span[0] <= new.start and new.end <= span[1]):
        return "the managed section would not be found where it was put"
    if new.author != "cub":
        return "the managed section would not carry its own digest"
    inside = [b for b in after.blocks if new.start <= b.start < new.end]
    if not any(block.kind == "heading_open" for block in inside):
        return "the managed section's heading would not render"
    hole = (old.start, old.end) if old else (span[0], span[0])
    if not _same_outside(before.blocks, hole, after.blocks, span):
        return "the text outside the managed section would render differently"
    return ""


def open_tail(document: Document) -> str:
    """Why text appended to `document` would be swallowed ("" if it would not be).

    Says which block is still open at its end, and in which line that block begins.
    """
    probed = document.with_data(document.data + _PROBE)
    last = probed.blocks[-1]
    if last.start == len(probed.lines) - 1:
        return ""
    kind = "code fence" if last.kind == "fence" else "comment or raw HTML block"
    return f"the {kind} that begins in line {last.start + 1} is never closed"


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
    return block.start + shift, block.shape
