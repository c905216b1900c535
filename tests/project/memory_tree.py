"""A project in memory: what a disk would show of it, one that ignores case if asked to."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from cub.errors import CubError
from cub.files.file_tree import MissingFile


@dataclass(frozen=True)
class MemoryTree:
    """See `cub.files.FileTree`. `links` are symbolic links, by path with their text.

    With `ignores_case`, any spelling opens a file, as on macOS and Windows, and listings have the
    one that it was created with.
    """

    files: Mapping[str, bytes]
    links: Mapping[str, str] = field(default_factory=dict)
    ignores_case: bool = False

    def read(self, path: str) -> bytes | None:
        real = self.resolve_path(path)
        spelled = self._spelled(real)
        if spelled is not None:
            return self.files[spelled]
        if self.has_folder(real):
            raise CubError("this is a directory, not a text file", where=path)
        if real != path:
            raise CubError("this symbolic link points to nothing", where=path)
        return None

    def list_names(self, folder: str) -> frozenset[str]:
        start = self._folded(self.resolve_path(folder) + "/" if folder else "")
        below = (p for p in (*self.files, *self.links) if self._folded(p).startswith(start))
        return frozenset(path[len(start) :].partition("/")[0] for path in below)

    def has_folder(self, folder: str) -> bool:
        return bool(self.list_names(folder))

    def resolve_path(self, path: str) -> str:
        links = {self._folded(link): text for link, text in self.links.items()}
        todo, done = path.split("/"), ""
        while todo:
            step = posixpath.normpath(posixpath.join(done, todo.pop(0)))
            text = links.get(self._folded(step))
            if text is None:
                done = "" if step == "." else step
            else:
                todo[:0] = text.split("/")
        return done

    def get_identity(self, path: str) -> str | None:
        return self._spelled(self.resolve_path(path))

    def find_missing(self, path: str) -> MissingFile | None:  # noqa: ARG002
        return None

    def _spelled(self, path: str) -> str | None:
        return next((p for p in self.files if self._folded(p) == self._folded(path)), None)

    def _folded(self, path: str) -> str:
        return path.casefold() if self.ignores_case else path
