"""What a manifest's place tells: what stands beside it, below it or above it.

The members of a workspace: the folders that its globs name.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from posixpath import normpath

from cub.repomap.stack.facts import Manifest


def resolve_manifest_path(manifest: Manifest, name: str) -> str:
    """The path from the root of what the manifest calls `name`, "" if that leads out."""
    name = name.strip().replace("\\", "/")
    if not name or name.startswith("/"):
        return ""
    path = normpath(_join(manifest.folder, name))
    return "" if path == "." or path.split("/", 1)[0] == ".." else path


def find_beside(manifest: Manifest, *names: str) -> str:
    """The first of these names that stands in the manifest's folder or below it, "" for none."""
    return next((name for name in names if _join(manifest.folder, name) in manifest.paths), "")


def exists_above(manifest: Manifest, *names: str) -> bool:
    """Whether a folder above has one of these files: then that one leads, and this is a part."""
    return any(
        _join(folder, name) in manifest.paths
        for folder in _folders_above(manifest.folder)
        for name in names
    )


def list_below(manifest: Manifest, folder: str) -> Iterator[str]:
    """The paths in a folder beside the manifest, as seen from that folder, in order."""
    paths = _ordered(manifest.paths)
    start = f"{_join(manifest.folder, folder)}/"
    for at in range(bisect_left(paths, start), len(paths)):
        if not paths[at].startswith(start):
            break
        yield paths[at].removeprefix(start)


def match_siblings(manifest: Manifest, *globs: str) -> list[str]:
    """The names in the manifest's own folder that fit one of the globs, in order."""
    names = (path.rpartition("/")[2] for path in _beside(manifest.paths).get(manifest.folder, ()))
    return [name for name in names if any(fnmatchcase(name, glob) for glob in globs)]


def _folders_above(folder: str) -> Iterator[str]:
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


# One project is looked at after another, so each has to be put in order only once.
@lru_cache(maxsize=1)
def _ordered(paths: frozenset[str]) -> list[str]:
    return sorted(paths)


@lru_cache(maxsize=1)
def _beside(paths: frozenset[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in _ordered(paths):
        found.setdefault(path.rpartition("/")[0], []).append(path)
    return found


MAX_MEMBERS = 300
MAX_GLOBS = 100
MAX_WILDCARDS = 4  # a glob with more takes a long time to fit nothing


def find_workspace_members(manifest: Manifest, globs: Sequence[str], *names: str) -> list[str]:
    """The folders below the manifest's that the globs name and that have a file of these names.

    `*` stands for one folder, `**` for any depth; a glob that begins with "!" takes out again.
    """
    start = f"{manifest.folder}/" if manifest.folder else ""
    few = [glob for glob in globs[:MAX_GLOBS] if _is_sensible(glob)]
    wanted = [_pattern(glob) for glob in few if glob[:1] != "!"]
    unwanted = [_pattern(glob[1:]) for glob in few if glob[:1] == "!"]
    if not wanted:
        return []
    folders = (folder for folder in _folders(manifest.paths, names) if folder.startswith(start))
    kept = [
        folder
        for folder in folders
        if any(one.fullmatch(folder, len(start)) for one in wanted)
        and not any(one.fullmatch(folder, len(start)) for one in unwanted)
    ]
    return sorted(kept, key=lambda folder: folder.count("/"))[:MAX_MEMBERS]


def _is_sensible(glob: str) -> bool:
    return len(glob) <= 200 and glob.count("*") + glob.count("?") <= MAX_WILDCARDS


# One project is looked at after another, so its paths have to be searched only once.
@lru_cache(maxsize=4)
def _folders(paths: frozenset[str], names: tuple[str, ...]) -> list[str]:
    """All folders that have a file of these names."""
    ends = tuple(f"/{name}" for name in names)
    return sorted({path.rpartition("/")[0] for path in paths if path.endswith(ends)})


@lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    """A glob as a regular expression; braces and brackets stand for themselves."""
    parts = re.split(r"(\*\*/?|\*|\?)", glob.removeprefix("./").rstrip("/"))
    kinds = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(kinds.get(part) or re.escape(part) for part in parts))
