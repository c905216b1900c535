from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cub.json_values import get_count, get_dollars, get_object, get_text, list_objects
from tests.examples import few_examples

TREES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=8,
)


@few_examples
@given(TREES, st.lists(st.sampled_from("abc"), min_size=1, max_size=3))
def test_values_of_any_type_are_read(tree: Any, keys: list[str]) -> None:
    tree = tree if isinstance(tree, dict) else {"a": tree}
    assert isinstance(get_text(tree, *keys), str)
    assert get_count(tree, *keys) >= 0
    assert isinstance(get_object(tree, *keys), dict)
    dollars = get_dollars(tree, *keys)
    assert dollars is None or dollars >= 0
    assert all(isinstance(item, dict) for item in list_objects(tree, *keys))


def test_half_a_character_can_be_encoded() -> None:
    get_text({"a": "\ud83d"}, "a").encode()
