"""Making a work tree hold a snapshot again; only the paths that differ are touched."""

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
from cub.git.process import join_nul, make_git_error, run_git, split_nul, try_git
from cub.git.repository_backup import delete_repository_backup
from cub.git.snapshot import DiffEntry, Snapshot, diff_trees
from cub.git.take_snapshot import SNAPSHOT_REF, is_tool_artifact, take_snapshot
from cub.git.untracked_blobs import set_modes, write_blobs
from cub.git.worktree import Worktree, get_file_type, is_beyond_link

# They say how other files are written, and which are nobody's business: they come first.
_RULE_FILES = (".gitattributes", ".gitignore")


class RestoreReport(NamedTuple):
    """Refs to commits that no branch has any more, and paths that could not be put back.

    Those of submodules have the submodule's path in front: `path/file`, `path:refs/…`.
    """

    rescued_refs: tuple[str, ...]
    failed_paths: tuple[str, ...]


def restore_snapshot(
    worktree: Worktree, before: Snapshot, current: Snapshot, excluded_paths: Collection[str] = ()
) -> RestoreReport:
    """Undo what came between two snapshots: files, HEAD, the index, merges that were begun.

    Paths that are `excluded_paths` stay as they are.

    A second call, or one after a crash, gives the same. Files that git ignores by the rules of
    before stay, even if they were added to the index meanwhile: nobody knows whose they are.
    """
    kept, failed = list[str](), list[str]()
    for path, inner in before.submodules.items():
        found = _restore_inner(worktree, path, inner, current.submodules.get(path))
        kept += found.rescued_refs
        failed += found.failed_paths
    leave = {*failed, *excluded_paths}
    pairs = [pair for pair in _pairs(worktree, before, current) if pair.path not in leave]
    _remove(worktree.toplevel, [path for path in current.oversized_files if path not in leave])
    ours = _restore_paths(worktree, before, pairs)
    if any(PurePosixPath(pair.path).name in _RULE_FILES for pair in pairs):
        # What was ignored by rules that are gone shows now.
        shown = [
            pair
            for pair in _pairs(worktree, before, take_snapshot(worktree, before))
            if not pair.old_mode
        ]
        ours |= _restore_paths(worktree, before, [pair for pair in shown if pair.path not in leave])
    kept += branches.restore_head(worktree, before)
    branches.abort_operations(worktree, before)
    reset_user_index(worktree)
    for _ in range(2):
        left = _list_unrestored(worktree, before, pairs, ours)
        if not left:
            break
        for path in left:
            _make_writable(worktree.toplevel, path)
        for pair in pairs:  # one by one: what stops one must not stop the others
            if pair.path in left:
                _restore_paths(worktree, before, [pair])
    failed += _list_unrestored(worktree, before, pairs, ours)
    restore_snapshot_modes(
        worktree, before, exactly=True, excluded_paths={*failed, *excluded_paths}
    )
    set_modes(worktree, before.untracked_modes, {*failed, *excluded_paths})
    return RestoreReport(tuple(kept), tuple(failed))


def restore_snapshot_modes(
    worktree: Worktree, before: Snapshot, *, exactly: bool, excluded_paths: Collection[str] = ()
) -> list[str]:
    """Give what a snapshot has, and what its submodules have, the rights that it had."""
    found = []
    if before.file_modes is not None and os.name == "posix":
        rights, tree = before.file_modes, before.tree
        found = restore_file_modes(
            worktree, rights, tree, exactly=exactly, excluded_paths=excluded_paths
        )
    for path, inner in before.submodules.items():
        if get_file_type(worktree.toplevel, path) == stat.S_IFDIR:
            below = restore_snapshot_modes(worktree.submodule(path), inner, exactly=exactly)
            found += [f"{path}/{name}" for name in below]
    return found


def delete_new_files(worktree: Worktree, before: Snapshot) -> list[str]:
    """Delete files that were not there before and that git does not ignore; return their paths.

    Nothing is written for that: the disk may be full. Other kinds of entries stay.
    """
    known = {*before.untracked_paths, *list_tree_files(worktree.toplevel, before.tree)}
    words = ("ls-files", "-z", "--others", "--exclude-standard")
    paths = split_nul(try_git(worktree.toplevel, *words).stdout)
    new = [path for path in paths if path not in known and not worktree.is_excluded(path)]
    new = [path for path in new if get_file_type(worktree.toplevel, path) == stat.S_IFREG]
    for path in new:
        (worktree.toplevel / path).unlink(missing_ok=True)
    return new


