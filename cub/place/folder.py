"""Lay out a place in cub's state folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cub.git.process import decode_output
from cub.place.checkout import Checkout, TreeGit

_MAX_LINK_DEPTH = 5  # of alternates, as git has it


@dataclass(frozen=True, slots=True)
class PlaceFolder:
    """Name what is in the folder of one place.

    `tree` is the agent's; `checks` holds what checks judge and what is committed. `objects` has
    the objects that cub makes, and `mailbox` is what an attempt may write for cub to read.
    """

    path: Path

    @property
    def tree(self) -> Path:
        """Return the work tree of the agent."""
        return self.path / "tree"

    @property
    def checks(self) -> Path:
        """Return the work tree of checks and hooks."""
        return self.path / "checks"

    @property
    def objects(self) -> Path:
        """Return cub's own folder of objects, which all places of a run share."""
        return self.path.parent / "objects"

    @property
    def mailbox(self) -> Path:
        """Return the folder for what the attempt tells cub."""
        return self.path / "mailbox"

    def link_objects(self, name: str) -> Path:
        """Return the path under which a repository of the person's has its objects here."""
        return self.path / "persons" / name

    def open_tree(self, checkout: Checkout, tree: Path, inner: str = "") -> TreeGit:
        """Return git for one of the trees, or for the submodule `inner` of it."""
        name = f"{tree.name}/{inner}".rstrip("/").replace("/", "%")
        return TreeGit(checkout, tree / inner, self.path / f"{name}.index", self.objects)

    def prepare(self) -> None:
        """Make the folders of a place that has none yet."""
        for folder in (self.tree, self.checks, self.objects / "info", self.objects / "pack"):
            folder.mkdir(parents=True, exist_ok=True)
        empty_folder(self.mailbox)

    def add_repository(self, checkout: Checkout, name: str) -> None:
        """Have the objects of one of the person's repositories found from here."""
        link, alternates = self.link_objects(name), self.objects / "info" / "alternates"
        link.parent.mkdir(exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(checkout.objects, target_is_directory=True)
        known = alternates.read_bytes() if alternates.exists() else b""
        lines = [os.fsencode(path) + b"\n" for path in _iter_object_folders(checkout.objects)]
        alternates.write_bytes(known + b"".join(line for line in lines if line not in known))

    def remove(self) -> None:
        """Delete the place, whatever an attempt has made of the rights in it."""
        if self.path.exists():
            make_folders_usable(self.path)
            shutil.rmtree(self.path, ignore_errors=True)


def _iter_object_folders(objects: Path, depth: int = 0) -> Iterator[Path]:
    """Yield a folder of objects, and those that it refers to (gitrepository-layout(5))."""
    yield objects
    file = objects / "info" / "alternates"
    if depth < _MAX_LINK_DEPTH and file.is_file():
        for line in decode_output(file.read_bytes()).splitlines():
            if line and not line.startswith("#"):
                yield from _iter_object_folders(objects / line, depth + 1)


def empty_folder(folder: Path) -> None:
    """Make a folder that has nothing in it."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    if folder.exists():
        make_folders_usable(folder)
        shutil.rmtree(folder)
    folder.mkdir(parents=True)


def make_folders_usable(top: Path) -> None:
    """Give this user all rights to the folders below `top`, and remove what is no file or link.

    Git can't read a folder without rights, and waits for ever where it opens a FIFO.
    """
    todo = [os.fspath(top)]
    while todo:
        folder = todo.pop()
        try:
            entries = list(os.scandir(folder))
        except PermissionError:
            os.chmod(folder, 0o700)  # noqa: PTH101 - of 100,000 files, Path costs a second
            entries = list(os.scandir(folder))
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                todo.append(entry.path)
            elif not (entry.is_symlink() or entry.is_file(follow_symlinks=False)):
                _remove_file(entry.path)
    # A folder that may be read and not written would keep git from replacing files in it.


def _remove_file(path: str) -> None:
    try:
        os.unlink(path)  # noqa: PTH108
    except PermissionError:
        os.chmod(os.path.dirname(path), 0o700)  # noqa: PTH101, PTH120
        os.unlink(path)  # noqa: PTH108


def escape_pattern(path: str) -> str:
    """Return a pattern of `.gitignore` that means this path alone, with "/" before it."""
    return "".join(f"\\{char}" if char in "\\*?[ !#" else char for char in path)
