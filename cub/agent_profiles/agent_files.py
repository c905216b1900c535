"""Read the files that an agent can load: of a project, around it, and in the user's directories."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from cub.config_edit.config_text import JSON, ConfigFormat, KeyPath
from cub.config_edit.string_list import ListLocation, read_string_list
from cub.errors import CubError
from cub.files.file_tree import FileTree
from cub.files.glob_patterns import compile_glob

_T = TypeVar("_T")
_GLOB = re.compile(r"[*?\[{]")
_MAX_FOUND = 500  # files that a pattern may name
_UNLISTED = frozenset((".git", "node_modules", ".venv"))


@dataclass(frozen=True)
class AgentFiles:
    """Hold where an agent starts, and what decides which files it loads there.

    `tree` has the project's files, whose absolute path is `root`; the agent starts in `folder`
    below it. `outside` has all other files by their absolute paths without the first slash; with
    None, the project's alone count. `environ` and `arguments` are the agent's, and an empty
    `version` is its newest. `has_path_rules`: rules for some paths alone count. All paths that
    methods take and return are absolute, such as those of `ignored` files.
    """

    tree: FileTree
    root: str = "/project"
    folder: str = ""
    outside: FileTree | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    arguments: Sequence[str] = ()
    version: tuple[int, ...] = ()
    has_path_rules: bool = False
    ignored: frozenset[str] = frozenset()

    @property
    def start(self) -> str:
        """Return the folder that the agent starts in."""
        return posixpath.join(self.root, self.folder).rstrip("/")

    @property
    def home(self) -> str:
        """Return the user's home folder, "" if its files don't count."""
        return self.environ.get("HOME", "").rstrip("/") if self.outside else ""

    def find_user_folder(self, variable: str, default: str) -> str:
        """Return the folder that a variable names, or else `default` in the home folder; or ""."""
        named = self.environ.get(variable, "") if self.outside else ""
        default = posixpath.join(self.home, default) if self.home else ""
        return (named or default).rstrip("/")

    def list_folders(self, top: str = "") -> list[str]:
        """Return the folders from `top`, or that of the disk, down to where the agent starts."""
        folders = [self.start]
        while folders[-1] not in (top, posixpath.dirname(folders[-1])):
            folders.append(posixpath.dirname(folders[-1]))
        return folders[::-1]

    def list_repository_folders(self, markers: Collection[str] = (".git",)) -> list[str]:
        """Return the folders from the root of a repository to the start; the start if in none."""
        folders = reversed(self.list_folders())
        top = next((one for one in folders if self.find_first(one, markers)), self.start)
        return self.list_folders(top)

    def find_first(self, folder: str, names: Iterable[str]) -> str:
        """Return the path of the first of some names that a folder has, "" if it has none."""
        there = self.list_names(folder)
        return next((posixpath.join(folder, name) for name in names if name in there), "")

    def read(self, path: str) -> bytes:
        """Return the bytes of a file; b"" if there is none, or no agent can read it."""
        folder, name = posixpath.split(path)
        # The listing comes first: of a file that is not there, a tree asks git.
        if name not in self.list_names(folder) or path in self.ignored:
            return b""
        return self._ask(path, lambda tree, inner: tree.read(inner) or b"", b"")

    def list_names(self, folder: str) -> frozenset[str]:
        """Return the names in a folder; none if it can't be listed."""
        return self._ask(folder, lambda tree, inner: tree.list_names(inner), frozenset())

    def resolve(self, path: str) -> str:
        """Return where a path leads through links."""

        def resolve(tree: FileTree, inner: str) -> str:
            top = self.root if tree is self.tree else self._anchor
            return posixpath.normpath(posixpath.join(top, tree.resolve_path(inner)))

        return self._ask(path, resolve, path)

    def identify(self, path: str) -> Hashable:
        """Return a value that all names of a file share."""
        found = (tree.get_identity(inner) for tree, inner in self._locate(path))
        return next((identity for identity in found if identity is not None), path)

    @staticmethod
    def is_below(path: str, folder: str) -> bool:
        """Tell whether a path is a folder, or below it."""
        return path == folder or path.startswith(f"{folder.rstrip('/')}/")

    def shorten(self, path: str) -> str:
        """Return a path as people write it: from the project's root, or from the home folder."""
        if self.is_below(path, self.root):
            return path[len(self.root) + 1 :]
        is_users = self.home and path.startswith(f"{self.home}/")
        return f"~{path[len(self.home) :]}" if is_users else path

    def read_list(
        self, path: str, keys: KeyPath, kind: ConfigFormat = JSON, data: bytes = b""
    ) -> list[str] | None:
        """Return the strings that a settings file lists; None for none, or if it can't be read.

        The settings may also be given as `data`.
        """
        data = data or self.read(path)
        try:
            found = read_string_list(data, ListLocation(path, keys, kind)) if data else None
        except CubError:
            return None
        return None if found is None else list(found)

    def expand(
        self, patterns: Iterable[str], folder: str = "", *, has_globs: bool = True
    ) -> Iterator[str]:
        """Yield the files that patterns name, relative to a folder: files, folders, and globs."""
        for pattern in patterns:
            path = self.join(folder or self.start, pattern)
            if has_globs and (first := _GLOB.search(path)):
                head = posixpath.dirname(path[: first.start()])
                yield from filter(compile_glob(path), self._walk(head))
            elif self.read(path):
                yield path
            else:
                yield from self._walk(path)

    def join(self, folder: str, path: str) -> str:
        """Return the normalized path that a text in a file of `folder` names."""
        whole = f"{self.home}{path[1:]}" if path.startswith("~/") else posixpath.join(folder, path)
        return posixpath.normpath(whole)

    def find_arguments(self, *names: str) -> list[str]:
        """Return the values of an option in the agent's arguments."""
        found = []
        for word, after in zip(self.arguments, (*self.arguments[1:], ""), strict=False):
            if word in names:
                found.append(after)
            found += [word[len(name) + 1 :] for name in names if word.startswith(f"{name}=")]
        return found

    def _walk(self, folder: str) -> Iterator[str]:
        todo, count = [folder], 0
        while todo and count < _MAX_FOUND:
            current = todo.pop()
            for name in sorted(self.list_names(current) - _UNLISTED):
                path, count = posixpath.join(current, name), count + 1
                is_folder = any(tree.has_folder(inner) for tree, inner in self._locate(path))
                if is_folder:
                    todo.append(path)
                else:
                    yield path

    @property
    def _anchor(self) -> str:
        return self.root[: self.root.find("/") + 1]

    def _ask(self, path: str, question: Callable[[FileTree, str], _T], default: _T) -> _T:
        """Return the answer of the first tree that has one; they are asked by their own paths."""
        for tree, inner in self._locate(path):
            with suppress(CubError, OSError):
                return question(tree, inner)
        return default

    def _locate(self, path: str) -> Iterator[tuple[FileTree, str]]:
        if self.is_below(path, self.root):
            yield self.tree, path[len(self.root) + 1 :]
        if self.outside and path:
            yield self.outside, path.removeprefix(self._anchor)


