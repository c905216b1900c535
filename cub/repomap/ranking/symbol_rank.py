"""PageRank over a weighted graph (Brin and Page 1998), plain Python.

The order of all definitions, by how much depends on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import NamedTuple

from cub.repomap.ranking.reference_graph import ReferenceGraph
from cub.repomap.ranking.references import RankingWeights
from cub.repomap.symbols.file_facts import Definition

DAMPING = 0.85
_ENOUGH = 1e-4  # the sum of all changes in a round: the order of symbols needs no more
_ROUNDS = 60

_Shares = list[tuple[int, float]]


def compute_pagerank(count: int, links: Sequence[Mapping[int, float]]) -> list[float]:
    """The rank of the nodes 0 … `count` - 1; the ranks sum to 1.

    `links[n]` has the weight of each link from n; nodes from `len(links)` on have none. A node
    without links (dangling) gives its rank to all alike. Ends when the ranks change by less than
    1e-4 in all, at the latest after 60 rounds. Sums run in the order of the nodes, so that the
    same graph gives the same floats.

    Nodes that nothing points to (tests, mostly) all have the same rank, the lowest: what they give
    is summed up once, and not in each round.
    """
    if not count:
        return []
    shares = [(node, _shares(out)) for node, out in enumerate(links) if out]
    inner = sorted({to for _, out in shares for to, _ in out})
    given = _given(count, shares, frozenset(inner))
    shares = [row for row in shares if row[0] in given]
    linked = frozenset(node for node, _ in shares)
    dangling = [node for node in inner if node not in linked]
    outer = count - len(inner)
    silent = outer - sum(1 for node, out in enumerate(links) if out and node not in given)
    low = 1 / count
    ranks = dict.fromkeys(inner, low)
    for _ in range(_ROUNDS):
        held = sum(ranks[node] for node in dangling) + silent * low
        base = (1 - DAMPING + DAMPING * held) / count
        fresh = {node: base + DAMPING * low * given[node] for node in inner}
        for node, out in shares:
            rank = DAMPING * ranks[node]
            for to, share in out:
                fresh[to] += rank * share
        change = sum(abs(fresh[node] - ranks[node]) for node in inner) + outer * abs(base - low)
        ranks, low = fresh, base
        if change < _ENOUGH:
            break
    return [ranks.get(node, low) for node in range(count)]


def _given(
    count: int, shares: Sequence[tuple[int, _Shares]], inner: frozenset[int]
) -> dict[int, float]:
    """For each node that is pointed to, the shares that it gets from nodes that are not."""
    given = [0.0] * count
    for node, out in shares:
        if node not in inner:
            for to, share in out:
                given[to] += share
    return {node: given[node] for node in sorted(inner)}


def _shares(out: Mapping[int, float]) -> _Shares:
    total = fsum(out.values())  # exact, so in any order the same
    return [(to, weight / total) for to, weight in sorted(out.items())]


_UNUSED = 0.01  # what nobody refers to still has an order


class ScoreFactors(NamedTuple):
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


_NONE = ScoreFactors(0.0, 0.0, 0.0, 0.0)


class Symbol(NamedTuple):
    """A definition with its score; `definition_index` is its number in the graph, -1 if it has none
    there.
    """

    path: str
    definition: Definition
    score: float
    factors: ScoreFactors
    definition_index: int


def rank_symbols(graph: ReferenceGraph, weights: RankingWeights) -> list[Symbol]:
    """All definitions that other files may use, the best first; equal ones by path and line."""
    ranks = compute_pagerank(len(graph.files), graph.file_links)
    best = max(ranks, default=1.0)
    powers = [(rank / best) ** weights.rank_power for rank in ranks[: graph.source_count]]
    faces = _IndexFiles(graph, weights)
    paths = [source.path for source in graph.files[: graph.source_count]]
    found = []
    for number, ((file, definition), in_degree) in enumerate(
        zip(graph.definitions, graph.compute_in_degrees(), strict=True)
    ):
        exported = faces.factor(file, definition.member_of or definition.name)
        factors = ScoreFactors(
            in_degree, powers[file], exported, weights.get_kind_factor(definition)
        )
        found.append(Symbol(paths[file], definition, factors.score, factors, number))
    # Entries come by path and place already, and sorting keeps equal ones in their order.
    found.sort(key=lambda symbol: -symbol.score)
    return found


def list_private_symbols(graph: ReferenceGraph, ranking: Sequence[Symbol]) -> Iterator[Symbol]:
    """What no other file can use, for a map with room left; files of the best symbols first."""
    best = (graph.definitions[symbol.definition_index].file for symbol in ranking)
    for number in dict.fromkeys((*best, *range(graph.source_count))):
        source = graph.files[number]
        for definition in source.facts.definitions:
            if not definition.exported and not definition.member_of:
                yield Symbol(source.path, definition, 0.0, _NONE, -1)


class _IndexFiles:
    """Which names the faces of packages (files that stand for their folder) offer."""

    def __init__(self, graph: ReferenceGraph, weights: RankingWeights) -> None:
        self.folders = [source.module.folder for source in graph.files]
        self.offered: dict[str, list[tuple[str, float]]] = {}
        for source in graph.files[: graph.source_count]:
            if source.module.is_index:
                factor = (
                    weights.index_file if source.module.depth <= 1 else weights.inner_index_file
                )
                defined = {definition.name for definition in source.facts.definitions}
                for name in defined.union(source.facts.imported_names.split()):
                    self.offered.setdefault(name, []).append((source.module.folder, factor))

    def factor(self, number: int, name: str) -> float:
        """More for what a face offers that stands in the same folder or above."""
        offers = self.offered.get(name)
        if offers is None:
            return 1.0
        folder = self.folders[number] + "/"
        near = (f for above, f in offers if not above or folder.startswith(above + "/"))
        return max(near, default=1.0)
