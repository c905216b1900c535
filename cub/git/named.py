"""Paths that git has been told of since a snapshot, in its index or by commits.

Only the names are taken from there: what the files hold is looked at on disk.
"""

from __future__ import annotations

import stat
from typing import NamedTuple

from cub.git.calling import ask, joined, split
from cub.git.objects import SUBMODULE
from cub.git.place import Place, kind
from cub.git.snapshot import Snapshot
from cub.git.trees import files_of


class Named(NamedTuple):
    """Paths to look at, though git may ignore them, by whether they are repositories of their own;
    and those that are on disk, but that git no longer tracks and ignores; and conflicts.
    """

    added: dict[str, bool]
    dropped: list[str]
    unmerged: tuple[str, ...] = ()


def named_since(
    place: Place, since: Snapshot, committed: frozenset[str], *, is_changed: bool
) -> Named:
    """`committed` are the paths that HEAD has and cub's index lacks; `is_changed` says whether the
    person's index is another one than it was.
    """
    private = set(since.ignored)  # what was there before, and ignored, is the person's
    added = {path: False for path in committed if kind(place.top, path) and path not in private}
    # A folder in the place of a file is none of git's, unless it is a repository.
    folders = [path for path in added if kind(place.top, path) == stat.S_IFDIR]
    added |= {path: kind(place.top, f"{path}/.git") != 0 for path in folders}
    staged, unmerged = _staged(place) if is_changed else ({}, ())
    if not staged:  # an index that is gone, or that git can't read, says nothing
        return Named(added, [])
    known = files_of(place.top, since.tree).keys()
    for path in staged.keys() - known:
        if not place.is_apart(path) and kind(place.top, path) and path not in private:
            added[path] = staged[path]
    left = sorted(known - staged.keys() - set(since.untracked))
    left = [path for path in left if not place.is_apart(path) and kind(place.top, path)]
    return Named(added, _ignored(place, left), unmerged)


def _staged(place: Place) -> tuple[dict[str, bool], tuple[str, ...]]:
    """The paths of the person's index, by whether they are submodules; those with a conflict."""
    answer = ask(place.top, "ls-files", "-z", "--stage")
    if answer.code:
        return {}, ()
    lines = [line.partition("\t") for line in split(answer.out)]
    module = f"{SUBMODULE:o} "
    unmerged = dict.fromkeys(path for about, _, path in lines if not about.endswith(" 0"))
    return {path: about.startswith(module) for about, _, path in lines}, tuple(unmerged)


def _ignored(place: Place, paths: list[str]) -> list[str]:
    if not paths:
        return []
    answer = ask(place.top, "check-ignore", "-z", "--stdin", "--no-index", stdin=joined(paths))
    return split(answer.out)
