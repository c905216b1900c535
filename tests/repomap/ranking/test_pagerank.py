"""PageRank: known values, and what holds for any graph."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.repomap.ranking.pagerank import pagerank
from tests.examples import few_examples

links = st.integers(1, 12).flatmap(
    lambda count: st.lists(
        st.dictionaries(st.integers(0, count - 1), st.floats(0.01, 10), max_size=4),
        min_size=count,
        max_size=count,
    )
)


def test_no_node_has_no_rank() -> None:
    assert pagerank(0, []) == []


def test_two_that_point_to_each_other_are_equal() -> None:
    assert pagerank(2, [{1: 1.0}, {0: 1.0}]) == pytest.approx([0.5, 0.5])


def test_a_star_has_the_ranks_that_the_equations_give() -> None:
    # Three nodes point to node 0, which dangles: r0 = b + d(3 r1), r1 = b, b = (1-d + d r0)/4.
    hub, leaf = 0.54198, 0.15267
    assert pagerank(4, [{}, {0: 1.0}, {0: 1.0}, {0: 1.0}]) == pytest.approx(
        [hub, leaf, leaf, leaf], abs=1e-4
    )


def test_weights_share_a_rank_in_their_proportion() -> None:
    ranks = pagerank(3, [{1: 3.0, 2: 1.0}, {}, {}])
    base = ranks[0]
    assert ranks[1] - base == pytest.approx(3 * (ranks[2] - base), rel=1e-3)


@few_examples
@given(links)
def test_ranks_are_positive_and_sum_to_one(graph: list[dict[int, float]]) -> None:
    ranks = pagerank(len(graph), graph)
    assert min(ranks) > 0
    assert sum(ranks) == pytest.approx(1)


@few_examples
@given(links)
def test_the_order_of_the_links_changes_no_bit(graph: list[dict[int, float]]) -> None:
    backwards = [dict(reversed(out.items())) for out in graph]
    assert pagerank(len(graph), backwards) == pagerank(len(graph), graph)
