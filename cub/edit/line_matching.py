"""Find what differs between two versions of a text, line by line or word by word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple, TypeVar

Line = TypeVar("Line", bytes, str)

_MAX_COMPARED_PAIRS = 25_000_000  # of lines: with more of them, all in between counts as changed


class LineGap(NamedTuple):
    """Describe half-open lines of the old version and those that replace them; both may be none."""

    old: int
    old_end: int
    new: int
    new_end: int


def iter_changes(old: Sequence[Line], new: Sequence[Line]) -> Iterator[LineGap]:
    """Yield what differs, in order; the lines between two changes are equal."""
    head = count_common_lines(old, new)
    tail = count_common_lines(old[head:][::-1], new[head:][::-1])
    ours, theirs = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(ours) * len(theirs) > _MAX_COMPARED_PAIRS:
        yield LineGap(head, head + len(ours), head, head + len(theirs))
        return
    for kind, a, b, c, d in SequenceMatcher(None, ours, theirs).get_opcodes():
        if kind != "equal":
            yield LineGap(head + a, head + b, head + c, head + d)


def count_common_lines(old: Sequence[Line], new: Sequence[Line]) -> int:
    """Return how many lines two versions share at their start."""
    pairs = zip(old, new, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))
