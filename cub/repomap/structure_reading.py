"""Reads the structure of a project from the names of its files and from its manifests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from cub.files.regular import read_start
from cub.repomap.listing.shares import shares
from cub.repomap.outline.conventions import conventions
from cub.repomap.outline.described import in_short
from cub.repomap.outline.descriptions import describe, summary
from cub.repomap.outline.key_files import key_files
from cub.repomap.outline.tree import outline
from cub.repomap.sifted import Sifted
from cub.repomap.stack.reading import read_stack
from cub.repomap.stack.stack import Stack
from cub.repomap.structure import Structure
from cub.repomap.symbols.jobs import FOREIGN

_MOST = 20_000_000  # bytes; who asks wants far less
_BEGIN, _END = b"<!-- BEGIN CUB MANAGED SECTION", b"END CUB MANAGED SECTION -->"


def structure_of(files: Sifted) -> Structure:
    """Look at the names of all files, and into those that speak of the whole."""
    found, kinds = files.found, files.kinds
    known = [path for path in found.paths if kinds.of(path) not in FOREIGN]
    seen: set[str] = set()
    read = _reader(found.root, seen)
    # Lock files and wrappers tell how a project is built.
    stack = read_stack([p for p in found.paths if kinds.beside(p) not in FOREIGN], read)
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
    """Reads a file of the listing, which has regular files alone, and adds it to those `seen`.

    What cub put into it is left out: the README that AGENTS.md is a link to says the same before
    and after `cub init`.
    """
    base = os.fspath(root)

    def read(path: str) -> bytes:
        seen.add(path)
        return _without_sections(read_start(base, path, _MOST))

    return read


def _without_sections(data: bytes) -> bytes:
    kept, at = [], 0
    while (end := data.find(_END, at)) >= 0:
        behind, start = end + len(_END), data.rfind(_BEGIN, at, end)
        kept.append(data[at : behind if start < 0 else start])
        at = behind
    return b"".join((*kept, data[at:]))


def _packages(stack: Stack) -> dict[str, str]:
    """What the parts of a monorepo are, by folder."""
    rows = ((one.folder, one.name.rpartition("/")[2], one.description) for one in stack.packages)
    said = {at: in_short(text, at) or in_short(name, at) for at, name, text in rows if at}
    return {folder: text for folder, text in said.items() if text}
