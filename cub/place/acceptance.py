"""Bring an attempt's commit into the person's repository, and onto their branch if nothing is lost.

The commit's objects come first, then a ref of cub's own, so that no accepted work can get lost;
then the branch and the checkout move forward. If they can't, the ref stays.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from cub.git.process import decode_output, make_git_error, run_git, split_nul, try_git
from cub.git.worktree import read_head
from cub.place.checkout import Checkout, TreeGit
from cub.place.fast_forward import find_obstacle, find_operation, prepare_index, write_files
from cub.place.locked_index import FastForward, LockedIndex
from cub.place.merge_recovery import finish_interrupted_merge, read_commit, settle_merge

_PATIENCE = 2.0  # seconds: another git holds a lock for milliseconds
_LOCKED = "another git process has locked the index (index.lock)"
_OLD_GIT = 129  # the exit code for an unknown option


class BranchTip(NamedTuple):
    """Hold the branch (its full name, "" if HEAD was detached) that an attempt started from, and
    the commit that it had then.
    """

    branch: str
    base: str


class Acceptance(NamedTuple):
    """Describe what became of a commit.

    - merged: the branch holds it, and the checkout if the branch is checked out there.
    - moved: the branch is not at its base any more; the commit is to be rebased and checked again.
    - blocked: something of the person's is in the way. Nothing has changed, `ref` keeps the commit,
      and `hint` is the line that merges it.
    """

    state: Literal["merged", "moved", "blocked"]
    reason: str = ""
    ref: str = ""
    hint: str = ""


class RebaseResult(NamedTuple):
    """Hold the tree of a rebased commit; "" if there are conflicts, or git can't rebase it."""

    tree: str
    conflicts: tuple[str, ...] = ()
    reason: str = ""


def bring_objects(checkout: Checkout, objects: Path, commit: str, base: str) -> None:
    """Copy a commit, and those between it and `base`, from cub's folder of objects into the
    person's repository. Raises CubError if git refuses them.
    """
    top = checkout.toplevel
    environ = {"GIT_OBJECT_DIRECTORY": os.fspath(objects)}
    revisions = f"{commit}\n" + (f"^{base}\n" if base else "")
    words = ("pack-objects", "-q", "--stdout", "--revs", "--thin", "--delta-base-offset")
    pack = run_git(top, *words, stdin=revisions.encode(), environ=environ)
    words = ("-c", "core.fsync=all", "index-pack", "--stdin", "--fix-thin", "--strict")
    result = try_git(top, *words, stdin=pack)
    if result.exit_code:
        raise make_git_error("index-pack", result)


def keep_commit(checkout: Checkout, ref: str, commit: str, replaced: str = "") -> None:
    """Make a ref for a commit. Raises CubError if it keeps any other than `replaced` ("" for none)
    or the commit itself.
    """
    words = ("-c", "core.fsync=all", "update-ref", "--create-reflog", ref, commit, replaced)
    result = try_git(checkout.toplevel, *words)
    if result.exit_code and read_commit(checkout.toplevel, ref) != commit:
        raise make_git_error("update-ref", result)


def accept_commit(
    checkout: Checkout,
    target: BranchTip,
    commit: str,
    ref: str,
    own_paths: Sequence[str] = (),
    *,
    changes: str = "",
    patience: float = _PATIENCE,
) -> Acceptance:
    """Move the branch, and the checkout if it has the branch, forward to a commit that `ref` keeps.

    `own_paths` are files that cub has written into the checkout itself: they stay as they are, and
    their index entries follow the commit. `changes` is the commit that cub made of the person's
    uncommitted changes, on which the attempt's is based. An acceptance that was killed is finished
    by another call. Only one may be at work in a checkout at a time.
    """
    top = checkout.toplevel
    if not finish_interrupted_merge(checkout, patience):
        return _refuse(ref, _LOCKED)
    head = read_head(top)
    if target.branch not in ("", head.branch):
        target = target._replace(branch=_read_branch(top, target.branch) or target.branch)
    is_here = head.branch == target.branch
    tip = head.commit if is_here else read_commit(top, target.branch or "HEAD")
    name = target.branch.removeprefix("refs/heads/") or "HEAD"
    if not tip:
        return _refuse(ref, f"the branch {name} has no commit any more")
    if tip != target.base:
        if not try_git(top, "merge-base", "--is-ancestor", commit, tip).exit_code:
            return _finish(checkout, commit, ref)
        return Acceptance("moved", f"{name} has moved", ref, f"git merge {ref}")
    if not is_here:
        return _move_branch(checkout, target, commit, ref)
    own = tuple(own_paths)
    merge = FastForward(target.branch or "HEAD", tip, commit, changes or tip, own)
    return _merge_checkout(LockedIndex(checkout), merge, ref, patience)


