"""How a file's path relates to what other files import."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

# Files that stand for their folder, and give others what the folder offers.
FACES = frozenset(["__init__", "index", "mod", "lib", "init"])
# Folders that say where sources are, not what they are about.
PLAIN = frozenset(["src", "lib", "source", "sources", "main", "java", "kotlin", "scala", "app"])


class Module(NamedTuple):
    """`words` are the names under which others import the file or its folder, `name` the one of
    the file alone ("" if it says nothing); `folder` is where it stands;
    `face`: it stands for its folder; `depth` counts the folders above it, without plain ones.
    """

    words: frozenset[str]
    name: str
    folder: str
    face: bool
    depth: int


def module_of(path: str) -> Module:
    """What can be told from a path."""
    folder, _, base = path.rpartition("/")
    stem = base[: base.rfind(".", 1)] if "." in base[1:] else base
    face = stem in FACES
    parts = [part for part in folder.split("/") if part]
    name = (parts[-1] if parts else "") if face else stem
    words = frozenset((name, *parts[-1:])) - PLAIN - {""}
    depth = len([part for part in parts if part not in PLAIN])
    return Module(words, name if name in words else "", folder, face, depth)


def places_of(paths: Iterable[str]) -> frozenset[str]:
    """The names of all folders and files, without endings: what an import could begin with."""
    found: set[str] = set()
    for path in paths:
        *folders, name = path.split("/")
        found.update(folders)
        found.add(name.partition(".")[0])
    return frozenset(found)
