"""Find the manifests among a project's paths, by their names alone, and who reads them.

The rows of `manifests.toml` say which files are manifests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache, partial
from importlib import import_module
from typing import Any, NamedTuple

from cub.repomap.data import load_table
from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from cub.repomap.stack.facts import Fact, ProjectCommand, iter_row_commands
from cub.repomap.stack.manifest import Manifest, ManifestReader

MAX_MANIFESTS = 300
_WILDCARD = re.compile(r"[*?]|\[[^]]*\]")
_TEMPLATES = re.compile(r"templates?(?:[-_].*)?|skeletons?|scaffold(?:s|ing)?|.*\{\{.*")


class ManifestMatch(NamedTuple):
    """Name a manifest and those who can read it, by their index among all readers.

    `has_folder_glob`: a glob names the folder that the manifest is in.
    """

    path: str
    readers: tuple[int, ...]
    has_folder_glob: bool


def find_manifests(paths: Iterable[str], readers: Sequence[ManifestReader]) -> list[ManifestMatch]:
    """Return the manifests among the paths: shallow ones first, then by the order of the readers.

    A glob with a folder in it (".github/workflows/*.yml") matches in that very folder only. Other
    manifests count unless they are in a hidden folder, or in one of tests, examples,
    documentation, templates, or somebody else's code.
    """
    index: dict[_Handle, list[_Glob]] = {}
    for number, reader in enumerate(readers):
        for pattern in reader.globs:
            index.setdefault(_get_handle(pattern), []).append(_Glob(number, pattern))
    classifier = FileClassifier(())
    matches = filter(None, (_match_path(path, index) for path in paths))
    counted = {match for match in matches if _counts(match, classifier)}
    return sorted(counted, key=lambda match: (match.path.count("/"), match.readers, match.path))


def _counts(match: ManifestMatch, classifier: FileClassifier) -> bool:
    folder = match.path.rpartition("/")[0]
    if not folder or match.has_folder_glob:
        return True
    if any(name[0:1] == "." or _TEMPLATES.fullmatch(name) for name in folder.split("/")):
        return False
    return classifier.classify(f"{folder}/manifest") is FileKind.SOURCE


class _Glob(NamedTuple):
    """Hold the index of a reader, and one of its globs."""

    reader: int
    pattern: str


_Handle = tuple[str, str]


def _get_handle(pattern: str) -> _Handle:
    """Return what a path must have to match, so that most paths cost a few lookups.

    A glob with a wildcard in its name has a folder without one, an ending, as in "*.csproj", or a
    start, as in "Dockerfile.*".
    """
    folder, _, name = pattern.rpartition("/")
    ending = name.rpartition(".")[2]
    if not _WILDCARD.search(name):
        return "name", name
    if folder and not _WILDCARD.search(folder):
        return "folder", folder
    if "." in name and not _WILDCARD.search(ending):
        return "ending", ending
    return "start", name.partition(".")[0]


def _match_path(path: str, index: Mapping[_Handle, list[_Glob]]) -> ManifestMatch | None:
    """Return the path with the readers that have a glob that matches it; None if none has."""
    folder, _, name = path.rpartition("/")
    start, ending = name.partition(".")[0], name.rpartition(".")[2]
    handles = (("name", name), ("ending", ending), ("start", start), ("folder", folder))
    globs = [glob for handle in handles if handle in index for glob in index[handle]]
    matching = [glob for glob in globs if _fits(path, glob.pattern)]
    if not matching:
        return None
    has_folder_glob = any("/" in glob.pattern for glob in matching)
    return ManifestMatch(path, tuple(sorted({glob.reader for glob in matching})), has_folder_glob)


def _fits(path: str, glob: str) -> bool:
    if "/" not in glob:
        return fnmatchcase(path.rpartition("/")[2], glob)
    names, globs = path.split("/"), glob.split("/")
    return len(names) == len(globs) and all(map(fnmatchcase, names, globs))


@cache
def load_readers() -> tuple[ManifestReader, ...]:
    """Return one reader for each row of the table; the facts of the first row count first."""
    rows = load_table("manifests")["manifests"]
    return tuple(ManifestReader(_list_globs(row), partial(_read_by_row, row)) for row in rows)


def _list_globs(row: Mapping[str, Any]) -> list[str]:
    if "folders" in row:
        return [f"{folder}/{name}" for folder in row["folders"] for name in row["names"]]
    globs: list[str] = row["globs"]
    return globs


def _read_by_row(row: Mapping[str, Any], manifest: Manifest) -> Iterator[Fact]:
    """Yield the facts of a manifest; the module that reads it is imported here."""
    if "read" in row:
        module, _, function = row["read"].partition(".")
        reader = getattr(import_module(f"cub.repomap.stack.readers.{module}"), function)
        yield from reader(manifest)
    elif "tool" in row:
        from cub.repomap.stack.readers.python_tools import detect_run_prefix, list_tools

        yield from list_tools(manifest, [row["tool"]], run_prefix=detect_run_prefix(manifest))
    else:
        yield manifest.make_technology(row["technology"], row["role"])
        # A file that is fixed to a place below the root is for the root.
        folder = "" if "/" in row["globs"][0] else manifest.folder
        program = manifest.choose_program(*row["programs"]) if "programs" in row else ""
        for purpose, text in iter_row_commands(row):
            line = text.replace("{program}", program)
            yield ProjectCommand(purpose, line, manifest.path, folder)
