"""Read and move HEAD, branches and linked work trees for a run; no commit is lost.

What no branch leads to any more gets a ref below `refs/cub/kept/`.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from cub.errors import CubError
from cub.git.process import decode_output, run_git, split_nul, try_git
from cub.git.refs import RESCUED_REF_PREFIX
from cub.git.snapshot import Snapshot
from cub.git.take_snapshot import list_operations
from cub.git.worktree import HeadState, Worktree, find_git_dir, read_head

_MAX_ARGUMENTS = 500  # paths on a command line


def read_head_commit(toplevel: Path) -> str:
    """Return the commit that is checked out; "" before the first one."""
    return read_head(toplevel).commit


def read_branch(toplevel: Path) -> str:
    """Return the name of the branch that is checked out; "" where HEAD is detached."""
    return read_head(toplevel).branch.removeprefix("refs/heads/")


def list_commits_ahead(toplevel: Path, name: str) -> list[str]:
    """List the commits that a merge of a branch would bring, the oldest first: short id, subject.

    Raises CubError if git fails.
    """
    words = ("log", "--reverse", "--no-show-signature", "--format=%h %s")
    log = run_git(toplevel, *words, f"HEAD..refs/heads/{name}", "--")
    return log.decode("utf-8", "replace").splitlines()


def read_commit_titles(toplevel: Path, commits: Sequence[str]) -> list[tuple[str, str]]:
    """Return the short id and the subject of each commit. Raises CubError if git fails."""
    words = ("log", "--no-walk=unsorted", "--no-show-signature", "--format=%h %s")
    log = run_git(toplevel, *words, *commits, "--").decode("utf-8", "replace")
    pairs = (line.partition(" ") for line in log.removesuffix("\n").split("\n"))
    return [(short, subject) for short, _, subject in pairs]


def is_clean(toplevel: Path) -> bool:
    """Return whether nothing is left to commit, untracked files included; CubError if git fails."""
    return not run_git(toplevel, "status", "--porcelain", "--untracked-files=normal")


def has_branch(toplevel: Path, name: str) -> bool:
    """Return whether there is a branch of this name. Raises CubError for one that git refuses."""
    full = f"refs/heads/{name}"
    is_invalid = name.startswith("-") or name == "HEAD"
    if is_invalid or try_git(toplevel, "check-ref-format", full).exit_code:
        raise CubError("git does not take this as the name of a branch", where=name)
    return try_git(toplevel, "show-ref", "--verify", "--quiet", full).exit_code == 0


def switch_branch(toplevel: Path, name: str) -> None:
    """Switch to a branch, made where HEAD is if there is none.

    Raises CubError for a name that git refuses, and if git can't switch.
    """
    words = ("switch", "--quiet", "--no-guess")
    branch = [name] if has_branch(toplevel, name) else ["-c", name]
    run_git(toplevel, *words, *branch, allow_fetch=True)


def switch_back(toplevel: Path, head: HeadState) -> None:
    """Undo `switch_branch`: make HEAD what it was. Files that git can't switch stay."""
    if not head.commit:
        try_git(toplevel, "symbolic-ref", "HEAD", head.branch)
        return
    words = [head.branch.removeprefix("refs/heads/")] if head.branch else ["--detach", head.commit]
    try_git(toplevel, "switch", "--quiet", "--no-guess", *words)


def add_worktree(toplevel: Path, folder: Path, branch: str) -> None:
    """Check out a branch in a new folder; it is made where HEAD is if there is none."""
    target = folder.as_posix()
    words = [target, branch] if has_branch(toplevel, branch) else ["-b", branch, target]
    run_git(toplevel, "worktree", "add", "--quiet", *words, allow_fetch=True)


def remove_worktree(toplevel: Path, folder: Path, *, force: bool = False) -> bool:
    """Remove a linked work tree; return False, and keep it, if it has uncommitted changes.

    `force` removes these as well.
    """
    words = ("worktree", "remove", *(["--force"] if force else []))
    return try_git(toplevel, *words, folder.as_posix()).exit_code == 0


