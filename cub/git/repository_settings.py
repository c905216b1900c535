"""Record what decides how git behaves in a repository, and restore it: configuration, hooks,
attributes, excludes, and what leads git to other objects.

An agent that changes them changes what a commit is, what the person's next command runs, or where
git writes. What stood there instead is kept.
"""

from __future__ import annotations

import os
import stat
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
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
    CONFIG_FILES,
    SettingsFolder,
    list_relevant_names,
    list_settings_folders,
    must_restore_config,
)

_MAX_NAMES = 10_000  # in a folder; one with more was filled by the attempt
_MAX_DEPTH = 8


@dataclass(slots=True)
class GitSettings:
    """Hold entries by folder and name; `copies` are of files that are too large for memory."""

    top: Path
    entries: dict[SettingsFolder, dict[str, FolderEntry]]
    copies: FileCopies

    def to_json(self) -> list[Any]:
        """Return a value for json.dumps, without the content of what is too large for memory."""
        return [
            [[*root], {name: _entry_to_json(entry) for name, entry in entries.items()}]
            for root, entries in self.entries.items()
        ]

    @staticmethod
    def from_json(toplevel: Path, value: Any) -> GitSettings:
        """Parse what to_json returned. Raises CubError for anything else."""
        try:
            return GitSettings(toplevel, dict(_root_from_json(*row) for row in value), FileCopies())
        except (TypeError, ValueError, AttributeError):
            raise CubError("these are not a repository's settings") from None


def read_git_settings(toplevel: Path, copies: FileCopies, copy_folder: Path) -> GitSettings:
    """Read the settings. Large files are copied to `copy_folder`, unless `copies` has them."""
    settings = GitSettings(toplevel, {}, copies)
    for root in list_settings_folders(toplevel):
        with suppress(FileNotFoundError, NotADirectoryError), open_folder(root.path) as folder:
            settings.entries[root] = dict(_read_entries(folder, root, copies, copy_folder))
    entries = (entry for folder in settings.entries.values() for entry in folder.values())
    copies.retain_only({entry.signature for entry in entries if entry.signature})
    return settings


def restore_git_settings(
    before: GitSettings, rescue_folder: Path, until: float = float("inf")
) -> list[str]:
    """Make the settings what they were, move what they are to `rescue_folder`, and return the names
    of what differed.

    What was changed after `until` (seconds since 1970) stays. Raises CubError for what can't be put
    back: with it, git must not be called again.
    """
    changed: list[str] = []
    for root, entries in before.entries.items():
        try:
            with open_folder(root.path) as folder:
                restorer = _SettingsRestorer(before, root, entries, rescue_folder, folder, until)
                for name in root.names:
                    restorer.restore(name)
                changed += map(root.label_file, restorer.changed)
        except OSError as error:
            is_gone = isinstance(error, FileNotFoundError | NotADirectoryError)
            # The folder of a submodule or a work tree may be gone. All else stops the run.
            if is_gone and (root.label or not os.path.lexists(root.path)):
                continue
            raise make_restore_error(error, root.label or root.path) from error
    return changed


