"""What a person changed inside a managed section: their lines, and the change as a diff."""

from __future__ import annotations

from collections.abc import Sequence

from cub.edit.document import plain, split_lines
from cub.edit.matching import find_matches


def user_lines(original: str, body: Sequence[bytes]) -> bytes:
    """The lines of `body` that are not in `original`: added and changed ones, as they stand.

    Blank lines between two of them are theirs too; blank lines around them are not.
    """
    ours = [plain(line) for line in split_lines(original.strip("\n").encode())]
    theirs = [plain(line) for line in body]
    mine = [True] * len(body)
    for match in find_matches(ours, theirs):
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
