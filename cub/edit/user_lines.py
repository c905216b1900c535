"""Tell a user's lines in a section from cub's, word by word: a formatter may have wrapped them."""

from __future__ import annotations

from collections.abc import Sequence

from cub.edit.digests import split_words
from cub.edit.document import split_lines
from cub.edit.line_matching import iter_changes

_FENCE = "```"
_Words = list[tuple[int, str]]  # each with its line


def extract_user_lines(original: str, body: Sequence[bytes]) -> bytes:
    """Return the lines of `body` that are not in `original`, added and changed ones, as they are.

    Lines that a formatter has wrapped are not changed. Blank lines between two of the user's are
    the user's too; blank lines around them are not.
    """
    words = [_split_line(line) for line in body]
    ours = [_split_line(line) for line in split_lines(original.encode())]
    changed = _find_changed_lines(_number_words(ours), _number_words(words))
    is_user_line = [number in changed for number in range(len(body))]
    _claim_gaps(is_user_line, words)
    own_lines = [n for n in range(len(body)) if is_user_line[n] and words[n]]
    if not own_lines:
        return b""
    return b"".join(body[n] for n in range(own_lines[0], own_lines[-1] + 1) if is_user_line[n])


def _split_line(line: bytes) -> list[str]:
    """Return the words of a line, and for a fence without any, one that stands for it."""
    return split_words(line) or [_FENCE] * (line.strip()[:3] in (b"```", b"~~~"))


def _number_words(lines: Sequence[Sequence[str]]) -> _Words:
    return [(number, word) for number, words in enumerate(lines) for word in words]


def _find_changed_lines(ours: _Words, theirs: _Words) -> set[int]:
    """Return the lines in which words were added or replaced, or are missing.

    A missing word counts for the lines beside it, unless whole lines went with it.
    """
    changed: set[int] = set()
    for change in iter_changes([word for _, word in ours], [word for _, word in theirs]):
        start, end = change.new, change.new_end
        if change.old == change.old_end:
            start, end = _slide_to_lines(theirs, start, end)
        changed |= {theirs[n][0] for n in range(start, end)}
        if start == end:
            first, last = _slide_to_lines(ours, change.old, change.old_end)
            start += first - change.old
            changed |= set() if _starts_line(ours, first) else {theirs[start - 1][0]}
            changed |= set() if _starts_line(ours, last) else {theirs[start][0]}
    return changed


def _slide_to_lines(words: _Words, start: int, end: int) -> tuple[int, int]:
    """Return where a run of words has whole lines, if equal words beside it leave a choice."""
    for step in (-1, 1):
        a, b = start, end
        while not (_starts_line(words, a) and _starts_line(words, b)):
            one, other = (a - 1, b - 1) if step < 0 else (a, b)
            if one < 0 or other == len(words) or words[one][1] != words[other][1]:
                break
            a, b = a + step, b + step
        else:
            return a, b
    return start, end


def _starts_line(words: _Words, number: int) -> bool:
    return number in (0, len(words)) or words[number - 1][0] != words[number][0]


def _claim_gaps(is_user_line: list[bool], lines: Sequence[Sequence[str]]) -> None:
    """Count blank lines between two of the user's lines as the user's."""
    start: int | None = None
    for number, line in enumerate(lines):
        if line:
            if start is not None and is_user_line[number] and number - start > 1:
                is_user_line[start + 1 : number] = [True] * (number - start - 1)
            start = number if is_user_line[number] else None
