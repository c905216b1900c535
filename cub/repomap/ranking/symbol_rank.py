"""Rank all definitions by how much depends on them, with PageRank (Brin and Page 1998) of files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import NamedTuple

from cub.repomap.ranking.reference_graph import ReferenceGraph
from cub.repomap.symbols.file_facts import Definition

_UNUSED = 0.01  # gives an order to definitions without references
RANK_POWER = 0.1
INDEX_FILE_FACTOR, INNER_INDEX_FILE_FACTOR = 2.0, 1.4
MEMBER_FACTOR, VARIABLE_FACTOR = 0.3, 0.5


class ScoreFactors(NamedTuple):
    """Hold the factors of a score.

    `in_degree` is the sum of the weights of all references; `file_rank` the PageRank of the file,
    relative to the best one's, to a small power.
    """

    in_degree: float
    file_rank: float
    exported: float
    kind: float

    @property
    def score(self) -> float:
        """Return how much depends on a definition."""
        return (self.in_degree + _UNUSED) * self.file_rank * self.exported * self.kind


_NO_FACTORS = ScoreFactors(0.0, 0.0, 0.0, 0.0)


class Symbol(NamedTuple):
    """Hold a definition with its score; `definition_index` is its number in the graph, or -1."""

    path: str
    definition: Definition
    score: float
    factors: ScoreFactors
    definition_index: int


def rank_symbols(graph: ReferenceGraph) -> list[Symbol]:
    """Return all definitions that other files may use, best first, equal ones by path and line."""
    ranks = compute_pagerank(len(graph.files), graph.file_links)
    best = max(ranks, default=1.0)
    powers = [(rank / best) ** RANK_POWER for rank in ranks[: graph.source_count]]
    index_files = _IndexFiles(graph)
    symbols = []
    for number, ((file, definition), in_degree) in enumerate(
        zip(graph.definitions, graph.compute_in_degrees(), strict=True)
    ):
        exported = index_files.get_factor(file, definition.member_of or definition.name)
        kind = _get_kind_factor(definition)
        factors = ScoreFactors(in_degree, powers[file], exported, kind)
        symbols.append(Symbol(graph.files[file].path, definition, factors.score, factors, number))
    # Definitions come by path and line already, and sorting keeps equal ones in their order.
    symbols.sort(key=lambda symbol: -symbol.score)
    return symbols


def _get_kind_factor(definition: Definition) -> float:
    """Return the factor of a definition's kind: members and variables count less."""
    factor = MEMBER_FACTOR if definition.member_of else 1.0
    return factor * (VARIABLE_FACTOR if definition.kind in ("variable", "constant") else 1.0)


def list_private_symbols(graph: ReferenceGraph, ranking: Sequence[Symbol]) -> Iterator[Symbol]:
    """Yield what no other file can use, for a map with space left; best symbols' files first."""
    best = (graph.definitions[symbol.definition_index].file for symbol in ranking)
    for number in dict.fromkeys((*best, *range(graph.source_count))):
        file = graph.files[number]
        for definition in file.facts.definitions:
            if not definition.exported and not definition.member_of:
                yield Symbol(file.path, definition, 0.0, _NO_FACTORS, -1)


class _IndexFiles:
    """Know which names the index files of packages (`__init__`, `mod` …) offer."""

    def __init__(self, graph: ReferenceGraph) -> None:
        self.folders = [file.module.folder for file in graph.files]
        self.offers: dict[str, list[tuple[str, float]]] = {}
        for file in graph.files[: graph.source_count]:
            if file.module.is_index:
                is_outer = file.module.depth <= 1
                factor = INDEX_FILE_FACTOR if is_outer else INNER_INDEX_FILE_FACTOR
                names = {definition.name for definition in file.facts.definitions}
                for name in names.union(file.facts.imported_names.split()):
                    self.offers.setdefault(name, []).append((file.module.folder, factor))

    def get_factor(self, file: int, name: str) -> float:
        """Return the factor of an index file in the same folder or above that offers the name."""
        offers = self.offers.get(name)
        if offers is None:
            return 1.0
        folder = self.folders[file] + "/"
        factors = (f for above, f in offers if not above or folder.startswith(above + "/"))
        return max(factors, default=1.0)


DAMPING = 0.85
_MAX_TOTAL_CHANGE = 1e-4  # in a round: the order of symbols needs no more precision
_MAX_ROUNDS = 60


def compute_pagerank(count: int, links: Sequence[Mapping[int, float]]) -> list[float]:
    """Return the ranks of the nodes 0 … `count` - 1, which sum to 1.

    `links[n]` has the weight of each link from n; nodes from `len(links)` on have none. A node
    without links (dangling) gives its rank to all alike. Sums run in the order of the nodes, so
    that the same graph gives the same floats.
    """
    if not count:
        return []
    shares: list[tuple[int, list[tuple[int, float]]]] = []
    for node, weights in enumerate(links):
        if weights:
            total = fsum(weights.values())  # exact, so the same in any order
            shares.append((node, [(to, weight / total) for to, weight in sorted(weights.items())]))
    dangling = sorted(set(range(count)).difference(node for node, _ in shares))
    ranks = [1 / count] * count
    for _ in range(_MAX_ROUNDS):
        spread = sum(ranks[node] for node in dangling)
        fresh = [(1 - DAMPING + DAMPING * spread) / count] * count
        for node, out in shares:
            rank = DAMPING * ranks[node]
            for to, share in out:
                fresh[to] += rank * share
        change = sum(abs(new - old) for new, old in zip(fresh, ranks, strict=True))
        ranks = fresh
        if change < _MAX_TOTAL_CHANGE:
            break
    return ranks
