"""Assemble everything that the map knows about a project, before it is decided what fits.

`ProjectStructure` is a plain value, because another process may read it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cub.repomap.map_types import MapOmission
from cub.repomap.ranking.reference_graph import (
    ReferenceGraph,
    build_reference_graph,
    list_graph_files,
)
from cub.repomap.ranking.symbol_rank import Symbol, rank_symbols
from cub.repomap.symbols.file_facts import FileFacts
from cub.repomap.symbols.scan import ClassifiedFiles

if TYPE_CHECKING:
    from cub.repomap.map_types import KeyFile
    from cub.repomap.outline.folder_tree import FolderTree
    from cub.repomap.stack.facts import ProjectStack


@dataclass(frozen=True, slots=True)
class ProjectStructure:
    """Hold what is known without parsing code; `languages` are names and shares in percent."""

    summary: str
    languages: tuple[tuple[str, int], ...]
    stack: ProjectStack
    key_files: tuple[KeyFile, ...]
    conventions: tuple[str, ...]
    tree: FolderTree


@dataclass(frozen=True, slots=True)
class RepoMap:
    """Hold the structure of a project, what refers to what, and the ranking."""

    structure: ProjectStructure
    graph: ReferenceGraph
    symbols: Sequence[Symbol]
    omissions: tuple[MapOmission, ...]


def assemble_repo_map(
    files: ClassifiedFiles,
    facts: Mapping[str, FileFacts],
    get_structure: Callable[[], ProjectStructure],
) -> RepoMap:
    """Rank the definitions, and add the structure, which may come from another process."""
    rows = ((path, files.classifier.classify(path), facts[path]) for path in facts)
    graph = build_reference_graph(list_graph_files(rows), files.listing.parent_path)
    symbols = rank_symbols(graph)
    structure = get_structure()
    reasons = ((path, file.skip_reason or file.parse_error) for path, file in facts.items())
    omissions = (
        *files.listing.omissions,
        *structure.stack.omissions,
        *(MapOmission(path, why) for path, why in reasons if why not in ("", "generated")),
    )
    return RepoMap(structure, graph, symbols, omissions)