def rebase_commit(git: TreeGit, commit: str, onto: str, base: str) -> RebaseResult:
    """Apply what `commit` changes against `base` to `onto`, in cub's folder of objects alone."""
    own, words = git.with_own_identity(), ("commit-tree", "-m", "rebase")
    root = own.read_line(*words, f"{base}^{{tree}}")
    # Before git 2.40, merge-tree finds the base itself: both sides get this one for a parent.
    sides = [own.read_line(*words, "-p", root, f"{name}^{{tree}}") for name in (onto, commit)]
    merge = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", *sides)
    result = try_git(git.tree, *merge, environ=git.environ)
    if result.exit_code == _OLD_GIT:
        return RebaseResult("", (), "git 2.38 or later is needed to rebase an attempt")
    if result.exit_code > 1 or result.exit_code < 0:
        raise make_git_error("merge-tree", result)
    tree, *conflicts = split_nul(result.stdout)
    if result.exit_code:
        return RebaseResult("", tuple(dict.fromkeys(filter(None, conflicts))), "conflicts")
    return RebaseResult(tree)


def _read_branch(toplevel: Path, ref: str) -> str:
    """Return the branch that a symbolic ref leads to; "" for any other ref."""
    return decode_output(try_git(toplevel, "symbolic-ref", "--quiet", ref).stdout).strip()


def _refuse(ref: str, reason: str) -> Acceptance:
    return Acceptance("blocked", reason, ref, f"git merge {ref}")


def _finish(checkout: Checkout, commit: str, ref: str) -> Acceptance:
    # A ref that is gone already, or locked, makes no difference: the branch holds the commit.
    try_git(checkout.toplevel, "update-ref", "-d", ref, commit)
    return Acceptance("merged")


def _move_branch(checkout: Checkout, target: BranchTip, commit: str, ref: str) -> Acceptance:
    """Move a branch that is not checked out here."""
    name = target.branch.removeprefix("refs/heads/")
    if not name:
        return _refuse(ref, "HEAD was detached, and is on a branch now")
    if folder := _find_other_checkout(checkout, target.branch):
        return _refuse(ref, f"{name} is checked out in {folder}")
    merge = FastForward(target.branch, target.base, commit, target.base)
    if _move_ref(checkout, merge, ref):
        return _finish(checkout, commit, ref)
    return Acceptance("moved", f"{name} has moved", ref, f"git merge {ref}")


def _move_ref(checkout: Checkout, merge: FastForward, ref: str) -> bool:
    """Move a branch, or the detached HEAD, if it is still where the merge started from."""
    words = ("update-ref", *(["--no-deref"] if merge.ref == "HEAD" else []))
    message = ("-m", f"merge {ref}: Fast-forward")
    result = try_git(checkout.toplevel, *words, *message, merge.ref, merge.commit, merge.old)
    return not result.exit_code


def _merge_checkout(
    index: LockedIndex, merge: FastForward, ref: str, patience: float
) -> Acceptance:
    if not index.index.exists():
        return _refuse(ref, "nothing is checked out (git has no index)")
    index.write_mark(merge, is_writing=False)
    if not index.acquire(patience):
        index.mark.unlink()
        return _refuse(ref, _LOCKED)
    try:
        reason = _find_reason(index, merge)
    except BaseException:
        index.release(merge)
        raise
    if reason:
        index.release(merge)
    elif _write_merge(index, merge, ref):
        return _finish(index.checkout, merge.commit, ref)
    if _has_moved(index, merge):
        return Acceptance("moved", "the branch has moved", ref, f"git merge {ref}")
    return _refuse(ref, reason or "git could not write the files")


def _has_moved(index: LockedIndex, merge: FastForward) -> bool:
    """Return whether HEAD is on another branch by now, or the branch has another commit."""
    head = read_head(index.checkout.toplevel)
    return (head.branch or "HEAD", head.commit) != (merge.ref, merge.old)


def _find_reason(index: LockedIndex, merge: FastForward) -> str:
    if _has_moved(index, merge):
        return "the branch has moved"  # by a git that held the lock until now
    if operation := find_operation(index.checkout):
        return f"{operation} is in progress in your checkout (finish or abort it)"
    prepare_index(index, merge)
    return find_obstacle(index, merge)


def _write_merge(index: LockedIndex, merge: FastForward, ref: str) -> bool:
    """Write the files, then move the branch, then the index; or take all of it back."""
    index.write_mark(merge, is_writing=True)
    try:
        is_merged = write_files(index, merge) and _move_ref(index.checkout, merge, ref)
    except BaseException:
        settle_merge(index, merge, is_writer=True)
        raise
    if not is_merged:
        return settle_merge(index, merge, is_writer=True)
    index.install()
    return True


def _find_other_checkout(checkout: Checkout, branch: str) -> str:
    """Return the work tree that uses a branch, be it for a rebase or a bisection; "" for none."""
    listed = run_git(checkout.toplevel, "worktree", "list", "--porcelain")
    folder = ""
    for line in decode_output(listed).splitlines():
        key, _, value = line.partition(" ")
        folder = value if key == "worktree" else folder
        if key == "branch" and value == branch:
            return folder
    names = (branch, branch.removeprefix("refs/heads/"))
    for git_dir in (checkout.common_dir, *_list_worktree_dirs(checkout)):
        for name in ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"):
            with suppress(OSError):
                text = (git_dir / name).read_text(encoding="utf-8", errors="surrogateescape")
                if text.strip() in names:
                    return f"{git_dir.as_posix()} ({name.partition('/')[0]})"
    return ""


def _list_worktree_dirs(checkout: Checkout) -> Iterator[Path]:
    with suppress(OSError):
        yield from (checkout.common_dir / "worktrees").iterdir()
