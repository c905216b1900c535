"""Committing exactly some paths, with the person's hooks, signature and identity.

What was checked is what is committed: the commit has the tree that was staged, whatever hooks did.
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
from cub.git.process import (
    decode_output,
    join_nul,
    run_git,
    split_nul,
    strip_git_variables,
    try_git,
)
from cub.git.worktree import Worktree, find_git_dir, get_file_type, is_beyond_link
from cub.masking import mask_text
from cub.processes.command import CommandSpec, TimeLimits
from cub.processes.runner import run_and_capture
from cub.text import join_first

# `git commit` may start a tidying process that would outlive it, and asks a monitor what changed.
_NO_MAINTENANCE = ("-c", "maintenance.auto=false", "-c", "gc.auto=0", "-c", "core.fsmonitor=false")
_COMMIT = ("git", "--no-pager", *_NO_MAINTENANCE, "commit", "--quiet")
_AT_ONCE = 500  # paths on a command line
_TAIL = 4000  # characters of what git and its hooks said
_HINT = "no check has seen that, so let the hook only look, or do its work in the attempt"
# Told the parent ("" for none) and the tree of a commit that is about to be made.
BeforeCommit = Callable[[str, str], None]


class CommitReport(NamedTuple):
    """The commit that HEAD is at now, and the end of what was said, without secrets.

    If it is not `is_ok`, there is no new commit, and `cause` says why cub ended git, if it did.
    """

    head: str
    output: str
    is_ok: bool
    cause: str


class CheckedTree(NamedTuple):
    """What checks have seen: `tree`, made on the files of the commit `base`, which is "" if there
    was none.
    """

    base: str
    tree: str


class _Tip(NamedTuple):
    """The commit that HEAD is at, "" before the first one; its tree, and its parents."""

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
    although HEAD may have others by now. What goes along makes no commit where there are paths, or
    something was checked, and nothing of that differs from HEAD.

    `before_commit` is told the parent and the tree of the commit before it is made. If hooks make
    another tree of it, the commit is taken back, and has failed.

    Whatever else was staged is not any more. Nothing to commit is fine, and no commit.
    """
    reset_user_index(worktree, ends_operations=True)
    try:
        parent = _tip(worktree)
        _stage(worktree, paths) if checked_tree is None else _stage_from(
            worktree, checked_tree.tree, paths
        )
        if checked_tree and checked_tree.base != parent.commit:
            _stage_others(worktree, checked_tree.base, parent.commit, {*paths, *extra_paths})
        # Where nobody else committed, and paths differ, so does what is staged.
        differs = bool(paths) and checked_tree is not None and checked_tree.base == parent.commit
        if (paths or checked_tree) and not differs and _staged_tree(worktree) == parent.tree:
            return CommitReport(parent.commit, "", is_ok=True, cause="")
        _stage(worktree, _filter_ignored(worktree, extra_paths))
        tree = _staged_tree(worktree)
        if tree == parent.tree:
            return CommitReport(parent.commit, "", is_ok=True, cause="")
        if before_commit:
            before_commit(parent.commit, tree)
        done = _commit(worktree, message, environ, limits)
        done = _verify_commit(worktree, parent, tree, done) if done.is_ok else done
    except CubError as error:
        done = CommitReport(
            "", mask_text("\n".join([error.message, *error.details]))[-_TAIL:], False, ""
        )
    except BaseException:
        run_git(worktree.toplevel, "reset", "--quiet", check=False)
        raise
    if not done.is_ok:
        run_git(worktree.toplevel, "reset", "--quiet")
    return done if done.head else done._replace(head=_tip(worktree).commit)


def explain_missing_identity(worktree: Worktree, environ: Mapping[str, str]) -> str:
    """What git says if it does not know who commits; "" if it does."""
    for name in ("GIT_COMMITTER_IDENT", "GIT_AUTHOR_IDENT"):
        answer = try_git(worktree.toplevel, "var", name, environ=strip_git_variables(environ))
        if answer.exit_code:
            return decode_output(answer.stderr).strip()
    return ""


def _stage(worktree: Worktree, paths: Sequence[str]) -> None:
    there, gone = list[str](), list[str]()
    for path in dict.fromkeys(paths):
        # What is missing goes with those that are there: git sees that itself, in one process.
        has_entry = os.path.lexists(worktree.toplevel / path) or is_beyond_link(
            worktree.toplevel, path
        )
        (gone if has_entry and not _is_file(worktree, path) else there).append(path)
    stage_files(worktree, there, gone, None)