@dataclass(slots=True)
class _SettingsRestorer:
    """Restore one folder of git's."""

    before: GitSettings
    settings_folder: SettingsFolder
    recorded_entries: Mapping[str, FolderEntry]
    rescue_folder: Path
    folder: OpenFolder
    until: float
    changed: list[str] = field(default_factory=list)

    def restore(self, name: str) -> None:
        """Restore what stands under a name in the folder, which may have slashes."""
        with _open_parent(self.folder, name) as parent:
            if parent:
                self._restore_entry(parent, name.rpartition("/")[2], name)

    def _restore_entry(self, folder: OpenFolder, name: str, path: str) -> None:
        old, status = self.recorded_entries.get(path), folder.stat_entry(name)
        if status and status.st_ctime > self.until and not stat.S_ISDIR(status.st_mode):
            return
        if old is None:
            if status:
                self._move_aside(folder, name, path)
                self.changed.append(path)
            return
        is_full = old.kind == stat.S_IFDIR and self._is_full(folder, name)
        if is_full or not folder.has_entry(name, old):
            if status and not self._must_restore(folder, name, path, old):
                return
            if status:
                self._move_aside(folder, name, path)
            if old.signature is None or old.signature in self.before.copies:
                folder.create_entry(name, old, self.before.copies)
            self.changed.append(path)
        if old.kind == stat.S_IFDIR:
            self._restore_folder(folder, name, path, old)

    def _restore_folder(self, folder: OpenFolder, name: str, path: str, old: FolderEntry) -> None:
        status = folder.stat_entry(name)
        has_other_mode = bool(status and stat.S_IMODE(status.st_mode) != old.mode)
        if has_other_mode:
            folder.set_mode(name, old.mode | 0o700)
            self.changed.append(path)
        with folder.open_subfolder(name) as inner:
            pairs = (known.rpartition("/") for known in self.recorded_entries)
            recorded = {known for outer, _, known in pairs if outer == path}
            for entry_name in sorted(recorded.union(list_relevant_names(inner))):
                self._restore_entry(inner, entry_name, f"{path}/{entry_name}")
        if has_other_mode:
            folder.set_mode(name, old.mode)

    def _is_full(self, folder: OpenFolder, name: str) -> bool:
        try:
            with folder.open_subfolder(name) as inner:
                return len(inner.list_names()) > _MAX_NAMES
        except OSError:  # its permissions were taken away
            return False

    def _must_restore(self, folder: OpenFolder, name: str, path: str, old: FolderEntry) -> bool:
        """Return False for harmless changes of a configuration, True for all else."""
        if path not in CONFIG_FILES or old.data is None:
            return True
        status = folder.stat_entry(name)
        if status is None or stat.S_IMODE(status.st_mode) != old.mode:
            return True
        try:
            return must_restore_config(self.before.top, old.data, folder.read_file(name))
        except OSError:
            return True

    def _move_aside(self, folder: OpenFolder, name: str, path: str) -> None:
        self.rescue_folder.mkdir(parents=True, exist_ok=True)
        flat = self.settings_folder.label_file(path).replace("/", "-")
        names = (flat if number == 1 else f"{flat}.{number}" for number in range(1, 1000))
        free = next(name for name in names if not os.path.lexists(self.rescue_folder / name))
        folder.move_entry(name, self.rescue_folder / free, self.folder)


@contextmanager
def _open_parent(folder: OpenFolder, name: str) -> Iterator[OpenFolder | None]:
    """Open the folder in which an entry is; None if there is no such folder."""
    with ExitStack() as stack:
        for step in name.split("/")[:-1]:
            status = folder.stat_entry(step)
            if status is None or not stat.S_ISDIR(status.st_mode):
                yield None
                return
            folder = stack.enter_context(folder.open_subfolder(step))
        yield folder


def _read_entries(
    folder: OpenFolder, root: SettingsFolder, copies: FileCopies, copy_folder: Path
) -> Iterator[tuple[str, FolderEntry]]:
    for name in root.names:
        with _open_parent(folder, name) as parent:
            if parent:
                inner = name.rpartition("/")[2]
                yield from _read_tree(parent, inner, name, copies, copy_folder)


def _read_tree(
    folder: OpenFolder, name: str, path: str, copies: FileCopies, copy_folder: Path
) -> Iterator[tuple[str, FolderEntry]]:
    try:
        entry = folder.read_entry(name, copies, copy_folder)
    except OSError:  # not readable: not for git either
        return
    if entry is None:
        return
    yield path, entry
    if entry.kind == stat.S_IFDIR and path.count("/") < _MAX_DEPTH:
        with folder.open_subfolder(name) as inner:
            for below in sorted(list_relevant_names(inner)):
                yield from _read_tree(inner, below, f"{path}/{below}", copies, copy_folder)


def _entry_to_json(entry: FolderEntry) -> list[Any]:
    data = None if entry.data is None else b64encode(entry.data).decode()
    return [entry.kind, entry.mode, data, entry.signature]


def _entry_from_json(kind: Any, mode: Any, data: Any, signature: Any) -> FolderEntry:
    content = None if data is None else b64decode(data)
    return FolderEntry(int(kind), int(mode), content, signature and StatSignature(*signature))


def _root_from_json(root: Any, rows: Any) -> tuple[SettingsFolder, dict[str, FolderEntry]]:
    path, names, label = root
    entries = {str(name): _entry_from_json(*row) for name, row in rows.items()}
    return SettingsFolder(str(path), tuple(map(str, names)), str(label)), entries
