"""Copy a repository's folder out of an attempt's reach, and repair it from the copy.

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
from cub.files.read_files import read_prefix
from cub.files.stat_signature import StatSignature
from cub.git.private_index import discard_index
from cub.git.process import decode_output
from cub.git.worktree import Worktree, find_common_dir, find_git_dir

_MAX_FILES = 50_000
_MAX_COPIED_FILE = 4 << 20  # bytes of a file that is not an object; git's index may be larger
_MAX_COPIED_OBJECTS = 256 << 20  # bytes in all, where objects can't be linked
_MAX_TEXT = 64 << 10  # bytes
_OBJECTS = "objects"
# In the repository's folder: inode numbers are used again, so they identify too little.
_MARKER = "cub-run.id"
_SKIPPED_FILES = ("index", "cub-run.lock")
_KINDS = {stat.S_IFDIR: "folder", stat.S_IFREG: "file", stat.S_IFLNK: "link"}


@dataclass(slots=True)
class RepositoryManifest:
    """Describe the backup: folders with their signature and the folders in them, and files with
    their signature. `left_out` counts the files that are not in it.
    """

    entry: list[str]
    common: str
    own: str
    marker: str = ""
    modes: dict[str, int] = field(default_factory=dict)
    folders: dict[str, tuple[StatSignature, list[str]]] = field(default_factory=dict)
    files: dict[str, StatSignature] = field(default_factory=dict)
    ids: dict[str, list[int]] = field(default_factory=dict)
    count: int = 0
    copied: int = 0
    left_out: int = 0


def back_up_repository(worktree: Worktree) -> list[str]:
    """Bring the copy up to date; return lines for the person."""
    common, entry = find_common_dir(worktree.toplevel), _describe_entry(worktree.toplevel)
    if common is None or not entry or not common.is_dir():
        return []
    backup = make_backup_folder_path(worktree)
    old = _read(backup)
    if old is None or (old.common, old.entry) != (str(common), entry):
        shutil.rmtree(backup, ignore_errors=True)
        old = RepositoryManifest([], "", "")
    manifest = RepositoryManifest(entry, str(common), str(find_git_dir(worktree.toplevel)))
    manifest.count, manifest.copied = old.count, old.copied
    # Runs in other work trees go by the same marker, so it stays.
    manifest.marker = _read_text(common / _MARKER)
    if not manifest.marker:
        manifest.marker = token_hex()
        replace_file(common / _MARKER, [manifest.marker.encode()])
    _record_ids(worktree, manifest)
    _FolderCopier(common, backup, old, manifest).copy_folder("")
    for name in old.files.keys() - manifest.files.keys():
        (backup / name).unlink(missing_ok=True)
    _write(backup, manifest)
    if not manifest.left_out or old.left_out:
        return []
    count = manifest.left_out
    return [f"{count} of git's own files are not saved: cub could not restore them"]


def repair_repository(worktree: Worktree, rescue_folder: Path) -> str:
    """Put back what is missing of a repository; return what was wrong, "" if nothing was.

    What stands in its place is moved to `rescue_folder`. A second call, or one after a crash, does
    the rest.
    """
    backup = make_backup_folder_path(worktree)
    manifest = _read(backup)
    if manifest is None:
        return ""
    _restore_modes(manifest)
    is_other = _describe_entry(worktree.toplevel) != manifest.entry
    if is_other or not _is_whole(manifest) or not _is_valid_head(Path(manifest.own) / "HEAD"):
        (backup / "broken").touch()
    if not (backup / "broken").exists():
        _link_objects_back(manifest, backup)
        return ""
    _rebuild(worktree, manifest, backup, rescue_folder)  # also if it was killed on the way
    _link_objects_back(manifest, backup)
    discard_index(worktree)  # objects that it names may be gone
    manifest.entry = _describe_entry(worktree.toplevel)
    _record_ids(worktree, manifest)
    _write(backup, manifest)
    (backup / "broken").unlink(missing_ok=True)
    return "the attempt destroyed or replaced the repository, which is back as it was"


def delete_repository_backup(worktree: Worktree) -> None:
    """Remove the copy, once no attempt is under way."""
    shutil.rmtree(make_backup_folder_path(worktree), ignore_errors=True)


def make_backup_folder_path(worktree: Worktree) -> Path:
    """Return the folder of the copy, beside cub's own index."""
    return worktree.index_file.with_name(f"{worktree.index_file.name}.backup")


