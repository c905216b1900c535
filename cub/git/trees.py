"""All files of a tree, listed once: what a tree is named by never changes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from cub.git.calling import call, split
from cub.git.objects import Entry


@lru_cache(maxsize=4)
def files_of(top: Path, tree: str) -> Mapping[str, Entry]:
    """The files, links and submodules of a tree by path, with those of its folders."""
    found = {}
    for line in split(call(top, "ls-tree", "-r", "-z", "--full-tree", tree)):
        about, _, path = line.partition("\t")
        mode, _, oid = about.split(" ")
        found[path] = Entry(int(mode, 8), oid)
    return found
