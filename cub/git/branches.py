"""Branches and linked work trees, as a run needs them.

Where HEAD is, was and belongs; no commit is lost on the way.

Questions about commits that are there: whether one was made, and what came between two.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from cub.errors import CubError
from cub.git.process import run_git, split_nul, try_git
from cub.git.refs import RESCUED_REF_PREFIX
from cub.git.snapshot import Snapshot
from cub.git.take_snapshot import list_operations
from cub.git.worktree import HeadState, Worktree, find_git_dir, read_head


def read_head_commit(toplevel: Path) -> str:
    """The commit that is checked out; "" before the first one."""
    return read_head(toplevel).commit


def read_branch(toplevel: Path) -> str:
    """The name of the branch that is checked out; "" where HEAD is detached."""
    return read_head(toplevel).branch.removeprefix("refs/heads/")


def list_commits_ahead(toplevel: Path, name: str) -> list[str]:
    """List what a merge of a branch would bring, the oldest commit first: short id and subject.

    Raises CubError if git fails.
    """
    words = ("log", "--reverse", "--no-show-signature", "--format=%h %s")
    said = run_git(toplevel, *words, f"HEAD..refs/heads/{name}", "--")
    return said.decode("utf-8", "replace").splitlines()


def is_clean(toplevel: Path) -> bool:
    """Whether nothing in a work tree is left to commit, untracked files included.

    Raises CubError if git fails.
    """
    return not run_git(toplevel, "status", "--porcelain", "--untracked-files=normal")


def switch_branch(toplevel: Path, name: str) -> str:
    """Switch to a branch, made where HEAD is if there is none; returns its full name.

    Raises CubError for a name that git refuses, and if git can't switch.
    """
    full = _full(toplevel, name)
    words = ("switch", "--quiet", "--no-guess")
    run_git(
        toplevel, *words, *([name] if _exists(toplevel, full) else ["-c", name]), allow_fetch=True
    )
    return full


def add_worktree(toplevel: Path, folder: Path, branch: str) -> None:
    """Check a branch out into a new folder; it is made where HEAD is if there is none."""
    full = _full(toplevel, branch)
    words = ("worktree", "add", "--quiet")
    where = (
        [folder.as_posix(), branch]
        if _exists(toplevel, full)
        else ["-b", branch, folder.as_posix()]
    )
    run_git(toplevel, *words, *where, allow_fetch=True)


def remove_worktree(toplevel: Path, folder: Path) -> bool:
    """Remove a linked work tree; not, and False, if it holds what is not committed."""
    return try_git(toplevel, "worktree", "remove", folder.as_posix()).exit_code == 0


def _full(toplevel: Path, name: str) -> str:
    full = f"refs/heads/{name}"
    if (
        name.startswith("-")
        or name == "HEAD"
        or try_git(toplevel, "check-ref-format", full).exit_code
    ):
        raise CubError("git does not take this as the name of a branch", where=name)
    return full


def _exists(toplevel: Path, full: str) -> bool:
    return try_git(toplevel, "show-ref", "--verify", "--quiet", full).exit_code == 0


def read_head_time(toplevel: Path) -> float:
    """When HEAD was last led to another commit or branch, in seconds since 1970; 0 if unknown."""
    for name in ("logs/HEAD", "HEAD"):
        with suppress(OSError):
            return (find_git_dir(toplevel) / name).stat().st_mtime
    return 0.0


def is_last_commit(toplevel: Path, parent: str, message: str) -> bool:
    """Whether the commit that is checked out came right after `parent`, with this message."""
    answer = try_git(toplevel, "log", "-1", "--format=%P%n%B", "HEAD")
    parents, _, text = answer.stdout.decode("utf-8", "replace").partition("\n")
    return answer.exit_code == 0 and parents == parent and text.strip() == message.strip()


class ReattachResult(NamedTuple):
    """Refs to commits that no branch has any more; files of the person's that were in them."""

    rescued_refs: tuple[str, ...]
    private_files: tuple[str, ...] = ()


def classify_head_move(toplevel: Path, before: Snapshot) -> Literal["", "forward", "away"]:
    """Whether HEAD is where it was, on a commit that came after, or anywhere else."""
    now = read_head(toplevel)
    if now == (before.head, before.branch):
        return ""
    if not before.head:
        return "forward"
    return "forward" if now.commit and _is_ancestor(toplevel, before.head, now.commit) else "away"


def reattach_branch(worktree: Worktree, before: Snapshot) -> ReattachResult:
    """Make the branch of before (or the detached HEAD) hold the commit that is checked out.

    Where a commit that came since holds a file that git did not know before, none of them stays
    on the branch: what a person has not given to git must not come into its history.

    The index and the files stay.
    """
    commit = read_head(worktree.toplevel).commit
    persons = {*before.untracked_paths, *before.ignored_paths}
    private = tuple(sorted(persons & _list_committed_paths(worktree.toplevel, before, commit)))
    kept = _move_head(
        worktree.toplevel, HeadState(before.head if private else commit, before.branch)
    )
    abort_operations(worktree, before)
    return ReattachResult(kept, private)