def delete_merged_branch(toplevel: Path, name: str) -> bool:
    """Delete a branch; return False, and keep it, if it has commits that HEAD has not."""
    return try_git(toplevel, "branch", "--quiet", "-d", "--", name).exit_code == 0


def read_head_time(toplevel: Path) -> float:
    """Return when HEAD last moved, in seconds since 1970; 0 if unknown."""
    for name in ("logs/HEAD", "HEAD"):
        with suppress(OSError):
            return (find_git_dir(toplevel) / name).stat().st_mtime
    return 0.0


def is_last_commit(toplevel: Path, parent: str, message: str) -> bool:
    """Return whether the commit that is checked out has this parent and this message."""
    result = try_git(toplevel, "log", "-1", "--format=%P%n%B", "HEAD")
    parents, _, text = result.stdout.decode("utf-8", "replace").partition("\n")
    return result.exit_code == 0 and parents == parent and text.strip() == message.strip()


class ReattachResult(NamedTuple):
    """List refs to commits that no branch has any more, and private files that were in them."""

    rescued_refs: tuple[str, ...]
    private_files: tuple[str, ...] = ()


def classify_head_move(toplevel: Path, before: Snapshot) -> Literal["", "forward", "away"]:
    """Return "" if HEAD is where it was, "forward" if on a later commit, else "away"."""
    now = read_head(toplevel)
    if now == (before.head, before.branch):
        return ""
    if not before.head:
        return "forward"
    return "forward" if now.commit and is_ancestor(toplevel, before.head, now.commit) else "away"


def reattach_branch(
    worktree: Worktree, before: Snapshot, secrets: Collection[str] = ()
) -> ReattachResult:
    """Make the branch of before (or the detached HEAD) hold the commit that is checked out.

    If a commit that came since holds one of the `secrets`, or a file that was untracked or ignored
    before, none of them stays on the branch: a private file must not get into history. The index
    and the files stay.
    """
    commit = read_head(worktree.toplevel).commit
    committed = _list_committed_paths(worktree.toplevel, before, commit)
    paths = {path for path in committed if not worktree.is_excluded(path)}
    ignored = before.select_ignored(paths, forced=True)
    private = tuple(sorted(paths & {*before.untracked_paths, *ignored, *secrets}))
    goal = HeadState(before.head if private else commit, before.branch)
    rescued = _move_head(worktree.toplevel, goal)
    abort_operations(worktree, before)
    return ReattachResult(rescued, private)


def _list_committed_paths(toplevel: Path, before: Snapshot, commit: str) -> set[str]:
    """List the paths that commits since added or changed themselves, not by a merge."""
    if commit == before.head:
        return set()
    words = ("log", "-c", "--root", "--format=", "--name-only", "-z", "--no-renames")
    plain = ("--no-show-signature", "--no-ext-diff", "--ignore-submodules=all")
    range_ = (commit, *(("--not", before.head) if before.head else ()))
    listed = split_nul(run_git(toplevel, *words, *plain, *range_, "--") + b"\0")
    return {path.removeprefix("\n") for path in listed}


class NewObject(NamedTuple):
    """Hold a path in a new commit, and the object of the file or folder there."""

    path: str
    oid: str


def list_new_objects(toplevel: Path, before: Snapshot) -> list[NewObject]:
    """List the files and folders of the commits since that no ref led to, with all contents."""
    commit = read_head(toplevel).commit
    old = {before.head, *(before.refs.names.values() if before.refs else ())}
    lines = [commit, *(f"^{oid}" for oid in old if oid)]
    if commit in ("", before.head):
        return []
    words = ("rev-list", "--objects", "--ignore-missing", "--stdin")
    listed = decode_output(run_git(toplevel, *words, stdin="\n".join(lines).encode() + b"\n"))
    pairs = (line.partition(" ") for line in listed.split("\n"))
    return [NewObject(path, oid) for oid, _, path in pairs if path]


def restore_head(worktree: Worktree, before: Snapshot) -> tuple[str, ...]:
    """Make HEAD what it was; return refs to commits that no branch has any more."""
    return _move_head(worktree.toplevel, HeadState(before.head, before.branch))


