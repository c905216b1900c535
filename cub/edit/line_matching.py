"""What a person changed inside a managed section: their lines, and the change as a diff.

Which lines two versions of a text have in common, in time that grows with their length.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple, TypeVar

from cub.edit.document import normalize_line, split_lines


def extract_user_lines(original: str, body: Sequence[bytes]) -> bytes:
    """The lines of `body` that are not in `original`: added and changed ones, as they stand.

    Blank lines between two of them are theirs too; blank lines around them are not.
    """
    ours = [normalize_line(line) for line in split_lines(original.strip("\n").encode())]
    theirs = [normalize_line(line) for line in body]
    mine = [True] * len(body)
    for match in find_line_matches(ours, theirs):
        mine[match.new : match.new + match.size] = [False] * match.size
    _claim_gaps(mine, theirs)
    kept = [(number, line) for number, line in enumerate(body) if mine[number] and theirs[number]]
    if not kept:
        return b""
    first, last = kept[0][0], kept[-1][0]
    return b"".join(body[n] for n in range(first, last + 1) if mine[n])


def _claim_gaps(mine: list[bool], lines: Sequence[bytes]) -> None:
    """Count blank lines whose neighbours on both sides are the user's as the user's."""
    start: int | None = None
    for number, line in enumerate(lines):
        if line:
            if start is not None and mine[number] and number - start > 1:
                mine[start + 1 : number] = [True] * (number - start - 1)
            start = number if mine[number] else None


Line = TypeVar("Line", bytes, str)

_PIECE = 1 << 16
_SMALL = 20_000  # pairs of lines; to compare more of them one with each other takes too long


class LineMatch(NamedTuple):
    """`size` equal lines, from `old` and `new` on."""

    old: int
    new: int
    size: int


class _Gap(NamedTuple):
    """Lines of both versions that are still to be compared, half-open."""

    old: int
    old_end: int
    new: int
    new_end: int


def find_line_matches(old: Sequence[Line], new: Sequence[Line]) -> list[LineMatch]:
    """The runs of equal lines, in order, each as long as it can be.

    Common ends are cut off. Of large rests, one that has only lost lines is recognized; others are
    cut at lines that both have once (patience diff), and without such lines count as changed.
    """
    found: list[LineMatch] = []
    todo = [_Gap(0, len(old), 0, len(new))]
    while todo:
        gap = todo.pop()
        head, gap, tail = _trimmed(old, new, gap)
        found += [match for match in (head, tail) if match.size]
        if gap.old == gap.old_end or gap.new == gap.new_end:
            continue
        if (gap.old_end - gap.old) * (gap.new_end - gap.new) <= _SMALL:
            found += _compared(old, new, gap)
        elif contained := _contained(old, new, gap):
            found += contained
        else:
            todo += _gaps(gap, _unique(old, new, gap))
    return _joined(sorted(found))


def measure_common_ends(old: bytes, new: bytes) -> tuple[int, int]:
    """How many bytes of whole lines (ended by LF) two versions have in common at either end."""
    room = min(len(old), len(new))
    head = _common_length(old, new, room, lambda data, a, b: data[a:b])
    head = old.rfind(b"\n", 0, head) + 1
    tail = _common_length(
        old, new, room - head, lambda data, a, b: data[len(data) - b : len(data) - a][::-1]
    )
    end = old.find(b"\n", len(old) - tail) + 1 if tail else 0
    return head, len(old) - end if end else 0


def _common_length(
    old: bytes, new: bytes, room: int, part: Callable[[bytes, int, int], bytes]
) -> int:
    """How many of the first `room` bytes are the same, as `part` counts them: piece by piece."""
    at = 0
    while at < room:
        end = min(at + _PIECE, room)
        one, other = part(old, at, end), part(new, at, end)
        if one != other:
            return at + next(n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
        at = end
    return at


def _trimmed(
    old: Sequence[Line], new: Sequence[Line], gap: _Gap
) -> tuple[LineMatch, _Gap, LineMatch]:
    """The common lines at both ends of a gap, and what is between them."""
    room = min(gap.old_end - gap.old, gap.new_end - gap.new)
    head = 0
    while head < room and old[gap.old + head] == new[gap.new + head]:
        head += 1
    tail = 0
    while tail < room - head and old[gap.old_end - tail - 1] == new[gap.new_end - tail - 1]:
        tail += 1
    rest = _Gap(gap.old + head, gap.old_end - tail, gap.new + head, gap.new_end - tail)
    return LineMatch(gap.old, gap.new, head), rest, LineMatch(rest.old_end, rest.new_end, tail)


def _compared(old: Sequence[Line], new: Sequence[Line], gap: _Gap) -> Iterator[LineMatch]:
    lines = old[gap.old : gap.old_end], new[gap.new : gap.new_end]
    for a, b, size in SequenceMatcher(None, *lines, autojunk=False).get_matching_blocks():
        if size:
            yield LineMatch(gap.old + a, gap.new + b, size)


def _unique(old: Sequence[Line], new: Sequence[Line], gap: _Gap) -> list[LineMatch]:
    """The lines that both sides of a gap have exactly once, as many as are in the same order."""
    ours = Counter(old[gap.old : gap.old_end])
    theirs = Counter(new[gap.new : gap.new_end])
    places = {new[n]: n for n in range(gap.new, gap.new_end) if ours[new[n]] == theirs[new[n]] == 1}
    pairs = [(n, places[old[n]]) for n in range(gap.old, gap.old_end) if old[n] in places]
    return [LineMatch(a, b, 1) for a, b in _rising(pairs)]


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of `pairs` in which the second numbers rise, too."""
    ends: list[int] = []  # the least number that ends a part of each length
    last: list[int] = []  # and which pair has it
    before: list[int | None] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else None)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
    part: list[tuple[int, int]] = []
    at = last[-1] if last else None
    while at is not None:
        part.append(pairs[at])
        at = before[at]
    return part[::-1]


