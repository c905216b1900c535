"""Make a work tree hold a snapshot again; only the paths that differ are touched."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cub.git import branches
from cub.git.file_modes import restore_file_modes
from cub.git.ignored_files import delete_ignored_backup
from cub.git.objects import SUBMODULE_MODE, list_tree_files
from cub.git.private_index import reset_user_index
from cub.git.process import join_nul, run_git, split_nul, try_git
from cub.git.repository_backup import delete_repository_backup
from cub.git.snapshot import DiffEntry, Snapshot, diff_trees
from cub.git.take_snapshot import SNAPSHOT_REF, take_snapshot
from cub.git.tool_artifacts import is_tool_artifact
from cub.git.untracked_blobs import set_modes, write_blobs
from cub.git.worktree import Worktree, get_file_type, list_ignored_paths

# They say how other files are written, and which are ignored: they come first.
_RULE_FILES = (".gitattributes", ".gitignore")


class RestoreReport(NamedTuple):
    """List refs to commits that no branch has any more, and paths that could not be put back.

    Those of submodules start with the submodule's path: `path/file`, `path:refs/…`.
    """

    rescued_refs: tuple[str, ...]
    failed_paths: tuple[str, ...]


def restore_snapshot(
    worktree: Worktree, before: Snapshot, current: Snapshot, excluded_paths: Collection[str] = ()
) -> RestoreReport:
    """Undo what came between two snapshots: files except `excluded_paths`, HEAD, the index, merges.

    A second call, or one after a crash, gives the same. Files that git ignores by the rules of
    before stay, even if they were added to the index since: they may be anybody's.
    """
    rescued, failed = list[str](), list[str]()
    for path, inner in before.submodules.items():
        if path not in current.submodules:
            failed.append(path)
            continue
        report = restore_snapshot(worktree.submodule(path), inner, current.submodules[path])
        rescued += [f"{path}:{ref}" for ref in report.rescued_refs]
        failed += [f"{path}/{name}" for name in report.failed_paths]
    skipped = {*failed, *excluded_paths}
    pairs = [pair for pair in _list_pairs(worktree, before, current) if pair.path not in skipped]
    _remove(worktree.toplevel, [path for path in current.oversized_files if path not in skipped])
    ignored = _restore_paths(worktree, before, pairs)
    if any(PurePosixPath(pair.path).name in _RULE_FILES for pair in pairs):
        # What was ignored by rules that are gone shows now.
        differing = _list_pairs(worktree, before, take_snapshot(worktree, before))
        new = [pair for pair in differing if not pair.old_mode and pair.path not in skipped]
        ignored |= _restore_paths(worktree, before, new)
    rescued += branches.restore_head(worktree, before)
    branches.abort_operations(worktree, before)
    reset_user_index(worktree)
    for _ in range(2):
        left = _list_unrestored(worktree, before, pairs, ignored)
        if not left:
            break
        for path in left:
            _make_writable(worktree.toplevel, path)
        for pair in pairs:  # one by one: what stops one must not stop the others
            if pair.path in left:
                _restore_paths(worktree, before, [pair])
    failed += _list_unrestored(worktree, before, pairs, ignored)
    skipped = {*failed, *excluded_paths}
    restore_snapshot_modes(worktree, before, exactly=True, excluded_paths=skipped)
    set_modes(worktree, before.untracked_modes, skipped)
    return RestoreReport(tuple(rescued), tuple(failed))


def restore_snapshot_modes(
    worktree: Worktree, before: Snapshot, *, exactly: bool, excluded_paths: Collection[str] = ()
) -> list[str]:
    """Give the files and folders of a snapshot, and of its submodules, the modes that they had.

    Unless `exactly`, the executable bit stays as it is. Return the paths that had other modes.
    """
    paths = []
    if before.file_modes is not None and os.name == "posix":
        paths = restore_file_modes(
            worktree, before.file_modes, before.tree, exactly=exactly, excluded_paths=excluded_paths
        )
    for path, inner in before.submodules.items():
        if get_file_type(worktree.toplevel, path) == stat.S_IFDIR:
            below = restore_snapshot_modes(worktree.submodule(path), inner, exactly=exactly)
            paths += [f"{path}/{name}" for name in below]
    return paths


def delete_new_files(worktree: Worktree, before: Snapshot) -> list[str]:
    """Delete files that were not there before and that git does not ignore; return their paths.

    Nothing is written for that: the disk may be full. Other kinds of entries stay.
    """
    old = {*before.untracked_paths, *list_tree_files(worktree.toplevel, before.tree)}
    words = ("ls-files", "-z", "--others", "--exclude-standard")
    paths = split_nul(try_git(worktree.toplevel, *words).stdout)
    new = [path for path in paths if path not in old and not worktree.is_excluded(path)]
    new = [path for path in new if get_file_type(worktree.toplevel, path) == stat.S_IFREG]
    for path in new:
        (worktree.toplevel / path).unlink(missing_ok=True)
    return new


def release_snapshot(worktree: Worktree) -> None:
    """Let git forget the files of the last snapshot, and delete the copies for restoring it."""
    delete_repository_backup(worktree)
    delete_ignored_backup(worktree)
    try_git(worktree.toplevel, "update-ref", "-d", SNAPSHOT_REF)


def _list_pairs(worktree: Worktree, before: Snapshot, current: Snapshot) -> list[DiffEntry]:
    """List what differs, without submodules that are there, or came."""
    unread = frozenset(before.untracked_paths)  # not in the tree: it could not be read then
    return [
        pair
        for pair in diff_trees(worktree, before.tree, current.tree).entries
        if pair.new_mode != SUBMODULE_MODE or pair.old_mode not in (0, SUBMODULE_MODE)
        if pair.old_mode or pair.path not in unread
    ]


def _restore_paths(
    worktree: Worktree, before: Snapshot, pairs: Sequence[DiffEntry]
) -> frozenset[str]:
    """Restore paths; return those that were added and stay, since git ignores them."""
    added = [pair.path for pair in pairs if not pair.old_mode]
    rules = [path for path in added if PurePosixPath(path).name in _RULE_FILES]
    others = [path for path in added if path not in rules]
    written = [
        pair for pair in pairs if pair.old_mode and not _is_nested(worktree.toplevel, pair.path)
    ]
    first = [pair for pair in written if PurePosixPath(pair.path).name in _RULE_FILES]
    absent = frozenset(before.missing_paths)
    stay = _list_ignored(worktree, rules) - absent
    _remove(worktree.toplevel, [path for path in rules if path not in stay])
    _write(worktree, before, first)
    stay |= _list_ignored(worktree, others) - absent
    _remove(worktree.toplevel, [path for path in others if path not in stay])
    _write(worktree, before, [pair for pair in written if pair not in first])
    _prune(worktree.toplevel, [path for path in added if path not in stay])
    return stay


def _list_ignored(worktree: Worktree, paths: Sequence[str]) -> frozenset[str]:
    artifacts = frozenset(path for path in paths if is_tool_artifact(path))
    return artifacts | list_ignored_paths(worktree.toplevel, paths, include_tracked=True)


def _remove(toplevel: Path, paths: Iterable[str]) -> None:
    """Remove files; what fails shows in the next snapshot."""
    for path in paths:
        if get_file_type(toplevel, path) not in (0, stat.S_IFDIR):
            with suppress(OSError):
                (toplevel / path).unlink()


def _write(worktree: Worktree, before: Snapshot, pairs: Sequence[DiffEntry]) -> None:
    blobs = {pair.path: pair.oid for pair in pairs if pair.path in before.untracked_modes}
    write_blobs(worktree, blobs, before.untracked_modes)
    check_out_paths(worktree, before.tree, [pair.path for pair in pairs if pair.path not in blobs])


def check_out_paths(worktree: Worktree, tree: str, paths: Sequence[str]) -> None:
    """Write files as git would check them out; other users never get more permissions."""
    if not paths:
        return
    index = {"GIT_INDEX_FILE": f"{worktree.index_file}.back"}
    run_git(worktree.toplevel, "read-tree", tree, environ=index)
    modes = {path: mode for path in paths if (mode := _get_mode(worktree.toplevel / path))}
    words = ("checkout-index", "--force", "--quiet", "-z", "--stdin")
    try_git(worktree.toplevel, *words, stdin=join_nul(paths), environ=index)
    Path(index["GIT_INDEX_FILE"]).unlink(missing_ok=True)
    for path, mode in modes.items():
        new = _get_mode(worktree.toplevel / path)
        if new & ~(mode | 0o700):
            with suppress(OSError):
                (worktree.toplevel / path).chmod(new & (mode | 0o700))


def _get_mode(path: Path) -> int:
    """Return the permission bits of a regular file; 0 for anything else."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return 0
    return stat.S_IMODE(mode) if stat.S_ISREG(mode) else 0


