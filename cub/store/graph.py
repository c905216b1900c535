"""Circles in what waits for what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

Graph = Mapping[str, Sequence[str]]

_ROUNDS = 3  # in a long chain, each takes away one node alone


def cycles(graph: Graph) -> list[list[str]]:
    """One circle of each group of nodes that all lead to each other, its smallest node first."""
    found = []
    for group in _groups(_knots(graph)):
        start = min(group)
        if len(group) > 1 or start in graph[start]:
            circle = path(start, start, {node: graph[node] for node in group})
            found.append(circle or [start])
    return sorted(found)


def path(start: str, end: str, graph: Graph) -> list[str] | None:
    """The shortest way from `start` to `end` along at least one edge, without `end` itself."""
    came: dict[str, str] = {}
    edge = [start]
    while edge:
        found: list[str] = []
        for node in edge:
            for other in sorted(graph.get(node, ())):
                if other == end:
                    return _back(node, start, came)
                if other not in came and other != start:
                    came[other] = node
                    found.append(other)
        edge = found
    return None


def _back(node: str, start: str, came: Mapping[str, str]) -> list[str]:
    way = [node]
    while way[-1] != start:
        way.append(came[way[-1]])
    return way[::-1]


def _knots(graph: Graph) -> Graph:
    """The graph without most of the nodes that are in no circle: those that lead nowhere in it."""
    for _ in range(_ROUNDS):
        within = ((node, [one for one in others if one in graph]) for node, others in graph.items())
        graph = {node: others for node, others in within if others}
    return graph


def _groups(graph: Graph) -> Iterator[set[str]]:
    """Strongly connected components, in two passes (Kosaraju), and without recursion."""
    against: dict[str, list[str]] = {node: [] for node in graph}
    for node, others in graph.items():
        for other in others:
            if other in against:
                against[other].append(node)
    seen: set[str] = set()
    for node in reversed(_finished(graph)):
        if group := _reached(node, against, seen):
            yield group


def _finished(graph: Graph) -> list[str]:
    """All nodes, each behind those that it leads to, as far as there is no circle."""
    order: list[str] = []
    seen: set[str] = set()
    for root in graph:
        work = [] if root in seen else [(root, iter(graph[root]))]
        seen.add(root)
        while work:
            others = work[-1][1]
            other = next((one for one in others if one in graph and one not in seen), None)
            if other is None:
                order.append(work.pop()[0])
            else:
                seen.add(other)
                work.append((other, iter(graph[other])))
    return order


def _reached(node: str, graph: Graph, seen: set[str]) -> set[str]:
    """What a node leads to and nobody has seen yet."""
    group: set[str] = set()
    work = [] if node in seen else [node]
    while work:
        group.add(top := work.pop())
        seen.add(top)
        work += [one for one in graph[top] if one not in seen]
    return group
