"""A copy of a repository's folder, out of an attempt's reach, from which it is repaired.

Objects never change, so they are linked and cost nothing; all else is small, and copied.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any

from cub.files.internal_files import replace_file
from cub.git.private_index import discard_index
from cub.git.worktree import Worktree, find_common_dir, find_git_dir

_MOST = 50_000  # files
_LARGEST = 4 << 20  # bytes of a file that is no object; git's index may be larger, and is made anew
_MOST_COPIED = 256 << 20  # bytes of objects, where they can't be linked
_SMALL = 64 << 10
_OBJECTS = "objects"
# In the repository's folder: numbers of folders are given again, so they tell too little.
_MARKER = "cub-run.id"
_PASSED_OVER = ("index", "cub-run.lock")
_KINDS = {stat.S_IFDIR: "folder", stat.S_IFREG: "file", stat.S_IFLNK: "link"}
StatSignature = list[int]


@dataclass(slots=True)
class RepositoryManifest:
    """What is in the backup: of folders what changes with their list of names, and the folders in
    them; of files what changes with their content. `left_out` counts the files that are not.
    """

    entry: list[str]
    common: str
    own: str
    marker: str = ""
    modes: dict[str, int] = field(default_factory=dict)
    folders: dict[str, tuple[StatSignature, list[str]]] = field(default_factory=dict)
    files: dict[str, StatSignature] = field(default_factory=dict)
    ids: dict[str, StatSignature] = field(default_factory=dict)
    count: int = 0
    copied: int = 0
    left_out: int = 0


def make_backup_folder_path(worktree: Worktree) -> Path:
    """Where the copy is: beside cub's own index."""
    return worktree.index_file.with_name(f"{worktree.index_file.name}.backup")


def back_up_repository(worktree: Worktree) -> list[str]:
    """Bring the copy up to date; what there is to tell."""
    common = find_common_dir(worktree.toplevel)
    entry = _entry(worktree.toplevel)
    if common is None or not entry or not common.is_dir():
        return []
    backup, own = make_backup_folder_path(worktree), find_git_dir(worktree.toplevel)
    old = _read(backup)
    known = old if old and (old.common, old.entry) == (str(common), entry) else None
    if known is None:
        shutil.rmtree(backup, ignore_errors=True)
    kept = RepositoryManifest(entry, str(common), str(own))
    if known:
        kept.count, kept.copied = known.count, known.copied
    # Runs in other work trees go by the same marker, so it stays.
    kept.marker = _content(common / _MARKER)
    if not kept.marker:
        kept.marker = token_hex()
        replace_file(common / _MARKER, [kept.marker.encode()])
    _identify(worktree, kept)
    _FolderCopier(common, backup, known or RepositoryManifest([], "", ""), kept).folder("")
    for name in (known.files if known else {}).keys() - kept.files.keys():
        (backup / name).unlink(missing_ok=True)
    _write(backup, kept)
    if not kept.left_out or (known and known.left_out):
        return []
    return [f"{kept.left_out} files of git's are not kept: they could not be put back if destroyed"]


def repair_repository(worktree: Worktree, rescue_folder: Path) -> str:
    """Put back what is missing of a repository; what was wrong with it, "" if nothing was.

    What stands in its place is moved `rescue_folder`. A second call, or one after a crash, does the
    rest.
    """
    backup = make_backup_folder_path(worktree)
    kept = _read(backup)
    if kept is None:
        return ""
    common, own = Path(kept.common), Path(kept.own)
    _restore_modes(kept)
    is_other = _entry(worktree.toplevel) != kept.entry
    is_broken = is_other or not _is_whole(kept, common) or not _is_valid_head(own / "HEAD")
    if is_broken:
        (backup / "broken").touch()
    if not (backup / "broken").exists():
        _link_back(kept, common, backup)
        return ""
    _rebuild(worktree, kept, backup, rescue_folder)  # also where a kill came in between
    _link_back(kept, common, backup)
    discard_index(worktree)  # what it names may be gone since
    kept.entry = _entry(worktree.toplevel)
    _identify(worktree, kept)
    _write(backup, kept)
    (backup / "broken").unlink(missing_ok=True)
    return "the attempt destroyed or replaced the repository, which is back as it was"


