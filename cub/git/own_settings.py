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
from typing import Any, NamedTuple

from cub.errors import CubError
from cub.git.config_changes import matters
from cub.git.entries import Copies, Entry, Folder, opened, refusal
from cub.git.place import git_folder, submodule_paths
from cub.git.worktree import common_folder

_FOLDERS = ("hooks", "info")
_FILES = (
    "config", "config.worktree", "commondir", "gitdir", "shallow", "objects/info/alternates",
    "objects/info/http-alternates",
)  # fmt: skip
_CONFIGS = ("config", "config.worktree")
_MOST = 10_000  # entries of a folder; one with more was filled by the attempt
_DEEPEST = 8


class Root(NamedTuple):
    """A folder of git's, the names in it that count, and how messages call it."""

    path: str
    names: tuple[str, ...]
    label: str = ""

    def call(self, name: str) -> str:
        """How a file is called: `hooks/pre-commit`, `.git/config`, `modules/x/hooks/pre-commit`."""
        if not self.label and "/" in name:
            return name
        return f"{self.label or Path(self.path).name}/{name}"


@dataclass(slots=True)
class Settings:
    """What was noted, by folder and name; `copies` are of files that are too large for memory."""

    top: Path
    noted: dict[Root, dict[str, Entry]]
    copies: Copies

    def to_json(self) -> list[Any]:
        """A value for json.dumps, without the content of what is too large for memory."""
        return [
            [[*root], {name: _entry_to_json(entry) for name, entry in noted.items()}]
            for root, noted in self.noted.items()
        ]

    @staticmethod
    def from_json(top: Path, value: Any) -> Settings:
        """What to_json gave. Raises CubError for anything else."""
        try:
            return Settings(top, dict(_root_from_json(*row) for row in value), Copies())
        except (TypeError, ValueError, AttributeError):
            raise CubError("these are no settings of a repository") from None


def read_settings(top: Path, copies: Copies, room: Path) -> Settings:
    """How they are now. Large files are copied into `room`, but for those that are in `copies`
    since the last time.
    """
    settings = Settings(top, {}, copies)
    for root in _roots(top):
        with suppress(FileNotFoundError, NotADirectoryError), opened(root.path) as folder:
            settings.noted[root] = dict(_noted(folder, root, copies, room))
    used = {entry.mark for noted in settings.noted.values() for entry in noted.values()}
    copies.keep_only(used)
    return settings


def restore_settings(before: Settings, aside: Path, until: float = float("inf")) -> list[str]:
    """Make them what they were, and keep in `aside` what they are; the names of what differed.

    What was changed after `until` (seconds since 1970) stays. Raises CubError for what can't be put
    back: with it, git must not be called again.
    """
    changed: list[str] = []
    for root, noted in before.noted.items():
        try:
            with opened(root.path) as folder:
                restoring = _Restoring(before, root, noted, aside, folder, until)
                for name in root.names:
                    restoring.restore(name)
                changed += map(root.call, restoring.changed)
        except OSError as error:
            away = isinstance(error, FileNotFoundError | NotADirectoryError)
            # The folder of a submodule or a work tree may be gone. All else stops the run.
            if away and (root.label or not os.path.lexists(root.path)):
                continue
            raise refusal(error, root.label or root.path) from error
    return changed


@dataclass(slots=True)
class _Restoring:
    """One folder of git's being put back."""

    before: Settings
    root: Root
    noted: Mapping[str, Entry]
    aside: Path
    folder: Folder
    until: float
    changed: list[str] = field(default_factory=list)

    def restore(self, name: str) -> None:
        """Put back what stands under a name of the root's."""
        outer, _, inner = name.rpartition("/")
        folders = outer.split("/") if outer else []
        self._below(self.folder, folders, inner, name)

    def _below(self, folder: Folder, folders: list[str], inner: str, name: str) -> None:
        if not folders:
            self._entry(folder, inner, name)
            return
        found = folder.look(folders[0])
        if found and stat.S_ISDIR(found.st_mode):
            with folder.inner(folders[0]) as below:
                self._below(below, folders[1:], inner, name)

    def _entry(self, folder: Folder, name: str, path: str) -> None:
        old = self.noted.get(path)
        found = folder.look(name)
        there = found is not None
        if found and found.st_ctime > self.until and not stat.S_ISDIR(found.st_mode):
            return
        if old is None:
            if there:
                self._move(folder, name, path)
                self.changed.append(path)
            return
        if not folder.holds(name, old) or (
            old.kind == stat.S_IFDIR and self._is_full(folder, name)
        ):
            if there and not self._matters(folder, name, path, old):
                return
            if there:
                self._move(folder, name, path)
            if old.kind != stat.S_IFREG or old.data is not None or old.mark in self.before.copies:
                folder.make(name, old, self.before.copies)
            self.changed.append(path)
        if old.kind == stat.S_IFDIR:
            self._folder(folder, name, path, old)

    def _folder(self, folder: Folder, name: str, path: str, old: Entry) -> None:
        found = folder.look(name)
        if found and stat.S_IMODE(found.st_mode) != old.mode:
            folder.give_mode(name, old.mode | 0o700)
            self.changed.append(path)
        with folder.inner(name) as inner:
            known = [p.rpartition("/")[2] for p in self.noted if p.rpartition("/")[0] == path]
            for one in sorted({*known, *(n for n in inner.names() if _counts(inner, n))}):
                self._entry(inner, one, f"{path}/{one}")
        if found and stat.S_IMODE(found.st_mode) != old.mode:
            folder.give_mode(name, old.mode)

    def _is_full(self, folder: Folder, name: str) -> bool:
        try:
            with folder.inner(name) as inner:
                return len(inner.names()) > _MOST
        except OSError:  # its rights were taken away
            return False

    def _matters(self, folder: Folder, name: str, path: str, old: Entry) -> bool:
        """Of a configuration, not all changes do."""
        if path not in _CONFIGS or old.data is None:
            return True
        found = folder.look(name)
        if found is None or stat.S_IMODE(found.st_mode) != old.mode:
            return True
        try:
            return matters(self.before.top, old.data, folder.read(name))
        except OSError:
            return True

    def _move(self, folder: Folder, name: str, path: str) -> None:
        self.aside.mkdir(parents=True, exist_ok=True)
        flat = self.root.call(path).replace("/", "-")
        names = (flat if number == 1 else f"{flat}.{number}" for number in range(1, 1000))
        free = next(one for one in names if not os.path.lexists(self.aside / one))
        folder.move(name, self.aside / free, self.folder)


