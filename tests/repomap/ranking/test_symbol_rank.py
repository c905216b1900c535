"""PageRank: known values, and what holds for any graph.

The order of definitions: what a score is made of, and how ties end.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.repomap.ranking.symbol_rank import (
    Symbol,
    compute_pagerank,
    list_private_symbols,
    rank_symbols,
)
from tests.examples import few_examples
from tests.repomap.ranking.test_reference_graph import graph

links = st.integers(1, 12).flatmap(
    lambda count: st.lists(
        st.dictionaries(st.integers(0, count - 1), st.floats(0.01, 10), max_size=4),
        min_size=count,
        max_size=count,
    )
)


def test_no_node_has_no_rank() -> None:
    assert compute_pagerank(0, []) == []


def test_two_that_point_to_each_other_are_equal() -> None:
    assert compute_pagerank(2, [{1: 1.0}, {0: 1.0}]) == pytest.approx([0.5, 0.5])


def test_a_star_has_the_ranks_that_the_equations_give() -> None:
    # Three nodes point to node 0, which dangles: r0 = b + d(3 r1), r1 = b, b = (1-d + d r0)/4.
    hub, leaf = 0.54198, 0.15267
    assert compute_pagerank(4, [{}, {0: 1.0}, {0: 1.0}, {0: 1.0}]) == pytest.approx(
        [hub, leaf, leaf, leaf], abs=1e-4
    )


def test_weights_share_a_rank_in_their_proportion() -> None:
    ranks = compute_pagerank(3, [{1: 3.0, 2: 1.0}, {}, {}])
    base = ranks[0]
    assert ranks[1] - base == pytest.approx(3 * (ranks[2] - base), rel=1e-3)


@few_examples
@given(links)
def test_ranks_are_positive_and_sum_to_one(graph: list[dict[int, float]]) -> None:
    ranks = compute_pagerank(len(graph), graph)
    assert min(ranks) > 0
    assert sum(ranks) == pytest.approx(1)


@few_examples
@given(links)
def test_the_order_of_the_links_changes_no_bit(graph: list[dict[int, float]]) -> None:
    backwards = [dict(reversed(out.items())) for out in graph]
    assert compute_pagerank(len(graph), backwards) == compute_pagerank(len(graph), graph)


HEAT, COOL = "def heat_up(): ...\n", "def cool_down(): ...\n"


def ranking(files: dict[str, str]) -> list[Symbol]:
    return rank_symbols(graph(files))


def order(files: dict[str, str]) -> list[str]:
    return [symbol.definition.name for symbol in ranking(files)]


def factors(files: dict[str, str], name: str) -> tuple[float, float]:
    """Those for what is offered and for the kind."""
    (found,) = (s.factors for s in ranking(files) if s.definition.name == name)
    return found.exported, found.kind


def test_what_more_files_use_comes_first() -> None:
    files = {"a/cold.py": COOL, "b/hot.py": HEAT, "c/x.py": "heat_up()\n", "d/y.py": "heat_up()\n"}
    assert order(files) == ["heat_up", "cool_down"]
    assert order({**files, **{f"e{n}/z.py": "cool_down()\n" for n in range(3)}})[0] == "cool_down"


def test_better_evidence_comes_first() -> None:
    files = {
        "a/cold.py": COOL,
        "b/hot.py": HEAT,
        "c/x.py": "cool_down()\nfrom b.hot import heat_up\n",
    }
    assert order(files) == ["heat_up", "cool_down"]


def test_between_equals_the_file_that_more_depends_on_decides() -> None:
    files = {
        "a/cold.py": COOL,
        "b/hot.py": HEAT + "def kindle_fire(): ...\n",
        "c/x.py": "cool_down()\n",
        "d/y.py": "heat_up()\n",
        "e/z.py": "kindle_fire()\n",
    }
    assert order(files) == ["heat_up", "kindle_fire", "cool_down"]


def test_equal_scores_are_ordered_by_path_and_line() -> None:
    files = {"b.py": "def bbb(): ...\ndef aaa(): ...\n", "a.py": "def ccc(): ...\n"}
    assert order(files) == ["ccc", "bbb", "aaa"]
    assert order(dict(reversed(files.items()))) == ["ccc", "bbb", "aaa"]


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("def heat_up(): ...\n", "heat_up", 1.0),
        ("class Oven: ...\n", "Oven", 1.0),
        ("HOTTEST = 300\n", "HOTTEST", 0.5),
        ("hottest = 300\n", "hottest", 0.5),
        ("class Oven:\n  def heat_up(self): ...\n", "heat_up", 0.3),
    ],
)
def test_members_and_variables_count_less(text: str, name: str, kind: float) -> None:
    assert factors({"hot.py": text}, name)[1] == pytest.approx(kind)


@pytest.mark.parametrize(
    ("face", "text", "factor"),
    [
        ("kiln/__init__.py", "from kiln.parts.hot import heat_up\n", 2.0),
        ("kiln/__init__.py", "from kiln.parts.hot import other\n", 1.0),
        ("kiln/parts/__init__.py", "from kiln.parts.hot import heat_up\n", 1.4),
        ("kiln/parts/index.py", "from kiln.parts.hot import heat_up\n", 1.4),
        ("__init__.py", "from kiln.parts.hot import heat_up\n", 2.0),
        ("src/kiln/__init__.py", "from kiln.parts.hot import heat_up\n", 1.0),
        ("other/__init__.py", "from kiln.parts.hot import heat_up\n", 1.0),
        ("kiln/face.py", "from kiln.parts.hot import heat_up\n", 1.0),
    ],
)
def test_what_the_face_of_a_package_offers_counts_more(face: str, text: str, factor: float) -> None:
    assert factors({"kiln/parts/hot.py": HEAT, face: text}, "heat_up")[0] == factor


def test_the_members_of_what_a_face_offers_count_more_too() -> None:
    files = {
        "kiln/hot.py": "class Oven:\n  def heat_up(self): ...\n",
        "kiln/__init__.py": "from kiln.hot import Oven\n",
    }
    assert factors(files, "heat_up")[0] == 2.0


def test_what_a_face_defines_it_offers() -> None:
    assert factors({"kiln/__init__.py": HEAT}, "heat_up")[0] == 2.0


def test_what_no_other_file_can_use_is_told_last_in_the_order_of_its_files() -> None:
    files = {
        "a/cold.py": "def _inner(): ...\n" + COOL,
        "b/hot.py": HEAT + "class _Hidden:\n  def not_at_the_top(self): ...\n",
        "c/only.py": "def _alone(): ...\n",
        "d/x.py": "heat_up()\n",
    }
    made = graph(files)
    best = rank_symbols(made)
    rest = list(list_private_symbols(made, best))
    assert [symbol.definition.name for symbol in rest] == ["_Hidden", "_inner", "_alone"]
    assert {(symbol.score, symbol.definition_index) for symbol in rest} == {(0.0, -1)}
    assert not {symbol.definition.name for symbol in best} & {"_inner", "_Hidden", "_alone"}


def test_nothing_has_no_order() -> None:
    assert order({}) == []
    assert order({"tests/test_a.py": "def test_nothing(): ...\n"}) == []
