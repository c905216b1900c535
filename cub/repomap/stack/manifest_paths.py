"""Find paths beside, above and below a manifest, and the members of a workspace."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import islice
from posixpath import normpath

from cub.repomap.stack.facts import Manifest

MAX_MEMBERS = 300
MAX_GLOBS = 100
MAX_WILDCARDS = 4  # a glob with more takes a long time to match nothing


def resolve_manifest_path(manifest: Manifest, name: str) -> str:
    """Return the path from the root of what the manifest calls `name`, "" if that leads out."""
    name = name.strip().replace("\\", "/")
    if not name or name.startswith("/"):
        return ""
    path = normpath(_join(manifest.folder, name))
    return "" if path == "." or path.split("/", 1)[0] == ".." else path


def find_beside(manifest: Manifest, *names: str) -> str:
    """Return the first of these names that is in the manifest's folder or below, "" for none."""
    return next((name for name in names if _join(manifest.folder, name) in manifest.paths), "")


def exists_above(manifest: Manifest, *names: str) -> bool:
    """Tell if a folder above has one of these files: then this manifest is a part of that one."""
    return any(
        _join(folder, name) in manifest.paths
        for folder in _iter_folders_above(manifest.folder)
        for name in names
    )


def list_below(manifest: Manifest, folder: str) -> Iterator[str]:
    """Yield the paths in a folder beside the manifest, relative to that folder, in order."""
    paths = _sort_paths(manifest.paths)
    start = f"{_join(manifest.folder, folder)}/"
    for path in islice(paths, bisect_left(paths, start), None):
        if not path.startswith(start):
            break
        yield path.removeprefix(start)


def match_siblings(manifest: Manifest, *globs: str) -> list[str]:
    """Return the names in the manifest's own folder that match one of the globs, in order."""
    names = _group_names(manifest.paths).get(manifest.folder, ())
    return [name for name in names if any(fnmatchcase(name, glob) for glob in globs)]


def _iter_folders_above(folder: str) -> Iterator[str]:
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder


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


def find_workspace_members(manifest: Manifest, globs: Sequence[str], *names: str) -> list[str]:
    """Return the folders below the manifest's that the globs name and that have one of the files.

    `*` stands for one folder, `**` for any depth; a glob that begins with "!" excludes again.
    """
    start = f"{manifest.folder}/" if manifest.folder else ""
    sensible = [glob for glob in globs[:MAX_GLOBS] if _is_sensible(glob)]
    included = [_compile_glob(glob) for glob in sensible if glob[:1] != "!"]
    excluded = [_compile_glob(glob[1:]) for glob in sensible if glob[:1] == "!"]
    if not included:
        return []
    members = [
        folder
        for folder in _list_folders_with(manifest.paths, names)
        if folder.startswith(start)
        and any(pattern.fullmatch(folder, len(start)) for pattern in included)
        and not any(pattern.fullmatch(folder, len(start)) for pattern in excluded)
    ]
    return sorted(members, key=lambda folder: folder.count("/"))[:MAX_MEMBERS]


def _is_sensible(glob: str) -> bool:
    return len(glob) <= 200 and glob.count("*") + glob.count("?") <= MAX_WILDCARDS


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
