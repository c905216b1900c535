"""What can be told of a project without a look at its code.

A value alone, which a process hands to another: what reads it is imported in one of them only.

Everything that the map knows about a project, before it is decided what fits.
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
from cub.repomap.ranking.references import DEFAULT_WEIGHTS, RankingWeights
from cub.repomap.ranking.symbol_rank import Symbol, rank_symbols
from cub.repomap.symbols.file_facts import FileFacts
from cub.repomap.symbols.scan import ClassifiedFiles

if TYPE_CHECKING:
    from cub.repomap.map_types import KeyFile
    from cub.repomap.outline.folder_tree import FolderTree
    from cub.repomap.stack.facts import ProjectStack


@dataclass(frozen=True, slots=True)
class ProjectStructure:
    """`languages` are names and shares in percent; `read_paths` are the files that it was taken
    from.
    """

    summary: str
    languages: tuple[tuple[str, int], ...]
    stack: ProjectStack
    key_files: tuple[KeyFile, ...]
    conventions: tuple[str, ...]
    tree: FolderTree
    read_paths: frozenset[str]


@dataclass(frozen=True, slots=True)
class RepoMap:
    """The structure of a project, the facts of its source files, and what was made of them."""

    files: ClassifiedFiles
    structure: ProjectStructure
    facts_by_path: Mapping[str, FileFacts]
    graph: ReferenceGraph
    symbols: Sequence[Symbol]
    omissions: tuple[MapOmission, ...]


def assemble_repo_map(
    files: ClassifiedFiles,
    facts: Mapping[str, FileFacts],
    structure: Callable[[], ProjectStructure],
    weights: RankingWeights = DEFAULT_WEIGHTS,
) -> RepoMap:
    """Put together what is known of all files."""
    rows = ((path, files.classifier.classify(path), facts[path]) for path in facts)
    graph = build_reference_graph(list_graph_files(rows), weights, files.listing.parent_path)
    symbols = rank_symbols(graph, weights)
    known = structure()
    notes = (*files.listing.omissions, *known.stack.omissions, *_file_notes(facts))
    return RepoMap(files, known, facts, graph, symbols, notes)


def _file_notes(facts: Mapping[str, FileFacts]) -> list[MapOmission]:
    reasons = ((path, found.skip_reason or found.parse_error) for path, found in facts.items())
    return [
        MapOmission(path, reason) for path, reason in reasons if reason not in ("", "generated")
    ]