def abort_operations(worktree: Worktree, before: Snapshot) -> None:
    """Delete git's files of merges, rebases and the like that were started since."""
    folder = find_git_dir(worktree.toplevel)
    for name in list_operations(worktree):
        if name not in before.operations:
            path = folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _move_head(toplevel: Path, goal: HeadState) -> tuple[str, ...]:
    now = read_head(toplevel)
    rescued = _rescue_commits(toplevel, now, goal)
    if not goal.branch:
        if now != goal:
            run_git(toplevel, "update-ref", "--no-deref", "HEAD", goal.commit)
        return rescued
    if _read_tip(toplevel, goal.branch) != goal.commit:
        change = (goal.branch, goal.commit) if goal.commit else ("-d", goal.branch)
        run_git(toplevel, "update-ref", *change)
    if now.branch != goal.branch:
        run_git(toplevel, "symbolic-ref", "HEAD", goal.branch)
    return rescued


def _rescue_commits(toplevel: Path, now: HeadState, goal: HeadState) -> tuple[str, ...]:
    """Create refs to the commits that none leads to once HEAD and the goal's branch are moved."""
    leaving = [now.commit] if not now.branch or now.branch == goal.branch else []
    leaving += [_read_tip(toplevel, goal.branch)] if goal.branch else []
    rescued = []
    for commit in dict.fromkeys(leaving):
        if commit and commit != goal.commit and not _is_reachable(toplevel, commit, goal):
            rescued.append(f"{RESCUED_REF_PREFIX}{commit[:12]}")
            run_git(toplevel, "update-ref", rescued[-1], commit)
    return tuple(rescued)


def _is_reachable(toplevel: Path, commit: str, goal: HeadState) -> bool:
    """Return whether a ref other than the one that moves leads to it, as in a second run."""
    others = (f"--exclude={goal.branch}", f"--exclude={RESCUED_REF_PREFIX}*", "--glob=refs/*")
    own = (goal.commit,) if goal.commit else ()
    return not run_git(toplevel, "rev-list", "-n", "1", commit, "--not", *own, *others)


def _read_tip(toplevel: Path, branch: str) -> str:
    words = ("rev-parse", "--quiet", "--verify", f"{branch}^{{commit}}")
    return decode_output(try_git(toplevel, *words).stdout).strip()


def find_commit(toplevel: Path, parent: str, tree: str) -> str:
    """Find a commit of `tree` right after `parent` ("" for a first one) on any branch, or where
    HEAD is; "" for none. Raises CubError if git fails.
    """
    words = ["log", "--format=%H %T %P", "--no-show-signature", "HEAD", "--branches"]
    since = [f"^{parent}"] if parent else []
    result = try_git(toplevel, *words, *since, "--")
    for line in result.stdout.decode().splitlines() if result.exit_code == 0 else ():
        commit, content, *parents = line.split()
        if content == tree and parents[:1] == ([parent] if parent else []):
            return commit
    return ""


def is_ancestor(toplevel: Path, old: str, new: str) -> bool:
    """Return whether one commit leads to another; True for no commit at all."""
    return not old or try_git(toplevel, "merge-base", "--is-ancestor", old, new).exit_code == 0


def list_paths_between(toplevel: Path, old: str, new: str) -> list[str]:
    """List the paths that differ between two commits, "" for none at all."""
    if not old:
        return split_nul(run_git(toplevel, "ls-tree", "-r", "-z", "--name-only", new))
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff")
    return split_nul(run_git(toplevel, *words, "--ignore-submodules=none", old, new))


def head_has_content(toplevel: Path, tree: str, paths: Sequence[str]) -> bool:
    """Return whether HEAD has the same as `tree` under all of these paths."""
    environ = {"GIT_LITERAL_PATHSPECS": "1"}
    for start in range(0, len(paths), _MAX_ARGUMENTS):
        some = paths[start : start + _MAX_ARGUMENTS]
        words = ("diff-tree", "-r", "--quiet", "--no-ext-diff", tree, "HEAD", "--", *some)
        if try_git(toplevel, *words, environ=environ).exit_code:
            return False
    return True