def delete_repository_backup(worktree: Worktree) -> None:
    """Remove the copy, once no attempt is under way."""
    shutil.rmtree(make_backup_folder_path(worktree), ignore_errors=True)


@dataclass(slots=True)
class _FolderCopier:
    source: Path
    backup: Path
    known: RepositoryManifest
    kept: RepositoryManifest

    def folder(self, name: str) -> None:
        """Bring a folder, and those in it, up to date."""
        # Here and in `_link_back` text, since pathlib costs more than a stat: git has 256 folders.
        path = f"{self.source}/{name}"
        with suppress(OSError):  # somebody else's git may take it away just now
            marks = _make_signature(os.stat(path))  # noqa: PTH116
            old = self.known.folders.get(name)
            of_objects = _OBJECTS in name.split("/")
            if old and of_objects and old[0] == marks:
                inner = old[1]
            else:
                (self.backup / "copy" / name).mkdir(parents=True, exist_ok=True)
                inner = list(self._files(name, path, of_objects=of_objects))
            self.kept.folders[name] = (marks, inner)
            for one in inner:
                self.folder(f"{name}/{one}".lstrip("/"))

    def _files(self, name: str, path: str, *, of_objects: bool) -> Iterator[str]:
        """Keep the files of a folder; returns the folders in it."""
        with os.scandir(path) as found:
            entries = sorted(found, key=lambda one: one.name)
        for one in entries:
            if one.is_dir(follow_symlinks=False):
                yield one.name
            elif one.is_file(follow_symlinks=False) and not one.name.endswith(".lock"):
                inner = f"{name}/{one.name}".lstrip("/")
                if of_objects:
                    self._link(inner, one)
                elif one.name not in _PASSED_OVER:
                    self._copy(inner, one)

    def _link(self, name: str, entry: os.DirEntry[str]) -> None:
        target = self.backup / "copy" / name
        if entry.name.startswith("tmp_") or target.exists():
            return
        if self.kept.count >= _MOST:
            self.kept.left_out += 1
            return
        try:
            target.hardlink_to(entry.path)
        except OSError:  # another file system, or one without links
            size = entry.stat().st_size
            if self.kept.copied + size > _MOST_COPIED:
                self.kept.left_out += 1
                return
            shutil.copy2(entry.path, target)
            self.kept.copied += size
        self.kept.count += 1

    def _copy(self, name: str, entry: os.DirEntry[str]) -> None:
        found = entry.stat(follow_symlinks=False)
        if found.st_size > _LARGEST and entry.name != "packed-refs":
            return
        marks = [*_make_signature(found), found.st_size]
        target = f"copy/{name}"
        if self.known.files.get(target) != marks:
            shutil.copy2(entry.path, self.backup / target)
        self.kept.files[target] = marks


def _entry(toplevel: Path) -> list[str]:
    """What stands as `.git`: its kind, and what tells it from another one; [] for nothing."""
    path = toplevel / ".git"
    try:
        found = path.lstat()
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "")
        if kind == "folder":
            return [kind, f"{found.st_dev}:{found.st_ino}"]
        if kind == "link":
            return [kind, os.readlink(path)]  # noqa: PTH115 - a text that is not to be tidied
        return [kind, _content(path)] if kind else []
    except OSError:
        return []


def _content(path: Path) -> str:
    """The text of a small file; a pipe in its place would never let go."""
    try:
        if stat.S_ISREG(path.lstat().st_mode):
            with path.open("rb") as file:
                return file.read(_SMALL).decode("utf-8", "surrogateescape")
    except OSError:
        pass
    return ""


def _identify(worktree: Worktree, kept: RepositoryManifest) -> None:
    """Note which folders they are, so that others in their place show."""
    common = Path(kept.common)
    places = (
        worktree.toplevel / ".git",
        common,
        Path(kept.own),
        common / _OBJECTS,
        common / "refs",
    )
    for path in places:
        if path.is_dir() and not path.is_symlink():
            found = path.stat()
            kept.modes[os.fspath(path)] = stat.S_IMODE(found.st_mode)
            kept.ids[os.fspath(path)] = [found.st_dev, found.st_ino]


