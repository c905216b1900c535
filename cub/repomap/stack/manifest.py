"""Hold one manifest: its text, and what its place among the project's paths tells."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from posixpath import normpath
from typing import Literal, NamedTuple

from cub.repomap.data import load_table
from cub.repomap.stack.facts import (
    CommandOrigin,
    CommandPurpose,
    EntryPoint,
    Fact,
    ProjectCommand,
    ProjectPackage,
    Technology,
    TechnologyRole,
    iter_row_commands,
)
from cub.repomap.stack.formats import format_version

Ecosystem = Literal[
    "pypi", "npm", "crates", "go", "maven", "rubygems", "packagist", "nuget", "hex", "swift",
    "native", "docker", "terraform", "serverless", "asdf",
]  # fmt: skip
MAX_MEMBERS = 300
MAX_GLOBS = 100
MAX_WILDCARDS = 4  # a glob with more takes a long time to match nothing


class Manifest(NamedTuple):
    """Hold one file for a reader: its path, its text, and all paths of the project."""

    path: str
    text: str
    paths: frozenset[str]

    @property
    def folder(self) -> str:
        """Return the manifest's folder, "" for the root."""
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        """Return the manifest's file name."""
        return self.path.rpartition("/")[2]

    def make_technology(self, name: str, role: TechnologyRole, version: str = "") -> Technology:
        """Return a technology that this manifest names."""
        return Technology(name, role, version, self.path)

    def find_known(
        self, ecosystem: Ecosystem, packages: Iterable[tuple[str, object]]
    ) -> tuple[Technology, ...]:
        """Return the technologies among packages with their versions, each once, in this order.

        A package that is not in the table is a dependency like hundreds of others, and is left out.
        """
        known, technologies = _load_packages(ecosystem), dict[str, Technology]()
        for package, version in packages:
            if row := known.get(package.lower()):
                first = technologies.get(row[0])
                if first is None or not first.version:
                    technologies[row[0]] = self.make_technology(*row, format_version(version))
        return tuple(technologies.values())

    def make_command(
        self, purpose: CommandPurpose, text: str, origin: CommandOrigin = "tool"
    ) -> ProjectCommand:
        """Return a command to type in the manifest's folder."""
        return ProjectCommand(purpose, text, self.path, self.folder, origin)

    def make_commands(self, **line_by_purpose: str) -> tuple[ProjectCommand, ...]:
        """Return commands of tools for the manifest's folder: `make_commands(test="go test")`."""
        return tuple(
            self.make_command(purpose, line) for purpose, line in iter_row_commands(line_by_purpose)
        )

    def make_entry_point(self, name: str, target: str) -> EntryPoint:
        """Return an entry point that this manifest names."""
        return EntryPoint(name, target, self.path)

    def make_package(self, name: str, description: str = "") -> ProjectPackage:
        """Return the package in the manifest's folder."""
        return ProjectPackage(self.folder, name, description, self.path)

    def make_member(self, folder: str, name: str = "") -> ProjectPackage:
        """Return a package in another folder; without a name, its own manifest names it."""
        return ProjectPackage(folder, name, "", self.path)

    def choose_program(self, own: str, usual: str) -> str:
        """Return the project's own program (`./gradlew`) if it is there, else the usual one."""
        return own if self.find_beside(own.removeprefix("./")) else usual

    def make_tool_commands(
        self, ecosystem: Ecosystem, packages: Container[str]
    ) -> Iterator[ProjectCommand]:
        """Yield the commands of the tools among packages, by the rows of `tools.toml`."""
        for package, row in load_table("tools")[ecosystem].items():
            for purpose, text in iter_row_commands(row) if package in packages else ():
                yield self.make_command(purpose, text)

    @property
    def python_prefix(self) -> str:
        """Return what comes before a tool of Python, by the lock file beside or, of uv, above."""
        prefixes: dict[str, str] = load_table("tools")["python_locks"]
        for name, prefix in prefixes.items():
            if self.find_beside(name) or (name == "uv.lock" and self.exists_above(name)):
                return prefix
        return ""

    def resolve_path(self, name: str) -> str:
        """Return the path from the root of what the manifest calls `name`, "" if it leads out."""
        name = name.strip().replace("\\", "/")
        if not name or name.startswith("/"):
            return ""
        path = normpath(_join(self.folder, name))
        return "" if path == "." or path.split("/", 1)[0] == ".." else path

    def find_beside(self, *names: str) -> str:
        """Return the first of these names that is in the folder or below, "" for none."""
        return next((name for name in names if _join(self.folder, name) in self.paths), "")

    def exists_above(self, *names: str) -> bool:
        """Tell if a folder above has one of these files: then this one is a part of that."""
        folder = self.folder
        while folder:
            folder = folder.rpartition("/")[0]
            if any(_join(folder, name) in self.paths for name in names):
                return True
        return False

    def list_below(self, folder: str) -> Iterator[str]:
        """Yield the paths in a folder beside the manifest, relative to that folder, in order."""
        paths = _sort_paths(self.paths)
        start = f"{_join(self.folder, folder)}/"
        for index in range(bisect_left(paths, start), len(paths)):
            if not paths[index].startswith(start):
                break
            yield paths[index].removeprefix(start)

    def match_siblings(self, *globs: str) -> list[str]:
        """Return the names in the manifest's own folder that match one of the globs, in order."""
        names = _group_names(self.paths).get(self.folder, ())
        return [name for name in names if any(fnmatchcase(name, glob) for glob in globs)]

    def make_members(self, globs: Sequence[str], *names: str) -> Iterator[ProjectPackage]:
        """Yield packages in the folders below that the globs name and that have one of the files.

        `*` stands for one folder, `**` for any depth; a glob that begins with "!" excludes again.
        """
        start = f"{self.folder}/" if self.folder else ""
        sensible = [
            glob
            for glob in globs[:MAX_GLOBS]
            if len(glob) <= 200 and glob.count("*") + glob.count("?") <= MAX_WILDCARDS
        ]
        included = [_compile_glob(glob) for glob in sensible if glob[:1] != "!"]
        excluded = [_compile_glob(glob[1:]) for glob in sensible if glob[:1] == "!"]
        if not included:
            return
        members = [
            folder
            for folder in _list_folders_with(self.paths, names)
            if folder.startswith(start)
            and any(pattern.fullmatch(folder, len(start)) for pattern in included)
            and not any(pattern.fullmatch(folder, len(start)) for pattern in excluded)
        ]
        topmost = sorted(members, key=lambda folder: folder.count("/"))[:MAX_MEMBERS]
        yield from map(self.make_member, topmost)


