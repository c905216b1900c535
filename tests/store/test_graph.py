from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.store.graph import cycles, path
from tests.examples import few_examples

NODES = st.sampled_from("abcdef")
GRAPHS = st.dictionaries(NODES, st.lists(NODES, max_size=3))
MANY = [10_000, pytest.param(100_000, marks=pytest.mark.thorough)]


def reached(graph: dict[str, list[str]], start: str) -> set[str]:
    """Where edges lead from a node, the slow way."""
    found: set[str] = set()
    for _ in graph:
        found |= {other for node in found | {start} for other in graph.get(node, ())}
    return found


def test_two_nodes_that_lead_to_each_other_are_a_circle() -> None:
    assert cycles({"a": ["b"], "b": ["c", "a"], "c": []}) == [["a", "b"]]


@few_examples
@given(GRAPHS)
def test_circles_are_those_that_reaching_tells(graph: dict[str, list[str]]) -> None:
    lead = {node: reached(graph, node) for node in graph}
    groups = {
        frozenset(other for other in graph if other in lead[node] and node in lead[other])
        for node in graph
        if node in lead[node]
    }
    found = cycles(graph)
    assert found == sorted(found)
    assert len(found) == len(groups)
    for circle in found:
        assert any(set(circle) <= group and circle[0] == min(group) for group in groups)
        assert len(set(circle)) == len(circle)
        following = [*circle[1:], circle[0]]
        assert all(two in graph[one] for one, two in zip(circle, following, strict=True))


@few_examples
@given(GRAPHS, NODES, NODES)
def test_a_path_is_one_and_the_shortest(graph: dict[str, list[str]], start: str, end: str) -> None:
    found = path(start, end, graph)
    assert (found is not None) == (end in reached(graph, start))
    if found is not None:
        assert found[0] == start
        assert all(b in graph[a] for a, b in zip(found, [*found[1:], end], strict=True))
        near = {start}
        for _ in found[1:]:
            near = {other for node in near for other in graph.get(node, ())}
            assert end not in near


@pytest.mark.parametrize("many", MANY)
def test_long_chains_are_no_trouble(many: int) -> None:
    chain = {str(number): [str(number + 1)] for number in range(many)}
    assert cycles(chain) == []
    backwards = dict(reversed(chain.items()))
    assert cycles(backwards) == []


@pytest.mark.parametrize("many", MANY)
def test_long_circles_are_no_trouble(many: int) -> None:
    chain = {str(number): [str(number + 1)] for number in range(many)}
    circle = cycles({**chain, str(many): ["0"]})
    assert len(circle) == 1
    assert len(circle[0]) == many + 1
    assert circle[0][:3] == ["0", "1", "2"]
