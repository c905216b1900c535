"""Commit exactly some paths, with the person's hooks, signature and identity.

The commit has the tree that was staged, whatever hooks did: that tree was checked.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from cub.checks.terminal_text import to_plain_text
from cub.errors import CubError
from cub.git.private_index import reset_user_index, stage_files, stage_objects
from cub.git.process import decode_output, run_git, split_nul, strip_git_variables, try_git
from cub.git.worktree import (
    Worktree,
    find_git_dir,
    get_file_type,
    is_beyond_link,
    list_ignored_paths,
)
from cub.masking import mask_text
from cub.processes.command import CommandSpec, TimeLimits
from cub.processes.runner import run_and_capture
from cub.text import join_first

# `git commit` may start a tidying process that would outlive it, and asks a monitor what changed.
_NO_MAINTENANCE = ("-c", "maintenance.auto=false", "-c", "gc.auto=0", "-c", "core.fsmonitor=false")
_COMMIT = ("git", "--no-pager", *_NO_MAINTENANCE, "commit", "--quiet")
_MAX_ARGUMENTS = 500  # paths on a command line
_MAX_OUTPUT = 4000  # characters of what git and its hooks print
_HINT = "no check has seen that, so let the hook only look, or do its work in the attempt"
# Gets the parent ("" for none) and the tree of a commit that is about to be made.
BeforeCommit = Callable[[str, str], None]


class CommitReport(NamedTuple):
    """Hold the commit that HEAD is at now, and the end of git's output, without secrets.

    If it is not `is_ok`, there is no new commit, and `cause` says why cub ended git, if it did.
    """

    head: str
    output: str
    is_ok: bool
    cause: str


class CheckedTree(NamedTuple):
    """Identify the tree that checks have seen, and the commit it is based on; "" for none."""

    base: str
    tree: str


class _Tip(NamedTuple):
    """Hold the commit that HEAD is at, "" before the first one; its tree, and its parents."""

    commit: str
    tree: str
    parents: tuple[str, ...] = ()


def commit_paths(
    worktree: Worktree,
    paths: Sequence[str],
    extra_paths: Sequence[str],
    message: str,
    environ: Mapping[str, str],
    limits: TimeLimits,
    checked_tree: CheckedTree | None = None,
    before_commit: BeforeCommit | None = None,
) -> CommitReport:
    """Commit `paths` as they are on disk, and those of `extra_paths` that git does not ignore.

    With `checked_tree`, the paths are committed as in its tree, and every other one as in its base,
    although HEAD may have others by now. If there are paths, or something was checked, and nothing
    of that differs from HEAD, `extra_paths` alone make no commit.

    `before_commit` gets the parent and the tree of the commit before it is made. If hooks make
    another tree of it, the commit is undone, and has failed.

    Whatever else was staged is not any more. Nothing to commit is fine, and no commit.
    """
    reset_user_index(worktree, ends_operations=True)
    try:
        parent = _read_tip(worktree)
        tree = _stage_commit(worktree, parent, paths, extra_paths, checked_tree)
        if tree == parent.tree:
            return CommitReport(parent.commit, "", is_ok=True, cause="")
        if before_commit:
            before_commit(parent.commit, tree)
        report = _commit(worktree, message, environ, limits)
        report = _verify_commit(worktree, parent, tree, report) if report.is_ok else report
    except CubError as error:
        text = mask_text("\n".join([error.message, *error.details]))
        report = CommitReport("", text[-_MAX_OUTPUT:], is_ok=False, cause="")
    except BaseException:
        run_git(worktree.toplevel, "reset", "--quiet", check=False)
        raise
    if not report.is_ok:
        run_git(worktree.toplevel, "reset", "--quiet")
    return report if report.head else report._replace(head=_read_tip(worktree).commit)


def explain_missing_identity(worktree: Worktree, environ: Mapping[str, str]) -> str:
    """Return what git says if it does not know who commits; "" if it does."""
    for name in ("GIT_COMMITTER_IDENT", "GIT_AUTHOR_IDENT"):
        result = try_git(worktree.toplevel, "var", name, environ=strip_git_variables(environ))
        if result.exit_code:
            return decode_output(result.stderr).strip()
    return ""


def _stage_commit(
    worktree: Worktree,
    parent: _Tip,
    paths: Sequence[str],
    extra_paths: Sequence[str],
    checked_tree: CheckedTree | None,
) -> str:
    """Stage what is to be committed, and return its tree: that of the parent if there is nothing.

    `extra_paths` are not looked at if there are paths, or a checked tree, and nothing differs.
    """
    if checked_tree is None:
        _stage(worktree, paths)
    else:
        _stage_from(worktree, checked_tree.tree, paths)
        if checked_tree.base != parent.commit:
            _stage_others(worktree, checked_tree.base, parent.commit, {*paths, *extra_paths})
    # If no one else committed, and paths differ, so does what is staged.
    differs = bool(paths) and checked_tree is not None and checked_tree.base == parent.commit
    if (paths or checked_tree) and not differs and _write_staged_tree(worktree) == parent.tree:
        return parent.tree
    _stage(worktree, _filter_ignored(worktree, extra_paths))
    return _write_staged_tree(worktree)


def _stage(worktree: Worktree, paths: Sequence[str]) -> None:
    present, gone = list[str](), list[str]()
    for path in dict.fromkeys(paths):
        # What is missing goes with those that are there: git sees that itself, in one process.
        is_missing = not os.path.lexists(worktree.toplevel / path)
        is_missing = is_missing and not is_beyond_link(worktree.toplevel, path)
        (present if is_missing or _can_store(worktree, path) else gone).append(path)
    stage_files(worktree, present, gone, None)


def _stage_others(worktree: Worktree, base: str, commit: str, known: Collection[str]) -> None:
    """Stage what others have committed since, and no check has seen, as it was before."""
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none")
    ends = (base, commit) if base else ("--root", "--no-commit-id", commit)
    listed = split_nul(run_git(worktree.toplevel, *words, *ends))
    _stage_from(worktree, base, [path for path in listed if path not in known])


def _stage_from(worktree: Worktree, tree: str, paths: Sequence[str]) -> None:
    """Stage paths as they are in a tree, whatever the files are; remove all without a tree."""
    if not paths:
        return
    environ = {"GIT_LITERAL_PATHSPECS": "1"}
    objects = {}
    for start in range(0, len(paths) if tree else 0, _MAX_ARGUMENTS):
        some = paths[start : start + _MAX_ARGUMENTS]
        words = ("ls-tree", "-z", tree, "--", *some)
        for line in split_nul(run_git(worktree.toplevel, *words, environ=environ)):
            description, _, path = line.partition("\t")
            mode, kind, oid = description.split()
            if kind != "tree":  # a folder may stand in the place of a file
                objects[path] = mode, oid
    stage_objects(worktree, objects, [path for path in paths if path not in objects], None)


def _can_store(worktree: Worktree, path: str) -> bool:
    """Return whether git can store what is there: a file, a link, a repository."""
    file_type = get_file_type(worktree.toplevel, path)
    if file_type == stat.S_IFDIR:
        return get_file_type(worktree.toplevel, f"{path}/.git") != 0
    return file_type in (stat.S_IFREG, stat.S_IFLNK)


def _filter_ignored(worktree: Worktree, paths: Sequence[str]) -> list[str]:
    """Drop the paths that git ignores, and those beyond a link; tracked files are not ignored."""
    ignored = list_ignored_paths(worktree.toplevel, paths)
    paths = [path for path in paths if not is_beyond_link(worktree.toplevel, path)]
    return [path for path in paths if path not in ignored]


def _read_tip(worktree: Worktree) -> _Tip:
    words = ("log", "-1", "--no-show-signature", "--format=%H%n%T%n%P", "HEAD", "--")
    result = try_git(worktree.toplevel, *words)
    if result.exit_code:  # no commit yet
        empty = run_git(worktree.toplevel, "hash-object", "-t", "tree", "--stdin")
        return _Tip("", decode_output(empty).strip())
    commit, tree, parents = decode_output(result.stdout).split("\n")[:3]
    return _Tip(commit, tree, tuple(parents.split()))


def _write_staged_tree(worktree: Worktree) -> str:
    return decode_output(run_git(worktree.toplevel, "write-tree")).strip()


def _verify_commit(
    worktree: Worktree, parent: _Tip, tree: str, report: CommitReport
) -> CommitReport:
    """Report the commit if it has the tree that was staged; else undo it, and report a failure."""
    now = _read_tip(worktree)
    if now.tree == tree:
        return report._replace(head=now.commit)
    if now.parents == ((parent.commit,) if parent.commit else ()):  # what others made is not ours
        back = ("HEAD", parent.commit) if parent.commit else ("-d", "HEAD")
        run_git(worktree.toplevel, "update-ref", *back, now.commit)
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", tree, now.tree)
    paths = join_first(split_nul(run_git(worktree.toplevel, *words)))
    text = f"a git hook changed the files to commit: {paths}; {_HINT}"
    return CommitReport("", text, is_ok=False, cause="")


def _commit(
    worktree: Worktree, message: str, environ: Mapping[str, str], limits: TimeLimits
) -> CommitReport:
    """Run `git commit`. If cub had to kill git, a lock that was not there before is git's own."""
    lock = find_git_dir(worktree.toplevel) / "index.lock"
    was_free = not lock.exists()
    own = {"GIT_EDITOR": "true", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1"}
    inherited = strip_git_variables(environ)
    inherited.pop("GPG_TTY", None)
    argv = (*_COMMIT, "--file=-", "--cleanup=whitespace")
    stdin = message.encode("utf-8", "surrogateescape")
    captured = run_and_capture(CommandSpec(argv, worktree.toplevel, inherited | own, stdin), limits)
    result = captured.result
    if result.cause and was_free:
        with suppress(OSError):
            lock.unlink()
    # Masked before it is truncated: a hook may print anything.
    output = mask_text(to_plain_text(captured.output.decode("utf-8", "replace"))).strip()
    is_ok = result.exit_code == 0 and not result.cause
    return CommitReport("", (output or result.start_error)[-_MAX_OUTPUT:], is_ok, result.cause)
