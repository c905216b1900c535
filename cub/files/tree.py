"""A project's files as one thing to read, wherever they lie: on disk, or as a plan leaves them."""

from __future__ import annotations

import posixpath
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cub.files.missing import Missing
from cub.files.reading import names_in, read, real_path


class Tree(Protocol):
    """Files by path, relative to the project's root, with `/`; "" is the root itself."""

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, links followed; None where there is none. CubError if unusable."""

    def names(self, folder: str) -> frozenset[str]:
        """The names in a folder, spelled as they are listed; none where there is no folder."""

    def has_folder(self, folder: str) -> bool:
        """Whether there is such a folder."""

    def real(self, path: str) -> str:
        """Where `path` leads behind links, whether or not it is there."""

    def identity(self, path: str) -> Hashable | None:
        """Equal for two names of one file (a link, a hard link); None where there is no file."""

    def missing(self, path: str) -> Missing | None:
        """What git has under `path`, where nothing is there; None where git has nothing either."""


@dataclass(frozen=True, slots=True)
class WorkTree:
    """The files on disk below `root`."""

    root: Path

    def read(self, path: str) -> bytes | None:
        """See `cub.files.read`."""
        return read(self.root, path)

    def names(self, folder: str) -> frozenset[str]:
        """See `cub.files.names_in`."""
        return names_in(self.root / folder)

    def has_folder(self, folder: str) -> bool:
        """Whether there is such a folder."""
        return (self.root / folder).is_dir()

    def real(self, path: str) -> str:
        """See `cub.files.real_path`."""
        return real_path(self.root, path)

    def identity(self, path: str) -> Hashable | None:
        """Device and inode."""
        try:
            status = (self.root / path).stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def missing(self, path: str) -> Missing | None:  # noqa: ARG002
        """Of git, `cub.git.GitWorkTree` knows more."""
        return None


@dataclass(frozen=True, slots=True)
class Planned:
    """`tree` as it is once `files` (bytes by real path, None for a deletion) are written."""

    tree: Tree
    files: Mapping[str, bytes | None]

    def read(self, path: str) -> bytes | None:
        """What is planned, or else what is there."""
        real = self.tree.real(path)
        return self.files[real] if real in self.files else self.tree.read(path)

    def names(self, folder: str) -> frozenset[str]:
        """What is listed, with new files and without deleted ones."""
        here = {p: data for p, data in self.files.items() if posixpath.dirname(p) == folder}
        new = {posixpath.basename(path) for path, data in here.items() if data is not None}
        gone = {posixpath.basename(path) for path, data in here.items() if data is None}
        return (self.tree.names(folder) | new) - gone

    def has_folder(self, folder: str) -> bool:
        """Whether there is one, or will be."""
        new = (path for path, data in self.files.items() if data is not None)
        return self.tree.has_folder(folder) or any(p.startswith(f"{folder}/") for p in new)

    def real(self, path: str) -> str:
        """Plans make no links."""
        return self.tree.real(path)

    def identity(self, path: str) -> Hashable | None:
        """New files have none yet: their real path tells them apart."""
        return self.tree.identity(path)

    def missing(self, path: str) -> Missing | None:
        """Nothing is missing where something is planned, be it a deletion."""
        return None if self.tree.real(path) in self.files else self.tree.missing(path)
