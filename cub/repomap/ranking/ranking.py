"""The order of all definitions, by how much depends on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cub.repomap.ranking.graph import Graph
from cub.repomap.ranking.pagerank import pagerank
from cub.repomap.ranking.weights import Weights
from cub.repomap.symbols.definition import Definition

_UNUSED = 0.01  # what nobody refers to still has an order


class Factors(NamedTuple):
    """What a score is the product of. `in_degree` is the sum of the weights of all references;
    `file_rank` the PageRank of the file, 1 for the best one's, to a small power.
    """

    in_degree: float
    file_rank: float
    exported: float
    kind: float

    @property
    def score(self) -> float:
        """How much depends on a definition."""
        return (self.in_degree + _UNUSED) * self.file_rank * self.exported * self.kind


_NONE = Factors(0.0, 0.0, 0.0, 0.0)


class Symbol(NamedTuple):
    """A definition with its score; `entry` is its number in the graph, -1 if it has none there."""

    path: str
    definition: Definition
    score: float
    factors: Factors
    entry: int


def ranked(graph: Graph, weights: Weights) -> list[Symbol]:
    """All definitions that other files may use, the best first; equal ones by path and line."""
    ranks = pagerank(len(graph.sources), graph.links)
    best = max(ranks, default=1.0)
    powers = [(rank / best) ** weights.rank_power for rank in ranks[: graph.defining]]
    faces = _Faces(graph, weights)
    paths = [source.path for source in graph.sources[: graph.defining]]
    found = []
    for number, ((file, definition), in_degree) in enumerate(
        zip(graph.entries, graph.in_degrees(), strict=True)
    ):
        exported = faces.factor(file, definition.member_of or definition.name)
        factors = Factors(in_degree, powers[file], exported, weights.of(definition))
        found.append(Symbol(paths[file], definition, factors.score, factors, number))
    # Entries come by path and place already, and sorting keeps equal ones in their order.
    found.sort(key=lambda symbol: -symbol.score)
    return found


def unranked(graph: Graph, ranking: Sequence[Symbol]) -> Iterator[Symbol]:
    """What no other file can use, for a map with room left; files of the best symbols first."""
    best = (graph.entries[symbol.entry].file for symbol in ranking)
    for number in dict.fromkeys((*best, *range(graph.defining))):
        source = graph.sources[number]
        for definition in source.facts.definitions:
            if not definition.exported and not definition.member_of:
                yield Symbol(source.path, definition, 0.0, _NONE, -1)


class _Faces:
    """Which names the faces of packages (files that stand for their folder) offer."""

    def __init__(self, graph: Graph, weights: Weights) -> None:
        self.folders = [source.module.folder for source in graph.sources]
        self.offered: dict[str, list[tuple[str, float]]] = {}
        for source in graph.sources[: graph.defining]:
            if source.module.face:
                factor = weights.face if source.module.depth <= 1 else weights.inner_face
                defined = {definition.name for definition in source.facts.definitions}
                for name in defined.union(source.facts.imported.split()):
                    self.offered.setdefault(name, []).append((source.module.folder, factor))

    def factor(self, number: int, name: str) -> float:
        """More for what a face offers that stands in the same folder or above."""
        offers = self.offered.get(name)
        if offers is None:
            return 1.0
        folder = self.folders[number] + "/"
        near = (f for above, f in offers if not above or folder.startswith(above + "/"))
        return max(near, default=1.0)