def _is_whole(kept: RepositoryManifest, common: Path) -> bool:
    """Whether the folders are those that they were."""
    for name, marks in kept.ids.items():
        try:
            found = Path(name).lstat()
        except OSError:
            return False
        if [found.st_dev, found.st_ino] != marks:
            return False
    return _content(common / _MARKER) == kept.marker


def _is_valid_head(path: Path) -> bool:
    """Whether git would take this for a repository."""
    said = _content(path).strip()
    return said.startswith("ref: refs/") or (len(said) >= 40 and said.isalnum())


def _restore_modes(kept: RepositoryManifest) -> None:
    for name in sorted(kept.modes):  # outer ones first
        path = Path(name)
        with suppress(OSError):
            found = path.lstat()
            if stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) != kept.modes[name]:
                path.chmod(kept.modes[name])


def _rebuild(
    worktree: Worktree, kept: RepositoryManifest, backup: Path, rescue_folder: Path
) -> None:
    """Have the folders and files of before, and keep what stands in their place."""
    common, entry = Path(kept.common), worktree.toplevel / ".git"
    if _entry(worktree.toplevel) != kept.entry and kept.entry[0] != "folder":
        _move(entry, rescue_folder)
        if kept.entry[0] == "link":
            entry.symlink_to(kept.entry[1])
        else:
            entry.write_text(kept.entry[1], encoding="utf-8", errors="surrogateescape")
    if not _is_same(kept, common):
        _move(common, rescue_folder)
    common.mkdir(parents=True, exist_ok=True)
    for name in sorted(kept.folders):
        folder = common / name
        if not folder.is_dir() or folder.is_symlink():
            _move(folder, rescue_folder)
            folder.mkdir()
    for name in kept.files:
        target = common / name.removeprefix("copy/")
        if not target.exists() or target == Path(kept.own) / "HEAD":
            with suppress(OSError):
                shutil.copy2(backup / name, target)


def _is_same(kept: RepositoryManifest, path: Path) -> bool:
    with suppress(OSError):
        found = path.lstat()
        is_same = [found.st_dev, found.st_ino] == kept.ids.get(os.fspath(path))
        return is_same and stat.S_ISDIR(found.st_mode) and _content(path / _MARKER) == kept.marker
    return False


def _move(path: Path, rescue_folder: Path) -> None:
    if not os.path.lexists(path):
        return
    target = rescue_folder / "repository"
    number = 1
    while os.path.lexists(target):
        number += 1
        target = rescue_folder / f"repository-{number}"
    rescue_folder.mkdir(parents=True, exist_ok=True)
    shutil.move(path, target)


def _link_back(kept: RepositoryManifest, common: Path, backup: Path) -> None:
    """Have the objects that were there; of folders with the same names nothing is looked at."""
    for name, (marks, _) in kept.folders.items():
        if _OBJECTS not in name.split("/"):
            continue
        with suppress(OSError):
            if _make_signature(os.stat(f"{kept.common}/{name}")) == marks:  # noqa: PTH116
                continue
        folder, copies = common / name, backup / "copy" / name
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            for copy in copies.iterdir():
                target = folder / copy.name
                if not copy.is_dir() and not os.path.lexists(target):
                    _link_or_copy(copy, target)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except OSError:
        shutil.copy2(source, target)


def _make_signature(found: os.stat_result) -> StatSignature:
    return [found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def _write(backup: Path, kept: RepositoryManifest) -> None:
    value = {name: getattr(kept, name) for name in RepositoryManifest.__slots__}
    backup.mkdir(parents=True, exist_ok=True)
    replace_file(backup / "kept.json", [json.dumps(value).encode()])


def _read(backup: Path) -> RepositoryManifest | None:
    try:
        value: Mapping[str, Any] = json.loads((backup / "kept.json").read_bytes())
        kept = RepositoryManifest(**value)
        kept.folders = {name: (marks, inner) for name, (marks, inner) in kept.folders.items()}
    except (OSError, ValueError, TypeError):
        return None
    return kept
