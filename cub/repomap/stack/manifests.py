"""Which files of a project are manifests, found by their names alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from cub.repomap.listing.kinds import Kind, Kinds
from cub.repomap.stack.facts import Reader

MOST_MANIFESTS = 300
_WILD = re.compile(r"[*?]|\[[^]]*\]")
_TEMPLATES = re.compile(r"templates?(?:[-_].*)?|skeletons?|scaffold(?:s|ing)?|.*\{\{.*")


class _Glob(NamedTuple):
    """One way to be read: the place of the reader, and what the path has to look like.

    A glob with a wild card needs an ending, as in "*.csproj", or a start, as in "Dockerfile.*".
    `literal` is its longest part without wild cards.
    """

    reader: int
    pattern: str
    literal: str


class Found(NamedTuple):
    """A manifest and those who can read it, by their place among all readers.

    `named`: a glob names the folder that it stands in.
    """

    path: str
    readers: tuple[int, ...]
    named: bool


def find(paths: Iterable[str], readers: Sequence[Reader]) -> list[Found]:
    """The manifests among the paths: shallow ones first, then by the order of the readers.

    A glob with a folder in it (".github/workflows/*.yml") is met by that very folder only. Other
    manifests count unless they stand in a hidden folder, or in one of tests, examples,
    documentation, templates, or somebody else's code.
    """
    index = _Index(readers)
    kinds = Kinds(())
    found = map(index.found, index.candidates(paths))
    kept = (one for one in found if one.readers and _counts(one, kinds))
    return sorted(set(kept), key=lambda one: (one.path.count("/"), one.readers, one.path))


def _counts(found: Found, kinds: Kinds) -> bool:
    folder = found.path.rpartition("/")[0]
    if not folder or found.named:
        return True
    if any(name[0:1] == "." or _TEMPLATES.fullmatch(name) for name in folder.split("/")):
        return False
    return kinds.of(f"{folder}/manifest") is Kind.SOURCE


class _Index:
    """The globs by what a path must have to meet them, so that most paths cost a few look-ups."""

    def __init__(self, readers: Sequence[Reader]) -> None:
        self.names: dict[str, list[_Glob]] = {}
        self.endings: dict[str, list[_Glob]] = {}
        self.starts: dict[str, list[_Glob]] = {}
        self.folders: dict[str, list[_Glob]] = {}
        for number, reader in enumerate(readers):
            for pattern in reader.globs:
                self._add(_Glob(number, pattern, max(_WILD.split(pattern), key=len)))

    def _add(self, glob: _Glob) -> None:
        folder, _, name = glob.pattern.rpartition("/")
        start, ending = name.partition(".")[0], name.rpartition(".")[2]
        if not _WILD.search(name):
            self.names.setdefault(name, []).append(glob)
        elif folder and not _WILD.search(folder):
            self.folders.setdefault(folder, []).append(glob)
        elif "." in name and not _WILD.search(ending):
            self.endings.setdefault(ending, []).append(glob)
        else:
            self.starts.setdefault(start, []).append(glob)

    def candidates(self, paths: Iterable[str]) -> list[str]:
        """The paths that may meet a glob."""
        names, endings, starts, folders = self.names, self.endings, self.starts, self.folders
        found = []
        for path in paths:
            folder, _, name = path.rpartition("/")
            start, _, ending = name.partition(".")
            if (
                name in names
                or start in starts
                or folder in folders
                or ending in endings
                or ("." in ending and ending.rpartition(".")[2] in endings)
            ):
                found.append(path)
        return found

    def found(self, path: str) -> Found:
        """The path with the readers that have a glob that it meets."""
        folder, _, name = path.rpartition("/")
        globs = [
            *self.names.get(name, ()),
            *self.endings.get(name.rpartition(".")[2], ()),
            *self.starts.get(name.partition(".")[0], ()),
            *self.folders.get(folder, ()),
        ]
        met = [glob for glob in globs if glob.literal in path and _meets(path, glob.pattern)]
        named = any("/" in glob.pattern for glob in met)
        return Found(path, tuple(sorted({glob.reader for glob in met})), named)


def _meets(path: str, glob: str) -> bool:
    if "/" not in glob:
        return fnmatchcase(path.rpartition("/")[2], glob)
    pieces, wanted = path.split("/"), glob.split("/")
    return len(pieces) == len(wanted) and all(map(fnmatchcase, pieces, wanted))
