"""PageRank over a weighted graph (Brin and Page 1998), plain Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

DAMPING = 0.85
_ENOUGH = 1e-4  # the sum of all changes in a round: the order of symbols needs no more
_ROUNDS = 60

_Shares = list[tuple[int, float]]


def pagerank(count: int, links: Sequence[Mapping[int, float]]) -> list[float]:
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