def _stage_others(worktree: Worktree, base: str, commit: str, known: Collection[str]) -> None:
    """What somebody has committed since, and nobody has checked, is taken back."""
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none")
    ends = (base, commit) if base else ("--root", "--no-commit-id", commit)
    listed = split_nul(run_git(worktree.toplevel, *words, *ends))
    _stage_from(worktree, base, [path for path in listed if path not in known])


def _stage_from(worktree: Worktree, tree: str, paths: Sequence[str]) -> None:
    """Stage paths as they are in a tree, although somebody may have changed the files since; all
    of them are gone if there is no tree.
    """
    if not paths:
        return
    around = {"GIT_LITERAL_PATHSPECS": "1"}
    known = {}
    for start in range(0, len(paths) if tree else 0, _AT_ONCE):
        some = paths[start : start + _AT_ONCE]
        for line in split_nul(
            run_git(worktree.toplevel, "ls-tree", "-z", tree, "--", *some, environ=around)
        ):
            about, _, path = line.partition("\t")
            if (words := about.split())[1] != "tree":  # there is a folder in the place of a file
                known[path] = words
    gone = [path for path in paths if path not in known]
    stage_objects(
        worktree, {path: (mode, oid) for path, (mode, _, oid) in known.items()}, gone, None
    )


def _is_file(worktree: Worktree, path: str) -> bool:
    """Whether git has a word for what is there: a file, a link, a repository."""
    found = get_file_type(worktree.toplevel, path)
    if found == stat.S_IFDIR:
        return get_file_type(worktree.toplevel, f"{path}/.git") != 0
    return found in (stat.S_IFREG, stat.S_IFLNK)


def _filter_ignored(worktree: Worktree, paths: Sequence[str]) -> list[str]:
    """Tracked files are never ignored."""
    asked = [path for path in paths if not is_beyond_link(worktree.toplevel, path)]
    if not asked:
        return []
    answer = try_git(worktree.toplevel, "check-ignore", "-z", "--stdin", stdin=join_nul(asked))
    ignored = set(split_nul(answer.stdout))
    return [path for path in asked if path not in ignored]


def _tip(worktree: Worktree) -> _Tip:
    words = ("log", "-1", "--no-show-signature", "--format=%H%n%T%n%P", "HEAD", "--")
    answer = try_git(worktree.toplevel, *words)
    if answer.exit_code:  # no commit yet
        nothing = run_git(worktree.toplevel, "hash-object", "-t", "tree", "--stdin")
        return _Tip("", decode_output(nothing).strip())
    commit, tree, parents = decode_output(answer.stdout).split("\n")[:3]
    return _Tip(commit, tree, tuple(parents.split()))


def _staged_tree(worktree: Worktree) -> str:
    return decode_output(run_git(worktree.toplevel, "write-tree")).strip()


def _verify_commit(
    worktree: Worktree, parent: _Tip, tree: str, report: CommitReport
) -> CommitReport:
    """The commit, if it is of the tree that was staged; else a failure, and no commit."""
    now = _tip(worktree)
    if now.tree == tree:
        return report._replace(head=now.commit)
    if now.parents == ((parent.commit,) if parent.commit else ()):  # what others made is not ours
        back = ("HEAD", parent.commit) if parent.commit else ("-d", "HEAD")
        run_git(worktree.toplevel, "update-ref", *back, now.commit)
    listed = run_git(
        worktree.toplevel, "diff-tree", "-r", "-z", "--name-only", "--no-renames", tree, now.tree
    )
    said = f"a hook of git's changed what was to be committed: {join_first(split_nul(listed))}"
    return CommitReport("", f"{said}; {_HINT}", is_ok=False, cause="")


def _commit(
    worktree: Worktree, message: str, environ: Mapping[str, str], limits: TimeLimits
) -> CommitReport:
    """A lock on the index that is there after we had to kill git is its own."""
    lock = find_git_dir(worktree.toplevel) / "index.lock"
    free = not lock.exists()
    own = {"GIT_EDITOR": "true", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1"}
    around = {
        name: value for name, value in strip_git_variables(environ).items() if name != "GPG_TTY"
    }
    argv = (*_COMMIT, "--file=-", "--cleanup=whitespace")
    said = message.encode("utf-8", "surrogateescape")
    done = run_and_capture(CommandSpec(argv, worktree.toplevel, around | own, said), limits)
    ended = done.result
    if ended.cause and free:
        with suppress(OSError):
            lock.unlink()
    # Masked before it is cut: a hook may print anything.
    output = (
        mask_text(to_plain_text(done.output.decode("utf-8", "replace"))).strip()
        or ended.start_error
    )
    return CommitReport("", output[-_TAIL:], ended.exit_code == 0 and not ended.cause, ended.cause)
