"""Reads the structure of a project from the names of its files and from its manifests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from cub.repomap.file_reading import read_file
from cub.repomap.listing.kinds import FOREIGN
from cub.repomap.listing.shares import shares
from cub.repomap.outline.conventions import conventions
from cub.repomap.outline.described import in_short
from cub.repomap.outline.descriptions import describe, summary
from cub.repomap.outline.key_files import key_files
from cub.repomap.outline.tree import outline
from cub.repomap.project_stack import stack_of
from cub.repomap.sifted import Sifted
from cub.repomap.stack.stack import Stack
from cub.repomap.structure import Structure


def structure_of(files: Sifted) -> Structure:
    """Look at the names of all files, and into those that speak of the whole."""
    found, kinds = files.found, files.kinds
    known = [path for path in found.paths if kinds.of(path) not in FOREIGN]
    seen: set[str] = set()
    read = _reader(found.root, seen)
    stack = stack_of(found.paths, kinds, read)
    described = describe(frozenset(known), read) | _packages(stack)
    return Structure(
        summary=summary(frozenset(known), read),
        languages=shares(found.files, kinds),
        stack=stack,
        key_files=key_files(found.paths, stack.entry_points, kinds),
        conventions=conventions(known, stack.technologies, kinds, read),
        tree=outline(known, described, kinds.of),
        read=frozenset(seen),
    )


def _reader(root: Path, seen: set[str]) -> Callable[[str], bytes]:
    """Reads a file of the listing, and adds it to those `seen`."""
    base = os.fspath(root)

    def read(path: str) -> bytes:
        seen.add(path)
        return read_file(base, path)

    return read


def _packages(stack: Stack) -> dict[str, str]:
    """What the parts of a monorepo are, by folder."""
    rows = ((one.folder, one.name.rpartition("/")[2], one.description) for one in stack.packages)
    said = {at: in_short(text, at) or in_short(name, at) for at, name, text in rows if at}
    return {folder: text for folder, text in said.items() if text}
