"""The names of a folder's source files in few words, sorted by their endings.

The folders of a project as the tree shows them: chains joined, files counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from cub.repomap.listing.file_kinds import FileKind
from cub.repomap.listing.languages import detect_language
from cub.repomap.safe_text import quote_path

# The names of more files than this are a wall, not a view.
_MOST = 40
_COMMON = 3  # so many with the same ending need to say it only once
# What every package has, and what configures or declares.
_PLAIN = re.compile(
    r"__init__\.pyi?|mod\.rs|(?:package|module)-info\.java|.*\.config\.\w+|.*\.d\.[cm]?ts|setup\.py"
    r"|.*\.gradle\.kts|.*\.gemspec|build\.rs"
)


def is_uninformative_name(name: str) -> bool:
    """Whether a source file's name tells nothing of what its folder does."""
    return bool(_PLAIN.fullmatch(name))


def format_file_names(files: Sequence[str]) -> list[str]:
    """`*.py: app cli config` and the like; nothing where they are too many."""
    there = frozenset(files)
    names = sorted(name for name in files if name[:-1] not in there or name[-4:] != ".pyi")
    if len(names) > _MOST:
        return []
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.rpartition(".")[2], []).append(name)
    common = {ending: group for ending, group in groups.items() if len(group) >= _COMMON}
    rest = [name for name in names if name.rpartition(".")[2] not in common]
    lines = [_line(ending, common[ending]) for ending in sorted(common)]
    shown = " ".join(map(partial(quote_path, blanks=False), rest))
    return [*lines, shown] if rest else lines


def _line(ending: str, names: Sequence[str]) -> str:
    stems = (quote_path(name[: -len(ending) - 1], blanks=False) for name in names)
    return f"*.{ending}: {' '.join(stems)}"


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
class FolderNode:
    """`path` of the last folder of a chain, `name` of the whole chain below the one above.

    `chain` has the paths of the folders before the last one. `files` are the names of the files
    right in it, `sources` those of source files that tell something. The counts are of all files
    below it: `file_count` of any kind, `code_count` in a programming language, `source_count` of
    source, `supporting_count` of tests, documentation and examples.
    """

    path: str
    name: str
    chain: tuple[str, ...] = ()
    is_package: bool = False
    files: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    folders: list[FolderNode] = field(default_factory=list)
    file_count: int = 0
    code_count: int = 0
    source_count: int = 0
    supporting_count: int = 0

    @property
    def is_supporting(self) -> bool:
        """Whether it holds tests, documentation or examples, and no source."""
        return self.supporting_count > 0 and not self.source_count

    def find_description(self, descriptions: Mapping[str, str]) -> str:
        """What is said of it, or else of the next folder above it in the chain; or ""."""
        said = (descriptions.get(path, "") for path in (self.path, *reversed(self.chain)))
        return next(filter(None, said), "")


def build_folder_nodes(
    paths: Iterable[str], kind_of: Callable[[str], FileKind], descriptions: Mapping[str, str]
) -> FolderNode:
    """The root folder of all `paths`, with those below it that are worth a line.

    `collapse_chains` makes the folders in one of them ready to be shown.
    """
    folders = {"": FolderNode("", "")}
    for path in sorted(paths):
        if path.startswith(".") or "/." in path:
            continue
        place, _, name = path.rpartition("/")
        folder = folders.get(place) or _put(folders, place)
        folder.files.append(name)
        _count(folder, name, kind_of(path))
    _add_up(folders)
    for folder in folders.values():
        folder.folders = [below for below in folder.folders if _tells(below, descriptions)]
    return folders[""]


def collapse_chains(folder: FolderNode) -> None:
    """Replace each folder in `folder` by the end of its chain; once, from the root down."""
    folder.folders = [_chained(below) for below in folder.folders]
    folder.folders.sort(key=lambda below: (below.is_supporting, below.name))


def _put(folders: dict[str, FolderNode], place: str) -> FolderNode:
    """The folder at `place`, made with all above it that are not there yet."""
    above = folders[""]
    for path, name in _prefixes(place):
        folder = folders.get(path)
        if folder is None:
            folder = folders[path] = FolderNode(path, name)
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


def _count(folder: FolderNode, name: str, kind: FileKind) -> None:
    code = is_code_file(name)
    folder.file_count += 1
    folder.code_count += code
    if kind is not FileKind.SOURCE:
        folder.supporting_count += 1
    elif code:
        folder.source_count += 1
        if not is_uninformative_name(name):
            folder.sources.append(name)


def is_code_file(name: str) -> bool:
    """Whether the name of a file is one of a programming language."""
    language = detect_language(name)
    return language is not None and not language.markup


def _add_up(folders: dict[str, FolderNode]) -> None:
    """Give each folder the counts of those in it: a folder comes before them in `folders`."""
    for folder in reversed(list({id(folder): folder for folder in folders.values()}.values())):
        for below in folder.folders:
            folder.file_count += below.file_count
            folder.code_count += below.code_count
            folder.source_count += below.source_count
            folder.supporting_count += below.supporting_count


def _tells(folder: FolderNode, described: Mapping[str, str]) -> bool:
    """Whether a folder is worth a line at all: no small ones of data, or deep among the tests."""
    level = folder.path.count("/")
    if level == 0 or folder.source_count or folder.path in described:
        return True
    return folder.file_count >= _SOME or (level == 1 and folder.code_count >= _FEW)


def _chained(folder: FolderNode) -> FolderNode:
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
    folder.is_package = package
    return folder


def _is_passage(folder: FolderNode) -> bool:
    """Whether nobody stops at a folder: there is only one way on, and little else in it."""
    if folder.folders[0].name == "src":
        return not folder.sources
    return _FACES.issuperset(folder.files)


def _is_package(folder: FolderNode) -> bool:
    return any(name in _MANIFESTS or _PROJECT.search(name) for name in folder.files)