def _prune(toplevel: Path, paths: Iterable[str]) -> None:
    """Remove the folders that became empty."""
    for path in paths:
        for folder in PurePosixPath(path).parents[:-1]:
            if get_file_type(toplevel, str(folder)) != stat.S_IFDIR:
                continue
            try:
                (toplevel / folder).rmdir()
            except OSError:
                break


def _list_unrestored(
    worktree: Worktree, before: Snapshot, pairs: Sequence[DiffEntry], ignored: frozenset[str]
) -> list[str]:
    """List the paths that still are not what they were, without the ignored ones."""
    paths = {pair.path for pair in pairs} - ignored
    if not paths:
        return []
    now = take_snapshot(worktree, before)
    different = diff_trees(worktree, before.tree, now.tree).entries
    return [pair.path for pair in different if pair.path in paths]


def _is_nested(toplevel: Path, path: str) -> bool:
    """Return whether a repository of its own has come in the place of a file."""
    is_folder = get_file_type(toplevel, path) == stat.S_IFDIR
    return is_folder and os.path.lexists(toplevel / path / ".git")


def _make_writable(toplevel: Path, path: str) -> None:
    """Let the owner change a path, and the folders on the way to it."""
    for step in (*reversed(PurePosixPath(path).parents[:-1]), PurePosixPath(path)):
        if get_file_type(toplevel, str(step)) in (stat.S_IFDIR, stat.S_IFREG):
            with suppress(OSError):
                (toplevel / step).chmod((toplevel / step).lstat().st_mode | 0o700)
