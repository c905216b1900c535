"""What decides how git behaves in a repository: configuration, hooks, attributes, excludes, and
what leads it to other objects.

An agent that changes them changes what a commit is, what the person's next command runs, or where
git writes. They are noted before an attempt, and put back; what stood there instead is kept aside.
"""

from __future__ import annotations

import os
import stat
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cub.errors import CubError
from cub.files.stat_signature import StatSignature
from cub.git.folder_entries import (
    FileCopies,
    FolderEntry,
    OpenFolder,
    make_restore_error,
    open_folder,
)
from cub.git.settings_files import (
    _CONFIGS,
    SettingsFolder,
    _is_relevant,
    _list_settings_folders,
    must_restore_config,
)

_MOST = 10_000  # entries of a folder; one with more was filled by the attempt
_DEEPEST = 8


@dataclass(slots=True)
class GitSettings:
    """What was noted, by folder and name; `copies` are of files that are too large for memory."""

    top: Path
    entries: dict[SettingsFolder, dict[str, FolderEntry]]
    copies: FileCopies

    def to_json(self) -> list[Any]:
        """A value for json.dumps, without the content of what is too large for memory."""
        return [
            [[*root], {name: _entry_to_json(entry) for name, entry in noted.items()}]
            for root, noted in self.entries.items()
        ]

    @staticmethod
    def from_json(toplevel: Path, value: Any) -> GitSettings:
        """What to_json gave. Raises CubError for anything else."""
        try:
            return GitSettings(toplevel, dict(_root_from_json(*row) for row in value), FileCopies())
        except (TypeError, ValueError, AttributeError):
            raise CubError("these are no settings of a repository") from None


def read_git_settings(toplevel: Path, copies: FileCopies, copy_folder: Path) -> GitSettings:
    """How they are now. Large files are copied into `copy_folder`, but for those that are in
    `copies` since the last time.
    """
    settings = GitSettings(toplevel, {}, copies)
    for root in _list_settings_folders(toplevel):
        with suppress(FileNotFoundError, NotADirectoryError), open_folder(root.path) as folder:
            settings.entries[root] = dict(_read_entries(folder, root, copies, copy_folder))
    entries = (entry for folder in settings.entries.values() for entry in folder.values())
    copies.retain_only({entry.signature for entry in entries if entry.signature})
    return settings


def restore_git_settings(
    before: GitSettings, rescue_folder: Path, until: float = float("inf")
) -> list[str]:
    """Make them what they were, and keep in `rescue_folder` what they are; the names of what
    differed.

    What was changed after `until` (seconds since 1970) stays. Raises CubError for what can't be put
    back: with it, git must not be called again.
    """
    changed: list[str] = []
    for root, noted in before.entries.items():
        try:
            with open_folder(root.path) as folder:
                restoring = _SettingsRestorer(before, root, noted, rescue_folder, folder, until)
                for name in root.names:
                    restoring.restore(name)
                changed += map(root.label_file, restoring.changed)
        except OSError as error:
            away = isinstance(error, FileNotFoundError | NotADirectoryError)
            # The folder of a submodule or a work tree may be gone. All else stops the run.
            if away and (root.label or not os.path.lexists(root.path)):
                continue
            raise make_restore_error(error, root.label or root.path) from error
    return changed