@dataclass(slots=True)
class _FolderCopier:
    source: Path
    backup: Path
    old: RepositoryManifest
    manifest: RepositoryManifest

    def copy_folder(self, name: str) -> None:
        """Bring a folder, and those in it, up to date."""
        # Here and in `_link_objects_back` text: pathlib costs more than a stat of 256 folders.
        path = f"{self.source}/{name}"
        with suppress(OSError):  # another git may remove it at this moment
            signature = StatSignature.from_stat(os.stat(path))  # noqa: PTH116
            old = self.old.folders.get(name)
            if old and _OBJECTS in name.split("/") and old[0] == signature:
                subfolders = old[1]
            else:
                (self.backup / "copy" / name).mkdir(parents=True, exist_ok=True)
                subfolders = list(self._copy_files(name, path))
            self.manifest.folders[name] = (signature, subfolders)
            for subfolder in subfolders:
                self.copy_folder(f"{name}/{subfolder}".lstrip("/"))

    def _copy_files(self, name: str, path: str) -> Iterator[str]:
        """Link or copy the files of a folder; yield the folders in it."""
        with os.scandir(path) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                inner = f"{name}/{entry.name}".lstrip("/")
                if entry.is_dir(follow_symlinks=False):
                    yield entry.name
                elif not entry.is_file(follow_symlinks=False) or entry.name.endswith(".lock"):
                    continue
                elif _OBJECTS in name.split("/"):
                    self._link(inner, entry)
                elif entry.name not in _SKIPPED_FILES:
                    self._copy(inner, entry)

    def _link(self, name: str, entry: os.DirEntry[str]) -> None:
        target = self.backup / "copy" / name
        if entry.name.startswith("tmp_") or target.exists():
            return
        if self.manifest.count >= _MAX_FILES:
            self.manifest.left_out += 1
            return
        try:
            target.hardlink_to(entry.path)
        except OSError:  # another file system, or one without links
            size = entry.stat().st_size
            if self.manifest.copied + size > _MAX_COPIED_OBJECTS:
                self.manifest.left_out += 1
                return
            shutil.copy2(entry.path, target)
            self.manifest.copied += size
        self.manifest.count += 1

    def _copy(self, name: str, entry: os.DirEntry[str]) -> None:
        signature = StatSignature.from_stat(entry.stat(follow_symlinks=False))
        if signature.size > _MAX_COPIED_FILE and entry.name != "packed-refs":
            return
        target = f"copy/{name}"
        if self.old.files.get(target) != signature:
            shutil.copy2(entry.path, self.backup / target)
        self.manifest.files[target] = signature


def _describe_entry(toplevel: Path) -> list[str]:
    """Return the kind of `.git`, and what identifies it; [] for nothing."""
    path = toplevel / ".git"
    try:
        status = path.lstat()
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "")
        if kind == "folder":
            return [kind, f"{status.st_dev}:{status.st_ino}"]
        if kind == "link":
            return [kind, os.readlink(path)]  # noqa: PTH115 - a text that is not to be tidied
        return [kind, _read_text(path)] if kind else []
    except OSError:
        return []


def _read_text(path: Path) -> str:
    """Return the text of a small file; "" for none."""
    try:
        return decode_output(read_prefix(os.fspath(path.parent), path.name, _MAX_TEXT))
    except OSError:
        return ""


def _record_ids(worktree: Worktree, manifest: RepositoryManifest) -> None:
    """Note which folders they are, so that others in their place show."""
    common = Path(manifest.common)
    own = Path(manifest.own)
    for path in (worktree.toplevel / ".git", common, own, common / _OBJECTS, common / "refs"):
        if path.is_dir() and not path.is_symlink():
            status = path.stat()
            manifest.modes[os.fspath(path)] = stat.S_IMODE(status.st_mode)
            manifest.ids[os.fspath(path)] = [status.st_dev, status.st_ino]


