from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.agent.tools.tool_arguments import (
    UNLISTED,
    ToolError,
    build_schema,
    parse_arguments,
    rename_arguments,
)


class Arguments(NamedTuple):
    """Have a field of each kind."""

    path: Annotated[str, "A path."]
    mode: Literal["fast", "slow"] = "fast"
    limit: Annotated[int, "At most.", "-n", "max_count"] = 10
    is_deep: bool = False
    is_usual: Annotated[bool, UNLISTED, "-u"] = True


def test_hints_become_a_schema() -> None:
    assert build_schema(Arguments) == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "A path."},
            "mode": {"type": "string", "enum": ["fast", "slow"]},
            "limit": {"type": "integer", "description": "At most."},
            "is_deep": {"type": "boolean"},
        },
        "required": ["path"],
        "additionalProperties": False,
    }


def test_arguments_are_read_and_others_have_their_defaults() -> None:
    values = {"path": "a", "mode": "slow", "max_count": 3}
    assert parse_arguments(Arguments, values) == Arguments("a", "slow", 3, is_deep=False)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("limit", "12", 12),
        ("limit", 12.0, 12),
        ("limit", None, 10),
        ("is_deep", "true", True),
        ("is_deep", " False ", False),
        ("mode", None, "fast"),
    ],
)
def test_a_value_that_is_nearly_of_its_type_is_taken(
    name: str, value: object, expected: object
) -> None:
    parsed = getattr(parse_arguments(Arguments, {"path": "a", name: value}), name)
    assert (parsed, type(parsed)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "missing argument 'path'"),
        ({"path": None}, "missing argument 'path'"),
        ({"path": 1}, "path is not of the type string"),
        ({"path": "a", "mode": "quick"}, "mode is one of fast, slow"),
        ({"path": "a", "mode": ["fast"]}, "mode is one of fast, slow"),
        ({"path": "a", "limit": "many"}, "limit is not of the type integer"),
        ({"path": "a", "limit": 1.5}, "limit is not of the type integer"),
        ({"path": "a", "limit": True}, "limit is not of the type integer"),
        ({"path": "a", "is_deep": 1}, "is_deep is not of the type boolean"),
        ({"path": "a", "is_deep": "yes"}, "is_deep is not of the type boolean"),
    ],
)
def test_a_value_that_is_wrong_is_an_error(values: dict[str, object], message: str) -> None:
    with pytest.raises(ToolError, match=message):
        parse_arguments(Arguments, values)


@pytest.mark.parametrize(
    ("values", "renamed"),
    [
        ({"path": "a", "-n": 3}, {"path": "a", "limit": 3}),
        ({"max_count": 3}, {"limit": 3}),
        ({"maxCount": 3, "Path": "a", "is-deep": True}, {"limit": 3, "path": "a", "is_deep": True}),
        ({"limit": 3, "-n": 3}, {"limit": 3}),
        ({"limit": 3, "-n": 4}, {"limit": 3, "-n": 4}),
        ({"-n": 4, "limit": 3}, {"limit": 3, "-n": 4}),
        ({"limit": None, "-n": 4}, {"limit": 4}),
        ({"limit": 4, "-n": None}, {"limit": 4}),
        ({"n": 3, "-N": 3}, {"n": 3, "-N": 3}),
        ({"-u": False}, {"is_usual": False}),
        ({"multiline": False, "x": "", "y": None, "z": [], "other": 1}, {"other": 1}),
    ],
)
def test_names_with_one_meaning_are_those_of_the_fields(
    values: dict[str, object], renamed: dict[str, object]
) -> None:
    assert rename_arguments(Arguments, values) == renamed
    assert rename_arguments(Arguments, renamed) == renamed


def test_an_unknown_argument_is_an_error_with_a_similar_name() -> None:
    with pytest.raises(ToolError, match="unknown argument 'limits'") as caught:
        parse_arguments(Arguments, {"path": "a", "limits": 1})
    assert caught.value.hint == "did you mean limit?"
    with pytest.raises(ToolError, match="unknown argument 'zzz'") as caught:
        parse_arguments(Arguments, {"path": "a", "zzz": 1})
    assert caught.value.hint == "choose from path, mode, limit, is_deep"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*Arguments._fields, "other"]), JSON))
def test_any_json_is_read_or_a_tool_error(values: dict[str, object]) -> None:
    try:
        arguments = parse_arguments(Arguments, values)
    except ToolError:
        return
    assert type(arguments.path) is str
    assert arguments.mode in ("fast", "slow")
    assert (type(arguments.limit), type(arguments.is_deep)) == (int, bool)
