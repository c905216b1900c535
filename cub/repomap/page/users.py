"""Which files use which, the main user first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cub.repomap.listing.kinds import Kind
from cub.repomap.ranking.graph import Graph


def users_of(graph: Graph) -> Callable[[str], Sequence[str]]:
    """A function from a path to the sources that refer to it, tests left out, most weight first."""
    found: dict[int, list[tuple[float, str]]] = {}
    for number, out in enumerate(graph.links):
        source = graph.sources[number]
        if source.kind is Kind.SOURCE:
            for to, weight in out.items():
                found.setdefault(to, []).append((-weight, source.path))
    numbers = {source.path: number for number, source in enumerate(graph.sources)}
    return lambda path: [user for _, user in sorted(found.get(numbers[path], ()))]
