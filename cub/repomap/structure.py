"""What can be told of a project without a look at its code.

A value alone, which a process hands to another: what reads it is imported in one of them only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cub.repomap.outline.key_file import KeyFile
    from cub.repomap.outline.tree import Tree
    from cub.repomap.stack.stack import Stack


@dataclass(frozen=True, slots=True)
class Structure:
    """`languages` are names and shares in percent; `read` are the files that it was taken from."""

    summary: str
    languages: tuple[tuple[str, int], ...]
    stack: Stack
    key_files: tuple[KeyFile, ...]
    conventions: tuple[str, ...]
    tree: Tree
    read: frozenset[str]
