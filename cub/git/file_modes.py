"""The permission bits of files and folders, which git keeps but one of: noted, and put back."""

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
    """What most files, programs and folders have, None where there are none; and the
    `exceptions`.
    """

    file_mode: int | None = None
    program_mode: int | None = None
    folder_mode: int | None = None
    exceptions: Mapping[str, int] = {}

    def find_usual_mode(self, kind: int) -> int | None:
        """What most of a kind had; None if there was none."""
        return {_FILE: self.file_mode, _PROGRAM: self.program_mode, _FOLDER: self.folder_mode}[kind]


def read_file_modes(worktree: Worktree, tree: str) -> FileModes:
    """What the files of a tree have now, and the folders that hold them; "" is the top."""
    usual: dict[int, int | None] = {}
    found = dict[int, list[tuple[str, int]]]()
    for kind, paths in _list_paths_by_type(worktree.toplevel, tree).items():
        found[kind] = modes = list(_modes(worktree, kind, paths))
        usual[kind] = _most_common(mode for _, mode in modes)
    others = {path: mode for kind in found for path, mode in found[kind] if mode != usual[kind]}
    return FileModes(usual[_FILE], usual[_PROGRAM], usual[_FOLDER], others)


def restore_file_modes(
    worktree: Worktree,
    file_modes: FileModes,
    tree: str,
    *,
    exactly: bool,
    excluded_paths: Collection[str] = (),
) -> list[str]:
    """Give files and folders of a tree what they had; the paths that had something else. Those
    that are `excluded_paths` stay as they are.

    Unless `exactly`, a readable file stays a program, or none, as it is: git keeps that. No link
    is followed. What fails shows in the look afterwards.
    """
    changed = []
    for kind, paths in _list_paths_by_type(worktree.toplevel, tree).items():
        usual = file_modes.find_usual_mode(kind)
        for path, now in _modes(worktree, kind, paths):
            if now == usual and path not in file_modes.exceptions:
                continue
            wanted = file_modes.exceptions.get(path, usual)
            if wanted is not None and kind != _FOLDER and not exactly:
                wanted = _with_use(wanted, now)
            if (
                wanted in (None, now)
                or path in excluded_paths
                or is_beyond_link(worktree.toplevel, path)
            ):
                continue
            changed.append(path or ".")
            with suppress(OSError):
                (worktree.toplevel / path).chmod(wanted)
    return changed


def make_folders_readable(worktree: Worktree, paths: Sequence[str]) -> bool:
    """Let the owner look into folders, and into those in them; whether there was one to open."""
    opened = False
    for path in paths:
        if is_beyond_link(worktree.toplevel, path) or worktree.is_excluded(path):
            continue
        for folder in _list_unreadable_folders(worktree.toplevel / path):
            with suppress(OSError):
                folder.chmod(stat.S_IMODE(folder.lstat().st_mode) | stat.S_IRWXU)
                opened = True
    return opened


def _list_unreadable_folders(folder: Path) -> Iterator[Path]:
    """The folders that can't be looked into; those in one of them come once it was opened."""
    try:
        found = folder.lstat().st_mode
        if not stat.S_ISDIR(found):
            return
        if found & stat.S_IRWXU != stat.S_IRWXU:
            yield folder
        inner = sorted(folder.iterdir())
    except OSError:
        return
    for path in inner:
        yield from _list_unreadable_folders(path)


@lru_cache(maxsize=4)
def _list_paths_by_type(toplevel: Path, tree: str) -> dict[int, list[str]]:
    """Folders come first, the outer ones before those in them."""
    folders, files, programs = {""}, list[str](), list[str]()
    for path, entry in list_tree_files(toplevel, tree).items():
        if entry.mode in (_FILE, _PROGRAM):
            (files if entry.mode == _FILE else programs).append(path)
        folder = path
        while (folder := folder.rpartition("/")[0]) not in folders:
            folders.add(folder)
    return {_FOLDER: sorted(folders), _FILE: files, _PROGRAM: programs}


def _modes(worktree: Worktree, kind: int, paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    """What is there of this kind. Thousands are looked at, each time: it has to be quick."""
    start, lstat, type_ = f"{worktree.toplevel}/", os.lstat, stat.S_IFMT(kind)
    for path in paths:
        try:
            mode = lstat(start + path).st_mode
        except (OSError, ValueError):
            continue
        if mode & 0o170000 == type_:
            yield path, mode & 0o7777


def _with_use(wanted: int, now: int) -> int:
    """Rights with those to run the file as they are now: for all who may read it, or for none."""
    if not now & 0o400 or bool(now & 0o100) is bool(wanted & 0o100):
        return wanted
    return wanted | (wanted & 0o444) >> 2 if now & 0o100 else wanted & ~_EXECUTABLE


def _most_common(modes: Iterable[int]) -> int | None:
    counted = Counter(modes).most_common(1)
    return counted[0][0] if counted else None
