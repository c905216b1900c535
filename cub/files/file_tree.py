"""A project's files as one thing to read, wherever they lie: on disk, or as a plan leaves them.

Files that git has and this checkout has not: left out of it, or locked by a filter.
"""

from __future__ import annotations

import posixpath
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from cub.errors import CubError
from cub.files.read_files import list_names, read_file, resolve_path


class FileTree(Protocol):
    """Files by path, relative to the project's root, with `/`; "" is the root itself."""

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, links followed; None where there is none. CubError if unusable."""

    def list_names(self, folder: str) -> frozenset[str]:
        """The names in a folder, spelled as they are listed; none where there is no folder."""

    def has_folder(self, folder: str) -> bool:
        """Whether there is such a folder."""

    def resolve_path(self, path: str) -> str:
        """Where `path` leads behind links, whether or not it is there."""

    def get_identity(self, path: str) -> Hashable | None:
        """Equal for two names of one file (a link, a hard link); None where there is no file."""

    def find_missing(self, path: str) -> MissingFile | None:
        """What git has under `path`, where nothing is there; None where git has nothing either."""


@dataclass(frozen=True, slots=True)
class DiskTree:
    """The files on disk below `root`."""

    root: Path

    def read(self, path: str) -> bytes | None:
        """See `cub.files.read_file`."""
        return read_file(self.root, path)

    def list_names(self, folder: str) -> frozenset[str]:
        """See `cub.files.list_names`."""
        return list_names(self.root / folder)

    def has_folder(self, folder: str) -> bool:
        """Whether there is such a folder."""
        return (self.root / folder).is_dir()

    def resolve_path(self, path: str) -> str:
        """See `cub.files.resolve_path`."""
        return resolve_path(self.root, path)

    def get_identity(self, path: str) -> Hashable | None:
        """Device and inode."""
        try:
            status = (self.root / path).stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def find_missing(self, path: str) -> MissingFile | None:  # noqa: ARG002
        """Of git, `cub.git.GitDiskTree` knows more."""
        return None


@dataclass(frozen=True, slots=True)
class PlannedTree:
    """`base` as it is once `files` (bytes by real path, None for a deletion) are written."""

    base: FileTree
    files: Mapping[str, bytes | None]

    def read(self, path: str) -> bytes | None:
        """What is planned, or else what is there."""
        real = self.base.resolve_path(path)
        return self.files[real] if real in self.files else self.base.read(path)

    def list_names(self, folder: str) -> frozenset[str]:
        """What is listed, with new files and without deleted ones."""
        here = {p: data for p, data in self.files.items() if posixpath.dirname(p) == folder}
        new = {posixpath.basename(path) for path, data in here.items() if data is not None}
        gone = {posixpath.basename(path) for path, data in here.items() if data is None}
        return (self.base.list_names(folder) | new) - gone

    def has_folder(self, folder: str) -> bool:
        """Whether there is one, or will be."""
        new = (path for path, data in self.files.items() if data is not None)
        return self.base.has_folder(folder) or any(p.startswith(f"{folder}/") for p in new)

    def resolve_path(self, path: str) -> str:
        """Plans make no links."""
        return self.base.resolve_path(path)

    def get_identity(self, path: str) -> Hashable | None:
        """New files have none yet: their real path tells them apart."""
        return self.base.get_identity(path)

    def find_missing(self, path: str) -> MissingFile | None:
        """Nothing is missing where something is planned, be it a deletion."""
        return None if self.base.resolve_path(path) in self.files else self.base.find_missing(path)


_POINTER = 1024  # bytes; the pointers of git-lfs and git-annex are shorter
_CRYPT, _LFS = b"\0GITCRYPT\0", b"version https://git-lfs.github.com/spec/"
_ANNEX = (b"/annex/objects/", b"../.git/annex/objects/", b".git/annex/objects/")


class MissingFile(NamedTuple):
    """A file that the index has as `index_entry` and the disk has not.

    `reason` git keeps it out of this checkout; "" where somebody deleted it. `hint` brings it back.
    """

    path: str
    index_entry: str
    reason: str
    hint: str

    @property
    def is_outside_checkout(self) -> bool:
        """Whether git neither expects it on disk nor says that it is gone."""
        return bool(self.reason)

    def make_error(self) -> CubError:
        """Refuses to go on as if there were no such file."""
        return CubError(
            f"git has this file, and keeps it out of this checkout ({self.reason})",
            where=self.path,
            hint=self.hint,
            details=[f"its entry in the index: {self.index_entry}"],
        )


def require_real_file(real: Path, path: str) -> None:
    """The same for a file whose bytes are not read for it; `path` is its name for messages."""
    with real.open("rb") as file:
        require_real_content(file.read(_POINTER + 1), path)


def require_real_content(data: bytes, path: str) -> None:
    """Refuse what stands in place of a file's text as long as a filter of git's keeps that back."""
    if data.startswith(_CRYPT):
        what, hint = "encrypted by git-crypt, and locked here", "`git-crypt unlock` gives its text"
    elif len(data) <= _POINTER and data.startswith(_LFS):
        what, hint = "a pointer of Git LFS, not the file itself", "`git lfs pull` gives its text"
    elif len(data) <= _POINTER and data.startswith(_ANNEX):
        what, hint = "a pointer of git-annex, not the file itself", "`git annex get` gives its text"
    else:
        return
    raise CubError(f"this is {what}", where=path, hint=f"{hint}; then run the command again")
