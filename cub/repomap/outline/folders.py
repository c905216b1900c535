"""Build the folders of a project as the tree shows them: chains joined, files counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from cub.repomap.listing.file_kinds import FileKind
from cub.repomap.listing.languages import detect_language
from cub.repomap.safe_text import quote_path

_MAX_LEVELS = 40  # what is deeper counts for the folder at this level
_MAX_CHAIN_CHARS = 60  # a longer chain of folders with nothing else in them is several lines
_CHAIN_FILES = frozenset(
    ["module-info.java", "__init__.py", ".gitkeep", "README.md", "py.typed"]
)  # which need not break a chain
# Without source, so many files of code at the second level, or of any kind, are worth a line.
_MIN_CODE_FILES, _MIN_FILES = 3, 10
_MANIFESTS = frozenset({
    "package.json", "pyproject.toml", "setup.py", "Cargo.toml", "go.mod", "pom.xml",
    "build.gradle", "build.gradle.kts", "composer.json", "mix.exs", "Package.swift",
    "pubspec.yaml", "deno.json", "project.json",
})  # fmt: skip
_PROJECT = re.compile(r"\.(?:csproj|fsproj|vbproj|gemspec|cabal|nimble)$")


@dataclass(slots=True, eq=False)
class FolderNode:
    """Describe a folder, or a chain of them: `path` of the last one, `name` of the whole chain.

    `chain` has the paths before the last one. `files` are the names of the files right in it,
    `sources` those of informative source files. The counts are of all files below it: of any
    kind, in a programming language, of source, and of tests, documentation and examples.
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
        """Return whether it has tests, documentation or examples, and no source."""
        return self.supporting_count > 0 and not self.source_count

    def find_description(self, descriptions: Mapping[str, str]) -> str:
        """Return the description of the last folder of the chain that has one; or ""."""
        texts = (descriptions.get(path, "") for path in (self.path, *reversed(self.chain)))
        return next(filter(None, texts), "")


def build_folder_nodes(
    paths: Iterable[str], kind_of: Callable[[str], FileKind], descriptions: Mapping[str, str]
) -> FolderNode:
    """Build the root folder of all `paths`, with those below it that are worth a line.

    `collapse_chains` prepares the folders in one of them to be shown.
    """
    folders = {"": FolderNode("", "")}
    for path in sorted(paths):
        if path.startswith(".") or "/." in path:
            continue
        place, _, name = path.rpartition("/")
        folder = folders.get(place) or _add_folder(folders, place)
        folder.files.append(name)
        _count_file(folder, name, kind_of(path))
    _add_up_counts(folders)
    for folder in folders.values():
        folder.folders = [below for below in folder.folders if _is_informative(below, descriptions)]
    return folders[""]


def _add_folder(folders: dict[str, FolderNode], place: str) -> FolderNode:
    above, path = folders[""], ""
    for name in place.split("/")[:_MAX_LEVELS]:
        path = f"{path}/{name}" if path else name
        folder = folders.get(path)
        if folder is None:
            folder = folders[path] = FolderNode(path, name)
            above.folders.append(folder)
        above = folder
    if above.path != place:
        folders[place] = above  # deeper than the tree goes
    return above


def _count_file(folder: FolderNode, name: str, kind: FileKind) -> None:
    is_code = is_code_file(name)
    folder.file_count += 1
    folder.code_count += is_code
    if kind is not FileKind.SOURCE:
        folder.supporting_count += 1
    elif is_code:
        folder.source_count += 1
        if not _UNINFORMATIVE.fullmatch(name):
            folder.sources.append(name)


def is_code_file(name: str) -> bool:
    """Return whether the name of a file is that of a programming language."""
    language = detect_language(name)
    return language is not None and not language.markup


def _add_up_counts(folders: dict[str, FolderNode]) -> None:
    """Give each folder the counts of those in it: a folder comes before them in `folders`."""
    for folder in reversed(list({id(folder): folder for folder in folders.values()}.values())):
        for below in folder.folders:
            folder.file_count += below.file_count
            folder.code_count += below.code_count
            folder.source_count += below.source_count
            folder.supporting_count += below.supporting_count


def _is_informative(folder: FolderNode, descriptions: Mapping[str, str]) -> bool:
    """Return whether a folder is worth a line: not a small one of data, or deep among tests."""
    level = folder.path.count("/")
    if level == 0 or folder.source_count or folder.path in descriptions:
        return True
    return folder.file_count >= _MIN_FILES or (level == 1 and folder.code_count >= _MIN_CODE_FILES)


def collapse_chains(folder: FolderNode) -> None:
    """Replace each folder in `folder` with the end of its chain; call once, from the root down."""
    folder.folders = [_follow_chain(below) for below in folder.folders]
    folder.folders.sort(key=lambda below: (below.is_supporting, below.name))


def _follow_chain(folder: FolderNode) -> FolderNode:
    """Return the folder at the end of the chain that starts at `folder`, named by the chain."""
    name, chain, is_package = folder.name, folder.chain, _has_manifest(folder)
    while len(folder.folders) == 1 and (
        not folder.sources
        if folder.folders[0].name == "src"
        else _CHAIN_FILES.issuperset(folder.files)
    ):
        name = f"{name}/{folder.folders[0].name}"
        if len(name) > _MAX_CHAIN_CHARS:
            break
        chain += (folder.path,)
        folder = folder.folders[0]
        is_package = is_package or _has_manifest(folder)
        folder.name, folder.chain = name, chain
    folder.is_package = is_package
    return folder


def _has_manifest(folder: FolderNode) -> bool:
    return any(name in _MANIFESTS or _PROJECT.search(name) for name in folder.files)


_MAX_NAMES = 40  # more say nothing to a reader
_MIN_GROUP = 3  # so many with the same ending say it only once
# What every package has, and what configures or declares.
_UNINFORMATIVE = re.compile(
    r"__init__\.pyi?|mod\.rs|(?:package|module)-info\.java|.*\.config\.\w+|.*\.d\.[cm]?ts|setup\.py"
    r"|.*\.gradle\.kts|.*\.gemspec|build\.rs"
)


def format_file_names(files: Sequence[str]) -> list[str]:
    """Return lines such as `*.py: app cli config`; [] if there are too many names."""
    all_names = frozenset(files)
    names = sorted(name for name in files if name[:-1] not in all_names or name[-4:] != ".pyi")
    if len(names) > _MAX_NAMES:
        return []
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.rpartition(".")[2], []).append(name)
    common = {ending: group for ending, group in groups.items() if len(group) >= _MIN_GROUP}
    rest = [name for name in names if name.rpartition(".")[2] not in common]
    quote = partial(quote_path, blanks=False)
    lines = [
        f"*.{ending}: {' '.join(quote(name[: -len(ending) - 1]) for name in common[ending])}"
        for ending in sorted(common)
    ]
    return [*lines, " ".join(map(quote, rest))] if rest else lines
