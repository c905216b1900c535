"""Restore untracked files after an attempt, and keep what it had made of them as a patch."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cub.git.objects import LINK_MODE, TreeEntry, list_tree_files
from cub.git.private_index import read_untracked_blobs, stage_files, stage_objects
from cub.git.process import decode_output, run_git
from cub.git.snapshot import Snapshot, write_tree_patch
from cub.git.untracked_blobs import clear_path, is_readable, set_modes, store_blobs, write_blobs
from cub.git.worktree import Worktree, get_file_type, is_beyond_link

_MAX_PATCH_FILES = 1000  # of a folder that stands in the place of a file


class UntrackedReport(NamedTuple):
    """List the files that are restored, and those that could not be."""

    restored_files: tuple[str, ...] = ()
    failed_paths: tuple[str, ...] = ()


def restore_untracked(
    worktree: Worktree, before: Snapshot, patch: Path, excluded_paths: Collection[str] = ()
) -> UntrackedReport:
    """Make the files that were untracked what they were, except `excluded_paths`.

    If their content differs, `patch` gets what they had become. Unchanged files are not touched.
    """
    paths = [path for path in before.untracked_paths if path not in excluded_paths]
    if not paths:
        return UntrackedReport()
    modes = {path: mode for path, mode in before.untracked_modes.items() if path in set(paths)}
    set_modes(worktree, modes, ())  # an attempt may have made them unreadable
    changed = _list_changed(worktree, before, paths)
    if not changed:
        return UntrackedReport()
    files = list_tree_files(worktree.toplevel, before.tree)
    old = {path: files[path] for path in changed if path in files}
    _write_patch(worktree, old, changed, patch)
    _move_repositories(worktree, changed, patch.parent / "replaced")
    blobs = {path: entry.oid for path, entry in old.items() if path in modes}
    write_blobs(worktree, blobs, modes)
    for path, entry in old.items():
        if entry.mode == LINK_MODE:
            _write_link(worktree, path, entry.oid)
    failed = _list_changed(worktree, before, changed)
    return UntrackedReport(tuple(path for path in changed if path not in failed), tuple(failed))


def _list_changed(worktree: Worktree, before: Snapshot, paths: Sequence[str]) -> list[str]:
    """List the paths that do not hold what they held."""
    entries = list_tree_files(worktree.toplevel, before.tree)
    readable = [path for path in paths if is_readable(worktree, path)]
    now = store_blobs(worktree, readable, read_untracked_blobs(worktree))
    different = []
    for path in paths:
        entry = entries.get(path)
        if entry is None:  # it could not be read before, so only its presence counts
            is_same = get_file_type(worktree.toplevel, path) != 0
        elif entry.mode == LINK_MODE:
            is_same = _read_link(worktree, path) == _read_blob(worktree, entry.oid)
        else:
            is_same = path in now and now[path].oid == entry.oid
        if not is_same:
            different.append(path)
    return different


def _write_patch(
    worktree: Worktree, old: Mapping[str, TreeEntry], changed: Sequence[str], patch: Path
) -> None:
    """Write a patch for `git apply` that makes of the files again what the attempt had made."""
    index = worktree.index_file.with_name(f"{worktree.index_file.name}.untracked")
    environ = {"GIT_INDEX_FILE": str(index)}
    index.parent.mkdir(parents=True, exist_ok=True)
    trees = []
    try:
        for entries in (old, None):
            index.unlink(missing_ok=True)
            if entries is not None:
                objects = {path: (f"{entry.mode:o}", entry.oid) for path, entry in entries.items()}
                stage_objects(worktree, objects, [], environ)
            else:
                _stage_current_files(worktree, changed, environ)
            written = run_git(worktree.toplevel, "write-tree", environ=environ)
            trees.append(decode_output(written).strip())
    finally:
        index.unlink(missing_ok=True)
    if trees[0] == trees[1]:
        return
    patch.parent.mkdir(parents=True, exist_ok=True)
    with patch.open("ab") as file:
        write_tree_patch(worktree, trees[0], trees[1], file)


def _stage_current_files(
    worktree: Worktree, paths: Sequence[str], environ: Mapping[str, str]
) -> None:
    """Stage what stands in the place of files: bytes, links, folders, or what is in the way."""
    names = (name for path in paths for name in _list_blocking_paths(worktree, path))
    present = list(dict.fromkeys(names))
    readable = [path for path in present if is_readable(worktree, path)]
    blobs = store_blobs(worktree, readable, {}).items()
    stage_objects(worktree, {path: (blob.git_mode, blob.oid) for path, blob in blobs}, [], environ)
    links = [path for path in present if get_file_type(worktree.toplevel, path) == stat.S_IFLNK]
    stage_files(worktree, links, [], environ)


def _list_blocking_paths(worktree: Worktree, path: str) -> Iterator[str]:
    match get_file_type(worktree.toplevel, path):
        case stat.S_IFREG | stat.S_IFLNK:
            yield path
        case stat.S_IFDIR if not _holds_repository(worktree.toplevel / path):
            yield from list(_walk(worktree.toplevel, path))[:_MAX_PATCH_FILES]
        case 0:
            for folder in reversed(PurePosixPath(path).parents[:-1]):
                if get_file_type(worktree.toplevel, str(folder)) in (stat.S_IFREG, stat.S_IFLNK):
                    yield str(folder)


def _walk(toplevel: Path, path: str) -> Iterator[str]:
    for folder, _, names in os.walk(toplevel / path):
        for name in names:
            yield (Path(folder) / name).relative_to(toplevel).as_posix()


def _holds_repository(folder: Path) -> bool:
    return any(".git" in (*folders, *names) for _, folders, names in os.walk(folder))


def _move_repositories(worktree: Worktree, paths: Sequence[str], rescue_folder: Path) -> None:
    """Move repositories in the place of files away as a whole."""
    for path in paths:
        is_folder = get_file_type(worktree.toplevel, path) == stat.S_IFDIR
        if is_folder and _holds_repository(worktree.toplevel / path):
            target = rescue_folder / path.replace("/", "-")
            target.parent.mkdir(parents=True, exist_ok=True)
            with suppress(OSError):
                shutil.move(worktree.toplevel / path, target)


def _read_link(worktree: Worktree, path: str) -> bytes | None:
    if is_beyond_link(worktree.toplevel, path):
        return None
    try:
        return os.fsencode((worktree.toplevel / path).readlink())
    except (OSError, ValueError):
        return None


def _read_blob(worktree: Worktree, oid: str) -> bytes:
    return run_git(worktree.toplevel, "cat-file", "blob", oid)


def _write_link(worktree: Worktree, path: str, oid: str) -> None:
    with suppress(OSError):
        clear_path(worktree.toplevel, path)
        (worktree.toplevel / path).unlink(missing_ok=True)
        (worktree.toplevel / path).symlink_to(os.fsdecode(_read_blob(worktree, oid)))