def _is_whole(manifest: RepositoryManifest) -> bool:
    """Return whether the folders are those that they were."""
    has_marker = _read_text(Path(manifest.common) / _MARKER) == manifest.marker
    return has_marker and all(_has_same_id(manifest, name) for name in manifest.ids)


def _has_same_id(manifest: RepositoryManifest, name: str) -> bool:
    try:
        status = Path(name).lstat()
    except OSError:
        return False
    return [status.st_dev, status.st_ino] == manifest.ids.get(name)


def _is_valid_head(path: Path) -> bool:
    """Return whether git would take this HEAD for that of a repository."""
    head = _read_text(path).strip()
    return head.startswith("ref: refs/") or (len(head) >= 40 and head.isalnum())


def _restore_modes(manifest: RepositoryManifest) -> None:
    for name in sorted(manifest.modes):  # outer ones first
        path = Path(name)
        with suppress(OSError):
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode) and stat.S_IMODE(mode) != manifest.modes[name]:
                path.chmod(manifest.modes[name])


def _rebuild(
    worktree: Worktree, manifest: RepositoryManifest, backup: Path, rescue_folder: Path
) -> None:
    """Make the folders and files of before again, and keep what stands in their place."""
    common, entry = Path(manifest.common), worktree.toplevel / ".git"
    if _describe_entry(worktree.toplevel) != manifest.entry and manifest.entry[0] != "folder":
        _move_aside(entry, rescue_folder)
        if manifest.entry[0] == "link":
            entry.symlink_to(manifest.entry[1])
        else:
            entry.write_text(manifest.entry[1], encoding="utf-8", errors="surrogateescape")
    is_same = _has_same_id(manifest, manifest.common) and common.is_dir()
    if not is_same or _read_text(common / _MARKER) != manifest.marker:
        _move_aside(common, rescue_folder)
    common.mkdir(parents=True, exist_ok=True)
    for name in sorted(manifest.folders):
        folder = common / name
        if not folder.is_dir() or folder.is_symlink():
            _move_aside(folder, rescue_folder)
            folder.mkdir()
    for name in manifest.files:
        target = common / name.removeprefix("copy/")
        if not target.exists() or target == Path(manifest.own) / "HEAD":
            with suppress(OSError):
                shutil.copy2(backup / name, target)


def _move_aside(path: Path, rescue_folder: Path) -> None:
    if not os.path.lexists(path):
        return
    target, number = rescue_folder / "repository", 1
    while os.path.lexists(target):
        number += 1
        target = rescue_folder / f"repository-{number}"
    rescue_folder.mkdir(parents=True, exist_ok=True)
    shutil.move(path, target)


def _link_objects_back(manifest: RepositoryManifest, backup: Path) -> None:
    """Link the objects that are gone; folders that did not change are passed over."""
    for name, (signature, _) in manifest.folders.items():
        if _OBJECTS not in name.split("/"):
            continue
        with suppress(OSError):
            status = os.stat(f"{manifest.common}/{name}")  # noqa: PTH116
            if StatSignature.from_stat(status) == signature:
                continue
        folder, copies = Path(manifest.common) / name, backup / "copy" / name
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            for copy in copies.iterdir():
                if not copy.is_dir() and not os.path.lexists(folder / copy.name):
                    _link_or_copy(copy, folder / copy.name)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except OSError:
        shutil.copy2(source, target)


def _write(backup: Path, manifest: RepositoryManifest) -> None:
    value = {name: getattr(manifest, name) for name in RepositoryManifest.__slots__}
    backup.mkdir(parents=True, exist_ok=True)
    replace_file(backup / "kept.json", [json.dumps(value).encode()])


def _read(backup: Path) -> RepositoryManifest | None:
    try:
        value: Mapping[str, Any] = json.loads((backup / "kept.json").read_bytes())
        manifest = RepositoryManifest(**value)
        folders, files = manifest.folders.items(), manifest.files.items()
        manifest.folders = {name: (StatSignature(*row), inner) for name, (row, inner) in folders}
        manifest.files = {name: StatSignature(*row) for name, row in files}
    except (OSError, ValueError, TypeError, AttributeError):
        return None
    return manifest