class LoadedFile(NamedTuple):
    """Hold a file that an agent loads, by its absolute path, and how many of its bytes it reads.

    `max_bytes` is None for all. The file may import others below `limit`, anywhere if it is "".
    """

    path: str
    max_bytes: int | None = None
    limit: str = ""
    data: bytes = b""

    @property
    def text(self) -> str:
        """Return what the model sees."""
        return self.data[: self.end].decode("utf-8-sig", "replace").replace("\r\n", "\n")

    @property
    def end(self) -> int:
        """Return the offset where that ends; a line that the limit cuts counts as not loaded."""
        return self.data.rfind(b"\n", 0, self.max_bytes) + 1 if self.is_cut else len(self.data)

    @property
    def is_cut(self) -> bool:
        """Tell whether only the beginning is loaded."""
        return self.max_bytes is not None and self.max_bytes < len(self.data)


class AgentReading(NamedTuple):
    """Describe how an agent reads instructions: which files, and how many imports in a row.

    Without imports, it sees the words `@path`. `repeats_imports`: a file that is imported twice is
    loaded twice, and one behind a link imports from where the link is. `prevent_load` returns the
    arguments with which the agent does not load some files; None if there are none.
    """

    list_entries: Callable[[AgentFiles], Iterator[LoadedFile]]
    find_imports: Callable[[bytes], Iterable[str]] = lambda _: ()
    import_depth: int = 0
    repeats_imports: bool = False
    make_filter: Callable[[AgentFiles], Callable[[str], object]] = lambda _: lambda _: True
    prevent_load: Callable[[AgentFiles, Sequence[str]], tuple[str, ...] | None] = lambda *_: None
