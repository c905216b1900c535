"""Where HEAD is, was and belongs; no commit is lost on the way."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal, NamedTuple

from cub.git.calling import ask, call, split
from cub.git.looking import begun
from cub.git.place import Head, Place, git_folder, head_of
from cub.git.refs import KEPT
from cub.git.snapshot import Snapshot


class Settled(NamedTuple):
    """Refs to commits that no branch has any more; files of the person's that were in them."""

    kept: tuple[str, ...]
    private: tuple[str, ...] = ()


def took_over(top: Path, before: Snapshot) -> Literal["", "forward", "away"]:
    """Whether HEAD is where it was, on a commit that came after, or anywhere else."""
    now = head_of(top)
    if now == (before.head, before.branch):
        return ""
    if not before.head:
        return "forward"
    return "forward" if now.commit and _is_ancestor(top, before.head, now.commit) else "away"


def settle(place: Place, before: Snapshot) -> Settled:
    """Make the branch of before (or the detached HEAD) hold the commit that is checked out.

    Where a commit that came since holds a file that git did not know before, none of them stays
    on the branch: what a person has not given to git must not come into its history.

    The index and the files stay.
    """
    commit = head_of(place.top).commit
    persons = {*before.untracked, *before.ignored}
    private = tuple(sorted(persons & _committed(place.top, before, commit)))
    kept = _move(place.top, Head(before.head if private else commit, before.branch))
    quit_operations(place, before)
    return Settled(kept, private)


def _committed(top: Path, before: Snapshot, commit: str) -> set[str]:
    """The paths that were added or changed by commits since; what they merged is not theirs."""
    if commit == before.head:
        return set()
    words = ("log", "-c", "--root", "--format=", "--name-only", "-z", "--no-renames")
    plain = ("--no-show-signature", "--no-ext-diff", "--ignore-submodules=all")
    range_ = (commit, *(("--not", before.head) if before.head else ()))
    listed = split(call(top, *words, *plain, *range_, "--") + b"\0")
    return {path.removeprefix("\n") for path in listed}


def put_back(place: Place, before: Snapshot) -> tuple[str, ...]:
    """Make HEAD what it was, with the same result."""
    return _move(place.top, Head(before.head, before.branch))


def quit_operations(place: Place, before: Snapshot) -> None:
    """Forget the merges, rebases and their like that were begun since."""
    folder = git_folder(place.top)
    for name in begun(place):
        if name not in before.begun:
            path = folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _move(top: Path, goal: Head) -> tuple[str, ...]:
    now = head_of(top)
    kept = _keep(top, now, goal)
    if not goal.branch:
        if now != goal:
            call(top, "update-ref", "--no-deref", "HEAD", goal.commit)
        return kept
    if _tip(top, goal.branch) != goal.commit:
        change = (goal.branch, goal.commit) if goal.commit else ("-d", goal.branch)
        call(top, "update-ref", *change)
    if now.branch != goal.branch:
        call(top, "symbolic-ref", "HEAD", goal.branch)
    return kept


def _keep(top: Path, now: Head, goal: Head) -> tuple[str, ...]:
    """Give a ref to the commits that none leads to once HEAD and the goal's branch are moved."""
    leaving = [now.commit] if not now.branch or now.branch == goal.branch else []
    leaving += [_tip(top, goal.branch)] if goal.branch else []
    kept = []
    for commit in dict.fromkeys(leaving):
        if commit and commit != goal.commit and not _is_held(top, commit, goal):
            kept.append(f"{KEPT}{commit[:12]}")
            call(top, "update-ref", kept[-1], commit)
    return tuple(kept)


def _is_held(top: Path, commit: str, goal: Head) -> bool:
    """Whether a ref other than the one that moves leads to it; a second run finds the same."""
    others = (f"--exclude={goal.branch}", f"--exclude={KEPT}*", "--glob=refs/*")
    own = (goal.commit,) if goal.commit else ()
    return not call(top, "rev-list", "-n", "1", commit, "--not", *own, *others)


def _is_ancestor(top: Path, old: str, new: str) -> bool:
    return ask(top, "merge-base", "--is-ancestor", old, new).code == 0


def _tip(top: Path, branch: str) -> str:
    return ask(top, "rev-parse", "--quiet", "--verify", f"{branch}^{{commit}}").out.decode().strip()
