"""Which changes of a repository's configuration neither make git run something nor lead it
elsewhere: those that a person's daily work makes meanwhile. All others are put back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from cub.git.calling import ask, split

Pair = tuple[str, str]

_BRANCH = re.compile(r"branch\.(.+)\.(remote|merge|rebase)", re.DOTALL)
# What tools note for themselves: descriptions, pull requests, how a server wants to be asked.
_NOTES = re.compile(
    r"branch\..+\.(?:description|vscode-merge-base|gh-merge-base|github-pr-[a-z-]+)"
    r"|remote\..+\.gh-resolved|lfs\..+\.(?:access|locksverify)|lfs\.repositoryformatversion"
    r"|gui\.(?:wmstate|geometry)",
    re.DOTALL,
)
_REMOTE = re.compile(r"remote\.([\w.-]+)\.(url|fetch)", re.ASCII)
_REBASE = ("true", "false", "merges")
_HELPER = re.compile(r"-|[^/]*::")  # an option, or a program that is named by the address


def matters(top: Path, old: bytes, new: bytes) -> bool:
    """Whether a changed configuration has to be put back; what git can't read has to."""
    before, after = _pairs(top, old), _pairs(top, new)
    if before is None or after is None:
        return True
    gone, came = Counter(before) - Counter(after), Counter(after) - Counter(before)
    kept = [pair for pair in before if pair not in gone]
    still = [pair for pair in after if pair not in came]
    if kept != still:  # of two values the last one counts
        return True
    had, has = {key for key, _ in before}, {key for key, _ in after}
    return not (
        all(_may_come(pair, had, before) for pair in came)
        and all(_may_go(key, has) for key, _ in gone)
    )


def _pairs(top: Path, data: bytes) -> list[Pair] | None:
    """The keys and values, as git reads them; None for what it can't read."""
    # From any folder but the repository: a broken configuration would stop git there.
    answer = ask(top.parent, "config", "--list", "-z", "--no-includes", "--file", "-", stdin=data)
    if answer.code:
        return None
    return [(key, value) for key, _, value in (e.partition("\n") for e in split(answer.out))]


def _may_come(pair: Pair, had: Collection[str], before: Sequence[Pair]) -> bool:
    """A new remote leads nothing elsewhere, nor does a new upstream at a remote that was there."""
    key, value = pair
    if _NOTES.fullmatch(key):
        return True
    if found := _REMOTE.fullmatch(key):
        known = any(other.startswith(f"remote.{found[1]}.") for other in had)
        return not known and not _HELPER.match(value)
    found = _BRANCH.fullmatch(key)
    if found is None or key in had:
        return False
    if found[2] == "remote":
        return value == "." or any(k == f"remote.{value}.url" for k, _ in before)
    return value in _REBASE if found[2] == "rebase" else value.startswith("refs/heads/")


def _may_go(key: str, has: Collection[str]) -> bool:
    """A branch or a remote may be deleted as a whole."""
    section = key.rpartition(".")[0]
    whole = not any(other.startswith(f"{section}.") for other in has)
    return bool(_NOTES.fullmatch(key)) or (whole and section.startswith(("branch.", "remote.")))