def release_snapshot(worktree: Worktree) -> None:
    """Let git forget the files of the last snapshot, and delete the copies for restoring it."""
    delete_repository_backup(worktree)
    delete_ignored_backup(worktree)
    try_git(worktree.toplevel, "update-ref", "-d", SNAPSHOT_REF)


def _restore_inner(
    worktree: Worktree, path: str, before: Snapshot, current: Snapshot | None
) -> RestoreReport:
    if current is None:
        return RestoreReport((), (path,))
    done = restore_snapshot(worktree.submodule(path), before, current)
    return RestoreReport(
        tuple(f"{path}:{ref}" for ref in done.rescued_refs),
        tuple(f"{path}/{name}" for name in done.failed_paths),
    )


def _pairs(worktree: Worktree, before: Snapshot, current: Snapshot) -> list[DiffEntry]:
    """What is to be done. A submodule that is there, or came, is left to itself."""
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
    """Returns the added paths that stay."""
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
    litter = {path for path in paths if is_tool_artifact(path)}
    asked = [path for path in paths if not is_beyond_link(worktree.toplevel, path)]
    if not asked:
        return frozenset(litter)
    answer = try_git(
        worktree.toplevel, "check-ignore", "-z", "--stdin", "--no-index", stdin=join_nul(asked)
    )
    if answer.exit_code > 1:
        raise make_git_error("check-ignore", answer)
    return frozenset(litter.union(split_nul(answer.stdout)))


def _remove(toplevel: Path, paths: Iterable[str]) -> None:
    """What fails shows in the look afterwards."""
    for path in paths:
        if get_file_type(toplevel, path) not in (0, stat.S_IFDIR):
            with suppress(OSError):
                (toplevel / path).unlink()


def _write(worktree: Worktree, before: Snapshot, pairs: Sequence[DiffEntry]) -> None:
    raw = {pair.path: pair.oid for pair in pairs if pair.path in before.untracked_modes}
    write_blobs(worktree, raw, before.untracked_modes)
    _check_out(worktree, before.tree, [pair.path for pair in pairs if pair.path not in raw])


def _check_out(worktree: Worktree, tree: str, paths: Sequence[str]) -> None:
    """Write files as git would check them out; what others may do to them never grows."""
    if not paths:
        return
    index = {"GIT_INDEX_FILE": f"{worktree.index_file}.back"}
    run_git(worktree.toplevel, "read-tree", tree, environ=index)
    modes = {path: mode for path in paths if (mode := _mode(worktree.toplevel / path))}
    words = ("checkout-index", "--force", "--quiet", "-z", "--stdin")
    try_git(worktree.toplevel, *words, stdin=join_nul(paths), environ=index)
    Path(index["GIT_INDEX_FILE"]).unlink(missing_ok=True)
    for path, mode in modes.items():
        new = _mode(worktree.toplevel / path)
        if new & ~(mode | 0o700):
            with suppress(OSError):
                (worktree.toplevel / path).chmod(new & (mode | 0o700))


def _mode(path: Path) -> int:
    """The rights of a regular file; 0 for anything else."""
    try:
        found = path.lstat().st_mode
    except OSError:
        return 0
    return stat.S_IMODE(found) if stat.S_ISREG(found) else 0


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
    worktree: Worktree, before: Snapshot, pairs: Sequence[DiffEntry], ours: frozenset[str]
) -> list[str]:
    """The paths that still are not what they were."""
    todo = {pair.path for pair in pairs} - ours
    if not todo:
        return []
    now = take_snapshot(worktree, before)
    found = diff_trees(worktree, before.tree, now.tree).entries
    return [pair.path for pair in found if pair.path in todo]


def _is_nested(toplevel: Path, path: str) -> bool:
    """Whether a repository of its own has come in the place of a file."""
    return get_file_type(toplevel, path) == stat.S_IFDIR and os.path.lexists(
        toplevel / path / ".git"
    )


def _make_writable(toplevel: Path, path: str) -> None:
    """Let the owner change what is on the way to a path."""
    for step in (*reversed(PurePosixPath(path).parents[:-1]), PurePosixPath(path)):
        if get_file_type(toplevel, str(step)) in (stat.S_IFDIR, stat.S_IFREG):
            with suppress(OSError):
                (toplevel / step).chmod((toplevel / step).lstat().st_mode | 0o700)
