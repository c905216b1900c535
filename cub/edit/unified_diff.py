"""Unified diffs of exact bytes, as lines of text in which no byte is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cub.edit.line_matching import LineMatch, find_line_matches, measure_common_ends

_CONTEXT = 3  # lines around a change
_QUOTED = re.compile(r'["\\\x00-\x1f\x7f]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def quote_header_name(name: str) -> str:
    """A file's name as git writes it into the header of a diff.

    Quoted where it would end the line or read as another name; behind a blank in it, a tab says
    that no time follows.
    """
    if _QUOTED.search(name):
        return f'"{_QUOTED.sub(_escaped, name)}"'
    return f"{name}\t" if " " in name else name


def _escaped(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[0]) or f"\\{ord(found[0]):03o}"


def diff_texts(before: str, after: str, path: str, before_name: str, after_name: str) -> list[str]:
    """A short unified diff of two texts with names of their own, for messages."""
    lines = format_hunks(*(text.encode("utf-8", "surrogateescape") for text in (before, after)))
    return [f"--- {path} ({before_name})", f"+++ {path} ({after_name})", *lines]


def format_hunks(before: bytes, after: bytes) -> Iterator[str]:
    """Hunks with three lines of context; of a big file only what is near a change is looked at."""
    head, tail = measure_common_ends(before, after)
    for _ in range(_CONTEXT):
        head = before.rfind(b"\n", 0, max(0, head - 1)) + 1
        tail = len(before) - _next_line(before, len(before) - tail)
    old = _display(before[head : len(before) - tail], whole=not tail)
    new = _display(after[head : len(after) - tail], whole=not tail)
    above = before.count(b"\n", 0, head)
    for hunk in _hunks(find_line_matches(old, new), len(old), len(new)):
        spans = (hunk[0].old, hunk[-1].old_end), (hunk[0].new, hunk[-1].new_end)
        one, other = (_span(start + above, end + above) for start, end in spans)
        yield f"@@ -{one} +{other} @@"
        for change, following in zip(hunk, [*hunk[1:], None], strict=True):
            yield from _marked("-", old[change.old : change.old_end])
            yield from _marked("+", new[change.new : change.new_end])
            if following:
                yield from _marked(" ", old[change.old_end : following.old])


def _next_line(data: bytes, offset: int) -> int:
    return data.find(b"\n", offset) + 1 or len(data)


class _Change(NamedTuple):
    """Lines of the old version that lines of the new one replace, half-open; either may be none."""

    old: int
    old_end: int
    new: int
    new_end: int


def _hunks(matches: Sequence[LineMatch], old: int, new: int) -> Iterator[list[_Change]]:
    """The changes that stand so near each other that their context touches.

    The context of a hunk is a change of no lines at either end.
    """
    hunk: list[_Change] = []
    for change in _changes(matches, old, new):
        if hunk and change.old - hunk[-1].old_end > 2 * _CONTEXT:
            yield _with_context(hunk, old, new)
            hunk = []
        hunk.append(change)
    if hunk:
        yield _with_context(hunk, old, new)


def _changes(matches: Sequence[LineMatch], old: int, new: int) -> Iterator[_Change]:
    """What is between the matches of versions with so many lines."""
    a = b = 0
    for match in (*matches, LineMatch(old, new, 0)):
        if (a, b) != (match.old, match.new):
            yield _Change(a, match.old, b, match.new)
        a, b = match.old + match.size, match.new + match.size


def _with_context(hunk: Sequence[_Change], old: int, new: int) -> list[_Change]:
    first, last = hunk[0], hunk[-1]
    above = min(_CONTEXT, first.old, first.new)
    below = min(_CONTEXT, old - last.old_end, new - last.new_end)
    start, other = first.old - above, first.new - above
    end, other_end = last.old_end + below, last.new_end + below
    return [_Change(start, start, other, other), *hunk, _Change(end, end, other_end, other_end)]


def _span(start: int, end: int) -> str:
    """Where lines stand, as a header tells it: of none, the line above them."""
    count = end - start
    if count == 1:
        return f"{start + 1}"
    return f"{start + 1 if count else start},{count}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        if "\n" in line:  # behind a last line stands that it has no end
            yield from f"{mark}{line}".split("\n")
        else:
            yield mark + line


def _display(data: bytes, *, whole: bool) -> list[str]:
    """Lines as git cuts them: at LF only; of a `whole` file, or the end of one."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    if lines[-1] and whole:
        lines[-1] += "\n\\ No newline at end of file"
    return lines if lines[-1] else lines[:-1]
