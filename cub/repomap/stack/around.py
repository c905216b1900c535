"""What a manifest's place tells: what stands beside it, below it or above it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from posixpath import normpath

from cub.repomap.stack.facts import Manifest


def path_of(manifest: Manifest, name: str) -> str:
    """The path from the root of what the manifest calls `name`, "" if that leads out."""
    name = name.strip().replace("\\", "/")
    if not name or name.startswith("/"):
        return ""
    path = normpath(_join(manifest.folder, name))
    return "" if path == "." or path.split("/", 1)[0] == ".." else path


def beside(manifest: Manifest, *names: str) -> str:
    """The first of these names that stands in the manifest's folder or below it, "" for none."""
    return next((name for name in names if _join(manifest.folder, name) in manifest.paths), "")


def above(manifest: Manifest, *names: str) -> bool:
    """Whether a folder above has one of these files: then that one leads, and this is a part."""
    return any(
        _join(folder, name) in manifest.paths
        for folder in _folders_above(manifest.folder)
        for name in names
    )


def below(manifest: Manifest, folder: str) -> Iterator[str]:
    """The paths in a folder beside the manifest, as seen from that folder, in order."""
    paths = _ordered(manifest.paths)
    start = f"{_join(manifest.folder, folder)}/"
    for at in range(bisect_left(paths, start), len(paths)):
        if not paths[at].startswith(start):
            break
        yield paths[at].removeprefix(start)


def matching(manifest: Manifest, *globs: str) -> list[str]:
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