@dataclass(slots=True)
class _SettingsRestorer:
    """One folder of git's being put back."""

    before: GitSettings
    settings_folder: SettingsFolder
    recorded_entries: Mapping[str, FolderEntry]
    aside: Path
    folder: OpenFolder
    until: float
    changed: list[str] = field(default_factory=list)

    def restore(self, name: str) -> None:
        """Put back what stands under a name of the root's."""
        outer, _, inner = name.rpartition("/")
        folders = outer.split("/") if outer else []
        self._below(self.folder, folders, inner, name)

    def _below(self, folder: OpenFolder, folders: list[str], inner: str, name: str) -> None:
        if not folders:
            self._entry(folder, inner, name)
            return
        found = folder.stat_entry(folders[0])
        if found and stat.S_ISDIR(found.st_mode):
            with folder.open_subfolder(folders[0]) as below:
                self._below(below, folders[1:], inner, name)

    def _entry(self, folder: OpenFolder, name: str, path: str) -> None:
        old = self.recorded_entries.get(path)
        found = folder.stat_entry(name)
        there = found is not None
        if found and found.st_ctime > self.until and not stat.S_ISDIR(found.st_mode):
            return
        if old is None:
            if there:
                self._move(folder, name, path)
                self.changed.append(path)
            return
        if not folder.has_entry(name, old) or (
            old.kind == stat.S_IFDIR and self._is_full(folder, name)
        ):
            if there and not self._matters(folder, name, path, old):
                return
            if there:
                self._move(folder, name, path)
            if (
                old.kind != stat.S_IFREG
                or old.data is not None
                or old.signature in self.before.copies
            ):
                folder.create_entry(name, old, self.before.copies)
            self.changed.append(path)
        if old.kind == stat.S_IFDIR:
            self._folder(folder, name, path, old)

    def _folder(self, folder: OpenFolder, name: str, path: str, old: FolderEntry) -> None:
        found = folder.stat_entry(name)
        if found and stat.S_IMODE(found.st_mode) != old.mode:
            folder.set_mode(name, old.mode | 0o700)
            self.changed.append(path)
        with folder.open_subfolder(name) as inner:
            known = [
                p.rpartition("/")[2] for p in self.recorded_entries if p.rpartition("/")[0] == path
            ]
            for one in sorted({*known, *(n for n in inner.list_names() if _is_relevant(inner, n))}):
                self._entry(inner, one, f"{path}/{one}")
        if found and stat.S_IMODE(found.st_mode) != old.mode:
            folder.set_mode(name, old.mode)

    def _is_full(self, folder: OpenFolder, name: str) -> bool:
        try:
            with folder.open_subfolder(name) as inner:
                return len(inner.list_names()) > _MOST
        except OSError:  # its rights were taken away
            return False

    def _matters(self, folder: OpenFolder, name: str, path: str, old: FolderEntry) -> bool:
        """Of a configuration, not all changes do."""
        if path not in _CONFIGS or old.data is None:
            return True
        found = folder.stat_entry(name)
        if found is None or stat.S_IMODE(found.st_mode) != old.mode:
            return True
        try:
            return must_restore_config(self.before.top, old.data, folder.read_file(name))
        except OSError:
            return True

    def _move(self, folder: OpenFolder, name: str, path: str) -> None:
        self.aside.mkdir(parents=True, exist_ok=True)
        flat = self.settings_folder.label_file(path).replace("/", "-")
        names = (flat if number == 1 else f"{flat}.{number}" for number in range(1, 1000))
        free = next(one for one in names if not os.path.lexists(self.aside / one))
        folder.move_entry(name, self.aside / free, self.folder)


def _entry_to_json(entry: FolderEntry) -> list[Any]:
    data = None if entry.data is None else b64encode(entry.data).decode()
    return [entry.kind, entry.mode, data, entry.signature and [*entry.signature]]


def _entry_from_json(kind: Any, mode: Any, data: Any, signature: Any) -> FolderEntry:
    content = None if data is None else b64decode(data)
    return FolderEntry(int(kind), int(mode), content, signature and StatSignature(*signature))


def _root_from_json(root: Any, noted: Any) -> tuple[SettingsFolder, dict[str, FolderEntry]]:
    path, names, label = root
    entries = {str(name): _entry_from_json(*row) for name, row in noted.items()}
    return SettingsFolder(str(path), tuple(map(str, names)), str(label)), entries


def _read_entries(
    folder: OpenFolder, root: SettingsFolder, copies: FileCopies, copy_folder: Path
) -> Iterator[tuple[str, FolderEntry]]:
    for name in root.names:
        *outer, inner = name.split("/")
        yield from _below(folder, outer, inner, name, copies, copy_folder)


def _below(
    folder: OpenFolder,
    outer: list[str],
    inner: str,
    name: str,
    copies: FileCopies,
    copy_folder: Path,
) -> Iterator[tuple[str, FolderEntry]]:
    if not outer:
        yield from _tree(folder, inner, name, copies, copy_folder)
        return
    found = folder.stat_entry(outer[0])
    if found and stat.S_ISDIR(found.st_mode):
        with folder.open_subfolder(outer[0]) as below:
            yield from _below(below, outer[1:], inner, name, copies, copy_folder)


def _tree(
    folder: OpenFolder, name: str, path: str, copies: FileCopies, copy_folder: Path
) -> Iterator[tuple[str, FolderEntry]]:
    try:
        entry = folder.read_entry(name, copies, copy_folder)
    except OSError:  # nobody may read it: not git either
        return
    if entry is None:
        return
    yield path, entry
    if entry.kind == stat.S_IFDIR and path.count("/") < _DEEPEST:
        with folder.open_subfolder(name) as inner:
            for one in sorted(n for n in inner.list_names() if _is_relevant(inner, n)):
                yield from _tree(inner, one, f"{path}/{one}", copies, copy_folder)
