"""The stack of a project on disk: one reading of it, for the map as for prompts and runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from cub.repomap.file_reading import read_file
from cub.repomap.listing.kinds import FOREIGN, Kinds
from cub.repomap.listing.listing import listing
from cub.repomap.stack.facts import Read
from cub.repomap.stack.reading import read_stack
from cub.repomap.stack.stack import Stack


def stack_of(paths: Sequence[str], kinds: Kinds, read: Read) -> Stack:
    """Read the stack from files of a listing: what is a copy of others' code does not count."""
    # Lock files and wrappers tell how a project is built.
    return read_stack([path for path in paths if kinds.beside(path) not in FOREIGN], read)


def read_project_stack(root: Path, exclude: Sequence[str] = ()) -> Stack:
    """Read the stack of the project at `root`, as its map has it, without looking at its code."""
    paths = listing(root, exclude).paths
    return stack_of(paths, Kinds(paths), partial(read_file, os.fspath(root)))
