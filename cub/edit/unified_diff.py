"""Format unified diffs of exact bytes, as lines of text in which no byte is lost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from cub.edit.line_matching import LineGap, iter_changes

_CONTEXT = 3  # lines around a change
_QUOTED = re.compile(r'["\\\x00-\x1f\x7f]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def quote_header_name(name: str) -> str:
    """Return a file's name as git writes it in a diff: quoted if it would end the line.

    After a name with a space, a tab says that no time follows.
    """
    if _QUOTED.search(name):
        quoted = _QUOTED.sub(lambda m: _ESCAPES.get(m[0]) or f"\\{ord(m[0]):03o}", name)
        return f'"{quoted}"'
    return f"{name}\t" if " " in name else name


def diff_texts(before: str, after: str, path: str, before_name: str, after_name: str) -> list[str]:
    """Return a short unified diff of two texts with names of their own, for messages."""
    lines = format_hunks(*(text.encode("utf-8", "surrogateescape") for text in (before, after)))
    return [f"--- {path} ({before_name})", f"+++ {path} ({after_name})", *lines]


def format_hunks(before: bytes, after: bytes) -> Iterator[str]:
    """Yield hunks with three lines of context."""
    old, new = _split_display_lines(before), _split_display_lines(after)
    for hunk in _group_changes(iter_changes(old, new), len(old), len(new)):
        spans = (hunk[0].old, hunk[-1].old_end), (hunk[0].new, hunk[-1].new_end)
        old_range, new_range = (_format_range(*span) for span in spans)
        yield f"@@ -{old_range} +{new_range} @@"
        for change, following in zip(hunk, [*hunk[1:], None], strict=True):
            yield from _mark_lines("-", old[change.old : change.old_end])
            yield from _mark_lines("+", new[change.new : change.new_end])
            if following:
                yield from _mark_lines(" ", old[change.old_end : following.old])


def _group_changes(changes: Iterable[LineGap], old: int, new: int) -> Iterator[list[LineGap]]:
    """Group changes whose context touches; the context is a change of no lines at either end."""
    hunk: list[LineGap] = []
    for change in changes:
        if hunk and change.old - hunk[-1].old_end > 2 * _CONTEXT:
            yield _add_context(hunk, old, new)
            hunk = []
        hunk.append(change)
    if hunk:
        yield _add_context(hunk, old, new)


def _add_context(hunk: Sequence[LineGap], old: int, new: int) -> list[LineGap]:
    first, last = hunk[0], hunk[-1]
    above = min(_CONTEXT, first.old, first.new)
    below = min(_CONTEXT, old - last.old_end, new - last.new_end)
    start, other = first.old - above, first.new - above
    end, other_end = last.old_end + below, last.new_end + below
    return [LineGap(start, start, other, other), *hunk, LineGap(end, end, other_end, other_end)]


def _format_range(start: int, end: int) -> str:
    count = end - start
    if count == 1:
        return f"{start + 1}"
    return f"{start + 1 if count else start},{count}"


def _mark_lines(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        # A last line without an ending has a note about that on a line of its own.
        yield from f"{mark}{line}".split("\n")


def _split_display_lines(data: bytes) -> list[str]:
    """Cut lines at LF only, as git does."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    return lines if lines[-1] else lines[:-1]
