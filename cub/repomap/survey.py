"""Everything that the map knows about a project, before it is decided what fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cub.repomap.notes import Note
from cub.repomap.ranking.graph import Graph, graph_of, sources_of
from cub.repomap.ranking.ranking import Symbol, ranked
from cub.repomap.ranking.weights import DEFAULT, Weights
from cub.repomap.sifted import Sifted
from cub.repomap.symbols.facts import FileFacts

if TYPE_CHECKING:
    from cub.repomap.structure import Structure


@dataclass(frozen=True, slots=True)
class RepoMap:
    """The structure of a project, the facts of its source files, and what was made of them."""

    files: Sifted
    structure: Structure
    facts: Mapping[str, FileFacts]
    graph: Graph
    symbols: Sequence[Symbol]
    notes: tuple[Note, ...]


def survey(
    files: Sifted,
    facts: Mapping[str, FileFacts],
    structure: Callable[[], Structure],
    weights: Weights = DEFAULT,
) -> RepoMap:
    """Put together what is known of all files."""
    rows = ((path, files.kinds.of(path), facts[path]) for path in facts)
    graph = graph_of(sources_of(rows), weights, files.found.above)
    symbols = ranked(graph, weights)
    known = structure()
    notes = (*files.found.notes, *known.stack.notes, *_file_notes(facts))
    return RepoMap(files, known, facts, graph, symbols, notes)


def _file_notes(facts: Mapping[str, FileFacts]) -> list[Note]:
    reasons = ((path, found.left_out or found.unparsed) for path, found in facts.items())
    return [Note(path, reason) for path, reason in reasons if reason not in ("", "generated")]
