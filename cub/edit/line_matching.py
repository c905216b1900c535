"""Find the lines that two versions of a text share, in time that grows with their length."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple, TypeVar

Line = TypeVar("Line", bytes, str)

_PIECE_SIZE = 1 << 16
_MAX_COMPARED_PAIRS = 20_000  # of lines: comparing more of them takes too long


class LineMatch(NamedTuple):
    """Describe `size` equal lines, from the lines `old` and `new` on."""

    old: int
    new: int
    size: int


class LineGap(NamedTuple):
    """Describe half-open lines of the old version and those that replace them; both may be none."""

    old: int
    old_end: int
    new: int
    new_end: int


def find_line_matches(old: Sequence[Line], new: Sequence[Line]) -> list[LineMatch]:
    """Return the runs of equal lines in order, each as long as possible.

    Large rests are cut at lines that both versions have once (patience diff); without any, they
    count as changed unless they have only lost lines.
    """
    matches: list[LineMatch] = []
    todo = [LineGap(0, len(old), 0, len(new))]
    while todo:
        gap = todo.pop()
        head, gap, tail = _trim_gap(old, new, gap)
        matches += [match for match in (head, tail) if match.size]
        if gap.old == gap.old_end or gap.new == gap.new_end:
            continue
        if (gap.old_end - gap.old) * (gap.new_end - gap.new) <= _MAX_COMPARED_PAIRS:
            lines = old[gap.old : gap.old_end], new[gap.new : gap.new_end]
            equal = SequenceMatcher(None, *lines, autojunk=False).get_matching_blocks()
            matches += [LineMatch(gap.old + a, gap.new + b, size) for a, b, size in equal if size]
        elif contained := _match_contained_lines(old, new, gap):
            matches += contained
        else:
            todo += _iter_gaps(gap, _match_unique_lines(old, new, gap))
    return _join_matches(sorted(matches))


def iter_changes(old: Sequence[Line], new: Sequence[Line]) -> Iterator[LineGap]:
    """Yield what is between the runs of equal lines."""
    a = b = 0
    for match in (*find_line_matches(old, new), LineMatch(len(old), len(new), 0)):
        if (a, b) != (match.old, match.new):
            yield LineGap(a, match.old, b, match.new)
        a, b = match.old + match.size, match.new + match.size


def measure_common_ends(old: bytes, new: bytes) -> tuple[int, int]:
    """Return how many bytes of whole lines (ended by LF) two versions share at either end."""
    limit = min(len(old), len(new))
    head = _measure_common_length(old, new, limit, lambda data, a, b: data[a:b])
    head = old.rfind(b"\n", 0, head) + 1
    tail = _measure_common_length(
        old, new, limit - head, lambda data, a, b: data[len(data) - b : len(data) - a][::-1]
    )
    end = old.find(b"\n", len(old) - tail) + 1 if tail else 0
    return head, len(old) - end if end else 0


def _measure_common_length(
    old: bytes, new: bytes, limit: int, part: Callable[[bytes, int, int], bytes]
) -> int:
    offset = 0
    while offset < limit:
        end = min(offset + _PIECE_SIZE, limit)
        one, other = part(old, offset, end), part(new, offset, end)
        if one != other:
            pairs = enumerate(zip(one, other, strict=True))
            return offset + next(number for number, (a, b) in pairs if a != b)
        offset = end
    return offset


def _trim_gap(
    old: Sequence[Line], new: Sequence[Line], gap: LineGap
) -> tuple[LineMatch, LineGap, LineMatch]:
    limit = min(gap.old_end - gap.old, gap.new_end - gap.new)
    head = 0
    while head < limit and old[gap.old + head] == new[gap.new + head]:
        head += 1
    tail = 0
    while tail < limit - head and old[gap.old_end - tail - 1] == new[gap.new_end - tail - 1]:
        tail += 1
    rest = LineGap(gap.old + head, gap.old_end - tail, gap.new + head, gap.new_end - tail)
    return LineMatch(gap.old, gap.new, head), rest, LineMatch(rest.old_end, rest.new_end, tail)


def _match_unique_lines(old: Sequence[Line], new: Sequence[Line], gap: LineGap) -> list[LineMatch]:
    ours = Counter(old[gap.old : gap.old_end])
    theirs = Counter(new[gap.new : gap.new_end])
    places = {new[n]: n for n in range(gap.new, gap.new_end) if ours[new[n]] == theirs[new[n]] == 1}
    pairs = [(n, places[old[n]]) for n in range(gap.old, gap.old_end) if old[n] in places]
    return [LineMatch(a, b, 1) for a, b in _find_rising_part(pairs)]


def _find_rising_part(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of `pairs` in which the second numbers rise too."""
    ends: list[int] = []  # the least number that ends a part of each length
    last: list[int] = []  # and which pair has it
    before: list[int | None] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else None)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
    part: list[tuple[int, int]] = []
    index = last[-1] if last else None
    while index is not None:
        part.append(pairs[index])
        index = before[index]
    return part[::-1]


def _iter_gaps(gap: LineGap, cuts: Sequence[LineMatch]) -> Iterator[LineGap]:
    if not cuts:
        return
    starts = [(gap.old, gap.new), *((cut.old, cut.new) for cut in cuts)]
    ends = [*starts[1:], (gap.old_end, gap.new_end)]
    for (a, b), (c, d) in zip(starts, ends, strict=True):
        yield LineGap(a, c, b, d)


def _match_contained_lines(
    old: Sequence[Line], new: Sequence[Line], gap: LineGap
) -> list[LineMatch]:
    """Match all lines of the shorter side in the longer one; nothing if one is not there."""
    if gap.old_end - gap.old < gap.new_end - gap.new:
        swapped = LineGap(gap.new, gap.new_end, gap.old, gap.old_end)
        matches = _match_contained_lines(new, old, swapped)
        return [LineMatch(match.new, match.old, match.size) for match in matches]
    matches, position = [], gap.new
    for number in range(gap.old, gap.old_end):
        if position < gap.new_end and old[number] == new[position]:
            matches.append(LineMatch(number, position, 1))
            position += 1
    return matches if position == gap.new_end else []


def _join_matches(matches: Sequence[LineMatch]) -> list[LineMatch]:
    joined: list[LineMatch] = []
    for match in matches:
        if joined:
            last = joined[-1]
            if (last.old + last.size, last.new + last.size) == (match.old, match.new):
                joined[-1] = last._replace(size=last.size + match.size)
                continue
        joined.append(match)
    return joined