def _gaps(gap: _Gap, cuts: Sequence[LineMatch]) -> Iterator[_Gap]:
    """The parts of a gap, each of which begins with a line that is common."""
    if not cuts:
        return
    starts = [(gap.old, gap.new), *((cut.old, cut.new) for cut in cuts)]
    ends = [*starts[1:], (gap.old_end, gap.new_end)]
    for (a, b), (c, d) in zip(starts, ends, strict=True):
        yield _Gap(a, c, b, d)


def _contained(old: Sequence[Line], new: Sequence[Line], gap: _Gap) -> list[LineMatch]:
    """The lines of the shorter side where the longer one has all of them; else nothing."""
    swapped = gap.old_end - gap.old < gap.new_end - gap.new
    if swapped:
        turned = _contained(new, old, _Gap(gap.new, gap.new_end, gap.old, gap.old_end))
        return [LineMatch(b, a, size) for a, b, size in turned]
    matches, at, start = [], gap.new, gap.old  # what is common reaches from `start` to here
    for number in range(gap.old, gap.old_end):
        if at < gap.new_end and old[number] == new[at]:
            at += 1
            continue
        if number > start:
            matches.append(LineMatch(start, at - (number - start), number - start))
        start = number + 1
    if gap.old_end > start:
        matches.append(LineMatch(start, at - (gap.old_end - start), gap.old_end - start))
    return matches if at == gap.new_end else []


def _joined(matches: Sequence[LineMatch]) -> list[LineMatch]:
    """Matches that follow each other without a gap, as one."""
    joined: list[LineMatch] = []
    for match in matches:
        if joined:
            last = joined[-1]
            if (last.old + last.size, last.new + last.size) == (match.old, match.new):
                joined[-1] = last._replace(size=last.size + match.size)
                continue
        joined.append(match)
    return joined