def _list_committed_paths(toplevel: Path, before: Snapshot, commit: str) -> set[str]:
    """The paths that were added or changed by commits since; what they merged is not theirs."""
    if commit == before.head:
        return set()
    words = ("log", "-c", "--root", "--format=", "--name-only", "-z", "--no-renames")
    plain = ("--no-show-signature", "--no-ext-diff", "--ignore-submodules=all")
    range_ = (commit, *(("--not", before.head) if before.head else ()))
    listed = split_nul(run_git(toplevel, *words, *plain, *range_, "--") + b"\0")
    return {path.removeprefix("\n") for path in listed}


def restore_head(worktree: Worktree, before: Snapshot) -> tuple[str, ...]:
    """Make HEAD what it was, with the same result."""
    return _move_head(worktree.toplevel, HeadState(before.head, before.branch))


def abort_operations(worktree: Worktree, before: Snapshot) -> None:
    """Forget the merges, rebases and their like that were begun since."""
    folder = find_git_dir(worktree.toplevel)
    for name in list_operations(worktree):
        if name not in before.operations:
            path = folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _move_head(toplevel: Path, goal: HeadState) -> tuple[str, ...]:
    now = read_head(toplevel)
    kept = _rescue_commits(toplevel, now, goal)
    if not goal.branch:
        if now != goal:
            run_git(toplevel, "update-ref", "--no-deref", "HEAD", goal.commit)
        return kept
    if _tip(toplevel, goal.branch) != goal.commit:
        change = (goal.branch, goal.commit) if goal.commit else ("-d", goal.branch)
        run_git(toplevel, "update-ref", *change)
    if now.branch != goal.branch:
        run_git(toplevel, "symbolic-ref", "HEAD", goal.branch)
    return kept


def _rescue_commits(toplevel: Path, now: HeadState, goal: HeadState) -> tuple[str, ...]:
    """Give a ref to the commits that none leads to once HEAD and the goal's branch are moved."""
    leaving = [now.commit] if not now.branch or now.branch == goal.branch else []
    leaving += [_tip(toplevel, goal.branch)] if goal.branch else []
    kept = []
    for commit in dict.fromkeys(leaving):
        if commit and commit != goal.commit and not _is_held(toplevel, commit, goal):
            kept.append(f"{RESCUED_REF_PREFIX}{commit[:12]}")
            run_git(toplevel, "update-ref", kept[-1], commit)
    return tuple(kept)


def _is_held(toplevel: Path, commit: str, goal: HeadState) -> bool:
    """Whether a ref other than the one that moves leads to it; a second run finds the same."""
    others = (f"--exclude={goal.branch}", f"--exclude={RESCUED_REF_PREFIX}*", "--glob=refs/*")
    own = (goal.commit,) if goal.commit else ()
    return not run_git(toplevel, "rev-list", "-n", "1", commit, "--not", *own, *others)


def _is_ancestor(toplevel: Path, old: str, new: str) -> bool:
    return try_git(toplevel, "merge-base", "--is-ancestor", old, new).exit_code == 0


def _tip(toplevel: Path, branch: str) -> str:
    return (
        try_git(toplevel, "rev-parse", "--quiet", "--verify", f"{branch}^{{commit}}")
        .stdout.decode()
        .strip()
    )


_AT_ONCE = 500  # paths on a command line


def find_commit(toplevel: Path, parent: str, tree: str) -> str:
    """Find a commit of `tree` right after `parent` ("" for a first one) on any branch, or where
    HEAD is; "" for none. Raises CubError if git fails.
    """
    words = ["log", "--format=%H %T %P", "--no-show-signature", "HEAD", "--branches"]
    since = [f"^{parent}"] if parent else []
    answer = try_git(toplevel, *words, *since, "--")
    for line in answer.stdout.decode().splitlines() if answer.exit_code == 0 else ():
        commit, content, *parents = line.split(" ")
        if content == tree and [one for one in parents if one][:1] == ([parent] if parent else []):
            return commit
    return ""


def is_ancestor(toplevel: Path, old: str, new: str) -> bool:
    """Whether one commit leads to another; true of no commit at all."""
    return not old or try_git(toplevel, "merge-base", "--is-ancestor", old, new).exit_code == 0


def list_paths_between(toplevel: Path, old: str, new: str) -> list[str]:
    """List the paths that differ between two commits, "" for none at all."""
    if not old:
        return split_nul(run_git(toplevel, "ls-tree", "-r", "-z", "--name-only", new))
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff")
    return split_nul(run_git(toplevel, *words, "--ignore-submodules=none", old, new))


def head_has_content(toplevel: Path, tree: str, paths: Sequence[str]) -> bool:
    """Whether HEAD has the same as `tree` under all of these paths."""
    environ = {"GIT_LITERAL_PATHSPECS": "1"}
    for start in range(0, len(paths), _AT_ONCE):
        some = paths[start : start + _AT_ONCE]
        words = ("diff-tree", "-r", "--quiet", "--no-ext-diff", tree, "HEAD", "--", *some)
        if try_git(toplevel, *words, environ=environ).exit_code:
            return False
    return True
