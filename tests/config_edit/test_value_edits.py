from __future__ import annotations

from typing import Any

import pytest

from cub.config_edit.config_text import JSON, YAML, ConfigFormat, parse_config_text
from cub.config_edit.value_edits import set_value
from cub.errors import CubError


def done(text: str, key: str, value: Any, language: ConfigFormat) -> str:
    return set_value(
        parse_config_text(text.encode(), "f", language), tuple(key.split(".")), value
    ).decode()


@pytest.mark.parametrize(
    ("text", "key", "value", "expected"),
    [
        ('{"a": 1} // c', "a", {"b": [None]}, '{"a": {"b": [null]}} // c'),
        ('{"a":1,"b":[2]}', "b", "é", '{"a":1,"b":"é"}'),
        ('{"a": 1, "a": 2}', "a", 3, '{"a": 1, "a": 3}'),
        ('{"a":"x"}', "a", ["x", "y"], '{"a":["x", "y"]}'),
        ("// c", "a.b", 1, '// c\n{\n  "a": {"b": 1}\n}'),
        ('{"a": ["x", /* c */ "y"]}', "a", ["z", "y"], '{"a": ["z", /* c */ "y"]}'),
        ('{"a": ["x", "y", "z",]}', "a", ["z"], '{"a": ["z",]}'),
        ('{"a": ["x", "\\u0079"]}', "a", ["y", "x"], '{"a": ["y", "x"]}'),
        (
            '{"a": [\n  "x", // c\n  // d\n  "z"\n]}',
            "a",
            ["x", "y", "z"],
            '{"a": [\n  "x", // c\n  // d\n  "y",\n  "z"\n]}',
        ),
    ],
)
def test_a_value_is_set_in_json_too(text: str, key: str, value: Any, expected: str) -> None:
    assert done(text, key, value, JSON) == expected
    assert done(expected, key, value, JSON) == expected


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("a: [\n  x, # c\n  z\n]\n", ["x", "y", "z"], "a: [\n  x, # c\n  y,\n  z\n]\n"),
        ("a: [\n  x, # c\n  'z',\n]\n", ["x", "z", "y"], "a: [\n  x, # c\n  'z',\n  y,\n]\n"),
        ("a: [[b], x]\n", [["c"], "x", ["b"]], "a: [[c], x, [b]]\n"),
        ("a:\n- 'x'\n- y\n", ["y", "x"], "a:\n- y\n- 'x'\n"),
        ("a: [x, y, ] # c\n", ["y"], "a: [y, ] # c\n"),
    ],
)
def test_items_that_stay_keep_their_words(text: str, values: Any, expected: str) -> None:
    assert done(text, "a", values, YAML) == expected


@pytest.mark.parametrize(
    ("text", "value", "language"),
    [
        ('{"a": ["x", /* c */ "y"]}', ["x"], JSON),
        ('{"a": [/* c */]}', 1, JSON),
        ("a: &x [b]\nc: *x\n", ["d"], YAML),
    ],
)
def test_what_would_cost_a_comment_or_another_value_is_refused(
    text: str, value: Any, language: ConfigFormat
) -> None:
    with pytest.raises(CubError, match="without changing other lines"):
        done(text, "a", value, language)


def test_json_is_read_as_deep_as_anybody_writes_it() -> None:
    assert parse_config_text(b"[" * 100 + b"]" * 100, "f", JSON).python_value is not None
    with pytest.raises(CubError, match="too deeply nested"):
        parse_config_text(b"[" * 101 + b"]" * 101, "f", JSON)
    assert parse_config_text(b"[" + b"9" * 5_000 + b"]", "f", JSON).python_value == [float("inf")]
