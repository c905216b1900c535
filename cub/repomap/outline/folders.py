"""The folders of a project as the tree shows them: chains joined, files counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from cub.repomap.listing.kinds import Kind
from cub.repomap.listing.languages import MARKUP, language_of
from cub.repomap.outline.file_names import is_plain

# What lies deeper counts into the folder at this depth; nobody reads a tree as deep as that.
_DEEPEST = 40
# A chain of folders with nothing else in them is one line up to this many characters.
_CHAIN = 60
# Files that need not break a chain.
_FACES = frozenset(["module-info.java", "__init__.py", ".gitkeep", "README.md", "py.typed"])
# Files of code at the second level, of any kind deeper, that are worth a line if none is source.
_FEW, _SOME = 3, 10
_MANIFESTS = frozenset({
    "package.json", "pyproject.toml", "setup.py", "Cargo.toml", "go.mod", "pom.xml",
    "build.gradle", "build.gradle.kts", "composer.json", "mix.exs", "Package.swift",
    "pubspec.yaml", "deno.json", "project.json",
})  # fmt: skip
_PROJECT = re.compile(r"\.(?:csproj|fsproj|vbproj|gemspec|cabal|nimble)$")


@dataclass(slots=True, eq=False)
class Folder:
    """`path` of the last folder of a chain, `name` of the whole chain below the one above.

    `chain` has the paths of the folders before the last one. `files` are the names of the files
    right in it, `sources` those of source files that tell something. The counts are of all files
    below it: `count` of any kind, `code` in a programming language, `source` of source, `beside`
    of tests, documentation and examples.
    """

    path: str
    name: str
    chain: tuple[str, ...] = ()
    package: bool = False
    files: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    folders: list[Folder] = field(default_factory=list)
    count: int = 0
    code: int = 0
    source: int = 0
    beside: int = 0

    @property
    def is_beside(self) -> bool:
        """Whether it holds tests, documentation or examples, and no source."""
        return self.beside > 0 and not self.source

    def described(self, descriptions: Mapping[str, str]) -> str:
        """What is said of it, or else of the next folder above it in the chain; or ""."""
        said = (descriptions.get(path, "") for path in (self.path, *reversed(self.chain)))
        return next(filter(None, said), "")


def folder_tree(
    paths: Iterable[str], kind_of: Callable[[str], Kind], described: Mapping[str, str]
) -> Folder:
    """The root folder of all `paths`, with those below it that are worth a line.

    `join_chains` makes the folders in one of them ready to be shown.
    """
    folders = {"": Folder("", "")}
    for path in sorted(paths):
        if path.startswith(".") or "/." in path:
            continue
        place, _, name = path.rpartition("/")
        folder = folders.get(place) or _put(folders, place)
        folder.files.append(name)
        _count(folder, name, kind_of(path))
    _add_up(folders)
    for folder in folders.values():
        folder.folders = [below for below in folder.folders if _tells(below, described)]
    return folders[""]


def join_chains(folder: Folder) -> None:
    """Replace each folder in `folder` by the end of its chain; once, from the root down."""
    folder.folders = [_chained(below) for below in folder.folders]
    folder.folders.sort(key=lambda below: (below.is_beside, below.name))


def _put(folders: dict[str, Folder], place: str) -> Folder:
    """The folder at `place`, made with all above it that are not there yet."""
    above = folders[""]
    for path, name in _prefixes(place):
        folder = folders.get(path)
        if folder is None:
            folder = folders[path] = Folder(path, name)
            above.folders.append(folder)
        above = folder
    if above.path != place:
        folders[place] = above  # deeper than the tree goes
    return above


def _prefixes(place: str) -> Iterator[tuple[str, str]]:
    path = ""
    for name in place.split("/")[:_DEEPEST]:
        path = f"{path}/{name}" if path else name
        yield path, name


def _count(folder: Folder, name: str, kind: Kind) -> None:
    code = is_code(name)
    folder.count += 1
    folder.code += code
    if kind is not Kind.SOURCE:
        folder.beside += 1
    elif code:
        folder.source += 1
        if not is_plain(name):
            folder.sources.append(name)


def is_code(name: str) -> bool:
    """Whether the name of a file is one of a programming language."""
    language = language_of(name)
    return language is not None and language.name not in MARKUP


def _add_up(folders: dict[str, Folder]) -> None:
    """Give each folder the counts of those in it: a folder comes before them in `folders`."""
    for folder in reversed(list({id(folder): folder for folder in folders.values()}.values())):
        for below in folder.folders:
            folder.count += below.count
            folder.code += below.code
            folder.source += below.source
            folder.beside += below.beside


def _tells(folder: Folder, described: Mapping[str, str]) -> bool:
    """Whether a folder is worth a line at all: no small ones of data, or deep among the tests."""
    level = folder.path.count("/")
    if level == 0 or folder.source or folder.path in described:
        return True
    return folder.count >= _SOME or (level == 1 and folder.code >= _FEW)


def _chained(folder: Folder) -> Folder:
    """The folder at the end of the chain that begins at `folder`, named by all of the chain."""
    name, chain, package = folder.name, folder.chain, _is_package(folder)
    while len(folder.folders) == 1 and _is_passage(folder):
        name = f"{name}/{folder.folders[0].name}"
        if len(name) > _CHAIN:
            break
        chain += (folder.path,)
        folder = folder.folders[0]
        package = package or _is_package(folder)
        folder.name, folder.chain = name, chain
    folder.package = package
    return folder


def _is_passage(folder: Folder) -> bool:
    """Whether nobody stops at a folder: there is only one way on, and little else in it."""
    if folder.folders[0].name == "src":
        return not folder.sources
    return _FACES.issuperset(folder.files)


def _is_package(folder: Folder) -> bool:
    return any(name in _MANIFESTS or _PROJECT.search(name) for name in folder.files)