class ManifestReader(NamedTuple):
    """Say which files (by glob of the file name, or of the whole path) a function can read.

    Facts without a name are dropped, so the function need not look. It may raise ValueError (with a
    line number in its message if there is one) for a file that it can't make sense of: that costs
    this file alone.
    """

    globs: Sequence[str]
    read: Callable[[Manifest], Iterable[Fact]]


@cache
def _load_packages(ecosystem: Ecosystem) -> dict[str, tuple[str, TechnologyRole]]:
    return {
        package: (name, role)
        for role, packages in load_table("packages")[ecosystem].items()
        for package, name in packages.items()
    }


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


# One project is read after another, so each is sorted only once.
@lru_cache(maxsize=1)
def _sort_paths(paths: frozenset[str]) -> list[str]:
    return sorted(paths)


@lru_cache(maxsize=1)
def _group_names(paths: frozenset[str]) -> dict[str, list[str]]:
    """Return the names of files by their folders, in order."""
    names: dict[str, list[str]] = {}
    for path in _sort_paths(paths):
        folder, _, name = path.rpartition("/")
        names.setdefault(folder, []).append(name)
    return names


# One project is read after another, so its paths are searched only once.
@lru_cache(maxsize=4)
def _list_folders_with(paths: frozenset[str], names: tuple[str, ...]) -> list[str]:
    ends = tuple(f"/{name}" for name in names)
    return sorted({path.rpartition("/")[0] for path in paths if path.endswith(ends)})


@lru_cache(maxsize=256)
def _compile_glob(glob: str) -> re.Pattern[str]:
    """Return a glob as a regular expression; braces and brackets are literal."""
    parts = re.split(r"(\*\*/?|\*|\?)", glob.removeprefix("./").rstrip("/"))
    kinds = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(kinds.get(part) or re.escape(part) for part in parts))