def _entry_to_json(entry: Entry) -> list[Any]:
    data = None if entry.data is None else b64encode(entry.data).decode()
    return [entry.kind, entry.mode, data, [*entry.mark]]


def _root_from_json(root: Any, noted: Any) -> tuple[Root, dict[str, Entry]]:
    path, names, label = root
    entries = {
        str(name): Entry(int(kind), int(mode), None if data is None else b64decode(data), (*mark,))
        for name, (kind, mode, data, mark) in noted.items()
    }
    return Root(str(path), tuple(map(str, names)), str(label)), entries


def _noted(folder: Folder, root: Root, copies: Copies, room: Path) -> Iterator[tuple[str, Entry]]:
    for name in root.names:
        *outer, inner = name.split("/")
        yield from _below(folder, outer, inner, name, copies, room)


def _below(
    folder: Folder, outer: list[str], inner: str, name: str, copies: Copies, room: Path
) -> Iterator[tuple[str, Entry]]:
    if not outer:
        yield from _tree(folder, inner, name, copies, room)
        return
    found = folder.look(outer[0])
    if found and stat.S_ISDIR(found.st_mode):
        with folder.inner(outer[0]) as below:
            yield from _below(below, outer[1:], inner, name, copies, room)


def _tree(
    folder: Folder, name: str, path: str, copies: Copies, room: Path
) -> Iterator[tuple[str, Entry]]:
    try:
        entry = folder.note(name, copies, room)
    except OSError:  # nobody may read it: not git either
        return
    if entry is None:
        return
    yield path, entry
    if entry.kind == stat.S_IFDIR and path.count("/") < _DEEPEST:
        with folder.inner(name) as inner:
            for one in sorted(n for n in inner.names() if _counts(inner, n)):
                yield from _tree(inner, one, f"{path}/{one}", copies, room)


def _counts(folder: Folder, name: str) -> bool:
    """Git runs no sample, which every repository has a dozen of."""
    if not name.endswith(".sample"):
        return True
    found = folder.look(name)
    return found is None or not stat.S_ISREG(found.st_mode)


def _roots(top: Path) -> Iterator[Root]:
    """The folders of git's that count in a work tree: the repository's and its own, those of
    submodules, and of other linked work trees what leads git elsewhere.
    """
    own = Path(os.path.realpath(git_folder(top)))
    common = common_folder(top) or own
    yield from _of_repository(common)
    if (top / ".git").is_file():
        yield Root(os.fspath(top), (".git",))
    if own != common:
        yield Root(str(own), (*_FILES, "info"), f"worktrees/{own.name}")
    for other in _folders(common / "worktrees"):
        if other.name != own.name:
            names = ("config.worktree", "commondir")
            yield Root(str(other), names, f"worktrees/{other.name}")
    for module in _modules(common / "modules"):
        yield from _of_repository(module, module.relative_to(common).as_posix())
    for path in submodule_paths(top):
        entry = top / path / ".git"
        if entry.is_file():
            yield Root(str(top / path), (".git",), path)
        elif entry.is_dir() and not entry.is_symlink():
            yield from _of_repository(entry, f"{path}/.git")


def _of_repository(folder: Path, label: str = "") -> Iterator[Root]:
    yield Root(os.fspath(folder), (*_FILES, *_FOLDERS), label)
    for name in _CONFIGS:
        if (folder / name).is_symlink():  # as `git new-workdir` makes them: what it leads to counts
            real = Path(os.path.realpath(folder / name))
            yield Root(str(real.parent), (real.name,), real.parent.name)


def _modules(folder: Path) -> Iterator[Path]:
    """The repositories of submodules; their names may have slashes, and they submodules."""
    for inner in _folders(folder):
        if (inner / "HEAD").is_file():
            yield inner
            yield from _modules(inner / "modules")
        else:
            yield from _modules(inner)


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as found:
            return sorted(Path(e.path) for e in found if e.is_dir(follow_symlinks=False))
    except OSError:
        return []
