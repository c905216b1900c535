"""Record and restore the permission bits of files and folders; git stores only one of them."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from cub.git.objects import list_tree_files
from cub.git.worktree import Worktree, is_beyond_link

_FILE, _PROGRAM, _FOLDER = 0o100644, 0o100755, 0o040000
_EXECUTABLE = 0o111


class FileModes(NamedTuple):
    """Hold the modes of most files, programs and folders, None for none; and the `exceptions`."""

    file_mode: int | None = None
    program_mode: int | None = None
    folder_mode: int | None = None
    exceptions: Mapping[str, int] = {}

    def find_usual_mode(self, kind: int) -> int | None:
        """Return the mode that most of a kind had; None if there was none."""
        return {_FILE: self.file_mode, _PROGRAM: self.program_mode, _FOLDER: self.folder_mode}[kind]


def read_file_modes(worktree: Worktree, tree: str) -> FileModes:
    """Read the modes of the files of a tree, and of their folders; "" is the top."""
    usual: dict[int, int | None] = {}
    exceptions: dict[str, int] = {}
    for kind, paths in _list_paths_by_type(worktree.toplevel, tree).items():
        modes = list(_read_modes(worktree, kind, paths))
        counts = Counter(mode for _, mode in modes).most_common(1)
        usual[kind] = counts[0][0] if counts else None
        exceptions |= {path: mode for path, mode in modes if mode != usual[kind]}
    return FileModes(usual[_FILE], usual[_PROGRAM], usual[_FOLDER], exceptions)


def restore_file_modes(
    worktree: Worktree,
    file_modes: FileModes,
    tree: str,
    *,
    exactly: bool,
    excluded_paths: Collection[str] = (),
) -> list[str]:
    """Give files and folders of a tree the modes they had, except `excluded_paths`; return the
    paths that had other modes.

    Unless `exactly`, a readable file keeps its executable bit: git stores that. No link is
    followed. What fails shows in the next snapshot.
    """
    changed = []
    for kind, paths in _list_paths_by_type(worktree.toplevel, tree).items():
        usual = file_modes.find_usual_mode(kind)
        for path, now in _read_modes(worktree, kind, paths):
            mode = file_modes.exceptions.get(path, usual)
            if mode is not None and mode != now and kind != _FOLDER and not exactly:
                mode = _keep_executable_bit(mode, now)
            if mode in (None, now) or path in excluded_paths:
                continue
            if is_beyond_link(worktree.toplevel, path):
                continue
            changed.append(path or ".")
            with suppress(OSError):
                (worktree.toplevel / path).chmod(mode)
    return changed


def make_folders_readable(worktree: Worktree, paths: Sequence[str]) -> bool:
    """Let the owner list folders, and those in them; return whether one was made readable."""
    has_changed = False
    for path in paths:
        if is_beyond_link(worktree.toplevel, path) or worktree.is_excluded(path):
            continue
        for folder in _list_unreadable_folders(worktree.toplevel / path):
            with suppress(OSError):
                folder.chmod(stat.S_IMODE(folder.lstat().st_mode) | stat.S_IRWXU)
                has_changed = True
    return has_changed


def _list_unreadable_folders(folder: Path) -> Iterator[Path]:
    """Yield folders that can't be listed; those in them come once the caller made them readable."""
    try:
        mode = folder.lstat().st_mode
        if not stat.S_ISDIR(mode):
            return
        if mode & stat.S_IRWXU != stat.S_IRWXU:
            yield folder
        inner = sorted(folder.iterdir())
    except OSError:
        return
    for path in inner:
        yield from _list_unreadable_folders(path)


@lru_cache(maxsize=4)
def _list_paths_by_type(toplevel: Path, tree: str) -> dict[int, list[str]]:
    """Return folders first, the outer ones before those in them."""
    folders, files, programs = {""}, list[str](), list[str]()
    for path, entry in list_tree_files(toplevel, tree).items():
        if entry.mode in (_FILE, _PROGRAM):
            (files if entry.mode == _FILE else programs).append(path)
        folder = path
        while (folder := folder.rpartition("/")[0]) not in folders:
            folders.add(folder)
    return {_FOLDER: sorted(folders), _FILE: files, _PROGRAM: programs}


def _read_modes(worktree: Worktree, kind: int, paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield what is there of this kind; there are thousands, so this has to be fast."""
    start, lstat, type_ = f"{worktree.toplevel}/", os.lstat, stat.S_IFMT(kind)
    for path in paths:
        try:
            mode = lstat(start + path).st_mode
        except (OSError, ValueError):
            continue
        if mode & 0o170000 == type_:
            yield path, mode & 0o7777


def _keep_executable_bit(mode: int, now: int) -> int:
    """Return a mode with the executable bits as they are now: for all who may read it, or none."""
    if not now & 0o400 or bool(now & 0o100) is bool(mode & 0o100):
        return mode
    return mode | (mode & 0o444) >> 2 if now & 0o100 else mode & ~_EXECUTABLE
