"""Reads the structure of a project from the names of its files and from its manifests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from cub.repomap.listing.file_kinds import FOREIGN_KINDS
from cub.repomap.listing.file_listing import read_listed_file
from cub.repomap.listing.languages import compute_language_shares
from cub.repomap.outline.conventions import list_conventions
from cub.repomap.outline.descriptions import (
    condense_description,
    describe_folders,
    summarize_project,
)
from cub.repomap.outline.folder_tree import build_folder_tree
from cub.repomap.outline.key_files import find_key_files
from cub.repomap.repo_map import ProjectStructure
from cub.repomap.stack.facts import ProjectStack
from cub.repomap.stack.read_stack import read_stack
from cub.repomap.symbols.scan import ClassifiedFiles


def read_structure(files: ClassifiedFiles) -> ProjectStructure:
    """Look at the names of all files, and into those that speak of the whole."""
    found, kinds = files.listing, files.classifier
    known = [path for path in found.paths if kinds.classify(path) not in FOREIGN_KINDS]
    seen: set[str] = set()
    read = _reader(found.root, seen)
    stack = read_stack(found.paths, kinds, read)
    described = describe_folders(frozenset(known), read) | _packages(stack)
    return ProjectStructure(
        summary=summarize_project(frozenset(known), read),
        languages=compute_language_shares(found.files, kinds),
        stack=stack,
        key_files=find_key_files(found.paths, stack.entry_points, kinds),
        conventions=list_conventions(known, stack.technologies, kinds, read),
        tree=build_folder_tree(known, described, kinds.classify),
        read_paths=frozenset(seen),
    )


def _reader(root: Path, seen: set[str]) -> Callable[[str], bytes]:
    """Reads a file of the listing, and adds it to those `seen`."""
    base = os.fspath(root)

    def read(path: str) -> bytes:
        seen.add(path)
        return read_listed_file(base, path)

    return read


def _packages(stack: ProjectStack) -> dict[str, str]:
    """What the parts of a monorepo are, by folder."""
    rows = ((one.folder, one.name.rpartition("/")[2], one.description) for one in stack.packages)
    said = {
        at: condense_description(text, at) or condense_description(name, at)
        for at, name, text in rows
        if at
    }
    return {folder: text for folder, text in said.items() if text}
