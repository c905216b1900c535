from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.json_values import (
    get_count,
    get_dollars,
    get_object,
    get_text,
    list_objects,
    parse_object,
)
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


@pytest.mark.parametrize(
    ("text", "tree"),
    [('{"a": 1}', {"a": 1}), (b'{"a": "\xff"}', {"a": "\ufffd"}), ("", {}), ("[1]", {}), ("{", {}),
     ("[" * 100_000, {}), ('{"a": ' + "1" * 5_000 + "}", {})],
)  # fmt: skip
def test_what_is_not_an_object_is_an_empty_one(text: str | bytes, tree: dict[str, Any]) -> None:
    assert parse_object(text) == tree


def test_half_a_character_can_be_encoded() -> None:
    get_text({"a": "\ud83d"}, "a").encode()
