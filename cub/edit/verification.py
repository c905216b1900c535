"""Prove before a write that the section reads as one, and that the user's blocks are unchanged."""

from __future__ import annotations

from collections.abc import Sequence

from cub.edit.blocks import Block
from cub.edit.document import Document
from cub.edit.sections import Section, find_section

_MAX_BLOCK_LINES = 1000  # a block with more lines is not parsed again if possible
_PROBE = b"\n\n<!-- end -->\n"


def find_fault(
    before: Document, old: Section | None, after: Document, new_span: tuple[int, int]
) -> str:
    """Describe what is wrong with `after`, whose lines `new_span` are new (the section and what
    goes with it).

    Returns "" if the section is found there, its heading renders as a heading, and every block of
    the user's part outside it parses to the same tokens as in `before`.
    """
    new = find_section(after)
    if new is None or not (new_span[0] <= new.start and new.end <= new_span[1]):
        return "the managed section would not be found where it was put"
    if new.author != "cub":
        return "the managed section would not carry its own digest"
    old_span = (old.start, old.end) if old else (new_span[0], new_span[0])
    above, below = _find_common_boundaries(before, old_span, after, new_span)
    new_blocks = after.boundaries.parse_blocks_between(above[1], below[1])
    inside = [b for b in new_blocks if new.start <= b.start < new.end]
    if not any(block.kind == "heading_open" for block in inside):
        return "the managed section's heading would not render"
    old_blocks = before.boundaries.parse_blocks_between(above[0], below[0])
    if not _are_blocks_equal(old_blocks, old_span, new_blocks, new_span):
        return "the text outside the managed section would render differently"
    is_rest_equal = _get_rest(before, below[0]) == _get_rest(after, below[1])
    if not is_rest_equal or not _is_top_equal(before, after, above[0]):
        return "the text outside the managed section would not stay as it is"
    return ""


def describe_open_block(document: Document) -> str:
    """Describe the block that is open at the end and would swallow more text; "" if none."""
    lines = len(document.lines)
    start = document.boundaries.find_at_or_above(lines - 1) if lines else 0
    probed = document.replace_data(document.data + _PROBE)
    last = probed.boundaries.parse_blocks_between(start, len(probed.lines))[-1]
    if last.start == len(probed.lines) - 1:
        return ""
    kind = "code fence" if last.kind == "fence" else "comment or raw HTML block"
    return f"the {kind} that starts in line {last.start + 1} is never closed"


def _find_common_boundaries(
    before: Document, old_span: tuple[int, int], after: Document, new_span: tuple[int, int]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the boundary above the section and that below it, each in both documents."""
    above = _find_above(before, old_span[0], after, new_span[0])
    shift = new_span[1] - old_span[1]
    old = before.boundaries.find_at_or_below(old_span[1])
    while (new := after.boundaries.find_at_or_below(old + shift)) != old + shift:
        if old == len(before.boundaries):
            return above, (old, len(after.boundaries))
        old = before.boundaries.find_at_or_below(new - shift)
    return above, (old, new)


def _find_above(before: Document, old_line: int, after: Document, new_line: int) -> tuple[int, int]:
    """Return a boundary with the same lines above it; after a very long block, the edge itself."""
    start = before.boundaries.find_at_or_above(max(0, old_line - 1))
    if (
        old_line - start > _MAX_BLOCK_LINES
        and before.boundaries.find_at_or_above(old_line) == old_line
    ):
        below = after.boundaries.find_at_or_below(new_line)
        if not b"".join(after.lines[new_line:below]).strip():
            return old_line, below
    return start, start


def _is_top_equal(before: Document, after: Document, lines: int) -> bool:
    """Tell whether so many lines are equal; the last one of a file may have got a line ending."""
    if not lines:
        return True
    one, other = (text.get_line(lines - 1).rstrip(b"\r\n") for text in (before, after))
    return one == other and before.lines[: lines - 1] == after.lines[: lines - 1]


def _get_rest(document: Document, line: int) -> tuple[bytes, ...]:
    rest = document.lines[line:]
    return tuple(filter(None, (document.get_line(0), *rest[1:]))) if rest and not line else rest


def _are_blocks_equal(
    before: Sequence[Block],
    old_span: tuple[int, int],
    after: Sequence[Block],
    new_span: tuple[int, int],
) -> bool:
    """Compare the blocks around `old_span` and `new_span`, by content and by line.

    A block that reaches across an edge of the old section (an HTML block without a blank line
    beside the marker) is left out: its user lines are the same bytes, its extent is not.
    """
    first = min((b.start for b in before if b.start < old_span[0] < b.end), default=old_span[0])
    shift = new_span[1] - old_span[1]
    last = max((b.end for b in before if b.start < old_span[1] < b.end), default=old_span[1])
    return [_make_key(b, 0) for b in before if b.start < first] == [
        _make_key(b, 0) for b in after if b.start < first
    ] and [_make_key(b, shift) for b in before if b.start >= last] == [
        _make_key(b, 0) for b in after if b.start >= last + shift
    ]


def _make_key(block: Block, shift: int) -> tuple[object, ...]:
    return block.start + shift, block.token_key
