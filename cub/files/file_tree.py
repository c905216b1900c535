"""Read a project's files as one tree, from disk or as a plan leaves them.

A tree also knows the files that git has and this checkout lacks: left out, or locked by a filter.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from cub.errors import CubError
from cub.files.read_files import list_names, read_file, resolve_path


class FileTree(Protocol):
    """Read files by path, relative to the project's root, with `/`; "" is the root itself."""

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, following links; None if there is none."""

    def list_names(self, folder: str) -> frozenset[str]:
        """Return the names in a folder as they are listed; none if there is no folder."""

    def has_folder(self, folder: str) -> bool:
        """Tell whether the folder exists."""

    def resolve_path(self, path: str) -> str:
        """Return where `path` leads through links, whether or not it exists."""

    def get_identity(self, path: str) -> Hashable | None:
        """Return a value that all names of a file share; None if there is no file."""

    def find_missing(self, path: str) -> MissingFile | None:
        """Return what git has under `path` that the disk lacks; None if git has nothing either."""


@dataclass(frozen=True, slots=True)
class DiskTree:
    """Read the files on disk below `root`."""

    root: Path

    def read(self, path: str) -> bytes | None:
        """Read a file by `cub.files.read_file`."""
        return read_file(self.root, path)

    def list_names(self, folder: str) -> frozenset[str]:
        """List a folder by `cub.files.list_names`."""
        return list_names(self.root / folder)

    def has_folder(self, folder: str) -> bool:
        """Tell whether the folder exists."""
        return os.path.isdir(self.root / folder)  # noqa: PTH112 - False, too, for no possible name

    def resolve_path(self, path: str) -> str:
        """Resolve a path by `cub.files.resolve_path`."""
        return resolve_path(self.root, path)

    def get_identity(self, path: str) -> Hashable | None:
        """Return device and inode."""
        try:
            status = (self.root / path).stat()
        except (OSError, ValueError):  # of a name with a NUL
            return None
        return status.st_dev, status.st_ino

    def find_missing(self, path: str) -> MissingFile | None:  # noqa: ARG002
        """Return None: only `cub.git.GitDiskTree` knows what git has."""
        return None


@dataclass(frozen=True, slots=True)
class PlannedTree:
    """Read `base` as it is once `files` (bytes by real path, None for a deletion) are written."""

    base: FileTree
    files: Mapping[str, bytes | None]

    def read(self, path: str) -> bytes | None:
        """Return the planned bytes, or else those of `base`."""
        real = self.base.resolve_path(path)
        return self.files[real] if real in self.files else self.base.read(path)

    def list_names(self, folder: str) -> frozenset[str]:
        """Return the names of `base` with new files and without deleted ones."""
        changes = {p: data for p, data in self.files.items() if posixpath.dirname(p) == folder}
        new = {posixpath.basename(path) for path, data in changes.items() if data is not None}
        deleted = {posixpath.basename(path) for path, data in changes.items() if data is None}
        return (self.base.list_names(folder) | new) - deleted

    def has_folder(self, folder: str) -> bool:
        """Tell whether the folder exists or will exist."""
        new = (path for path, data in self.files.items() if data is not None)
        return self.base.has_folder(folder) or any(p.startswith(f"{folder}/") for p in new)

    def resolve_path(self, path: str) -> str:
        """Return the path that `base` resolves to, as plans make no links."""
        return self.base.resolve_path(path)

    def get_identity(self, path: str) -> Hashable | None:
        """Return the identity in `base`, which a new file does not have yet."""
        return self.base.get_identity(path)

    def find_missing(self, path: str) -> MissingFile | None:
        """Return None for a planned path, even a deletion; ask `base` otherwise."""
        return None if self.base.resolve_path(path) in self.files else self.base.find_missing(path)


_MAX_POINTER = 1024  # bytes; the pointers of git-lfs and git-annex are shorter
_CRYPT, _LFS = b"\0GITCRYPT\0", b"version https://git-lfs.github.com/spec/"
_ANNEX = (b"/annex/objects/", b"../.git/annex/objects/", b".git/annex/objects/")


class MissingFile(NamedTuple):
    """Describe a file that the index has as `index_entry` and the disk lacks.

    `reason` says why git keeps it out of this checkout; "" if it was deleted. `hint` restores it.
    """

    path: str
    index_entry: str
    reason: str
    hint: str

    @property
    def is_outside_checkout(self) -> bool:
        """Tell whether git neither expects the file on disk nor reports it as deleted."""
        return bool(self.reason)

    def make_error(self) -> CubError:
        """Return the error for a command that needs the file."""
        return CubError(
            f"git has this file, and keeps it out of this checkout ({self.reason})",
            where=self.path,
            hint=self.hint,
            details=[f"its entry in the index: {self.index_entry}"],
        )


def require_real_file(real: Path, path: str) -> None:
    """Raise CubError for a file that git's filters hold back; `path` is its name in messages."""
    with real.open("rb") as file:
        require_real_content(file.read(_MAX_POINTER + 1), path)


def require_real_content(data: bytes, path: str) -> None:
    """Raise CubError for content that replaces a file's text until a git filter restores it."""
    if data.startswith(_CRYPT):
        state, hint = "encrypted by git-crypt, and locked here", "`git-crypt unlock` gives its text"
    elif len(data) <= _MAX_POINTER and data.startswith(_LFS):
        state, hint = "a pointer of Git LFS, not the file itself", "`git lfs pull` gives its text"
    elif len(data) <= _MAX_POINTER and data.startswith(_ANNEX):
        state, hint = (
            "a pointer of git-annex, not the file itself",
            "`git annex get` gives its text",
        )
    else:
        return
    raise CubError(f"this is {state}", where=path, hint=f"{hint}; then run the command again")
