from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.config_edit.nodes import SourceText
from cub.config_edit.yaml_text import parse_yaml
from cub.repomap.stack.yaml_reader import MAX_LINE_CHARS, read_yaml_scalars, select_below

TEXTS = [
    "a: 1\nb:\n  c: x y  # z\n  d: 'it''s'\ne: \"q\\\"\\n\"\n",
    "steps:\n- run: a\n  name: b\n- run: c\nafter: d\n",
    "s:\n  - run: |\n      one\n\n        two\n    name: x\n  - run: >-\n      three\n      four\n",
    "a: [x, 'y, z', \"w\"]\nb: {c: d, 'e': f}\n",
    "a: [{b: [c, 'd'], e: {f: g}}, [h, i], j]\nk: []\nl: {}\n",
    "a: [\n  x,\n  y\n]\nb: 1\n",
    "a:\n  b\n  c\nd: e\n  f\n",
    "- - a\n  - b\n- c\n",
    "-\n  a: 1\n-\n  a: 2\n",
    "---\n# c\na: &x b\nc: d#e\n",
    "'a b': c\n\"d\": e\n",
    "test:unit: x\nurl: http://a.b/c\n",
    "a: |\n  x\nb: |-\n  y\n",
    "a: 'one\n  two'\nb: c\n",
    "a:\n- b\n-  c: d\n   e: f\n",
    "a: b\r\nc:\r\n  - d\r\n",
]


def leaves(value: Any, keys: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(inner, (*keys, key))]
    if isinstance(value, list):
        return [x for at, inner in enumerate(value) for x in leaves(inner, (*keys, str(at)))]
    return [] if value is None else [(keys, str(value).strip())]


def read(text: str) -> list[tuple[tuple[str, ...], str]]:
    return [(entry.keys, entry.value.strip()) for entry in read_yaml_scalars(text)]


@pytest.mark.parametrize("text", TEXTS)
def test_the_lines_say_what_a_parser_says(text: str) -> None:
    root = parse_yaml(SourceText(text, "x"))
    assert read(text) == leaves(root.to_python() if root else None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: !Ref b\nc: !x\n  d: e\n", [(("a",), "b"), (("c", "d"), "e")]),
        ("a: &a [b]\nc: *a\n", [(("a", "0"), "b"), (("c",), "*a")]),
        ("a: [b, {c: 1, d: }, ]\n", [(("a", "0"), "b"), (("a", "1", "c"), "1")]),
        ("a: 1\n---\nb: 2\n", [(("a",), "1"), (("b",), "2")]),
        ("a: [b\n", [(("a", "0"), "b")]),
        ("a: 'b\n", [(("a",), "'b")]),
        ("a: @b\n\tc: d\n", [(("a",), "@b")]),
        ("? a\n: b\n", []),
        ("  b: 1\na: 2\n", [(("b",), "1"), (("a",), "2")]),
        ("", []),
    ],
)
def test_what_a_parser_refuses_or_expands_is_read_as_it_stands(
    text: str, expected: list[tuple[tuple[str, ...], str]]
) -> None:
    assert read(text) == expected


def test_entries_know_their_lines() -> None:
    found = read_yaml_scalars("a: 1\n\nb:\n  - |\n    x\n    y\n  - z\n")
    assert [(entry.value, entry.line) for entry in found] == [("1", 1), ("x\ny", 4), ("z", 7)]


def test_below_gives_what_stands_under_a_key() -> None:
    found = select_below(read_yaml_scalars("a:\n  b: 1\n  c: [2]\nd: 3\n"), "a")
    assert [(entry.keys, entry.value) for entry in found] == [(("b",), "1"), (("c", "0"), "2")]


@given(st.text(alphabet="ab:- \n\t#'\"[]{},|>&*!?%\\\r\x00é", max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    for entry in read_yaml_scalars(text):
        assert entry.line <= text.count("\n") + 1


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("- " * 500_000, 1),
        ("a:\n " * 200_000, 0),
        ("".join(" " * (n % 2000) + "- a:\n" for n in range(1000)), 0),
        ("a: [" * 250_000, 0),
        (("[" * 4000 + "\n") * 250, 0),
        ("a: " + "'" * 1_000_000, 1),
        ("a: |\n" + " x\n" * 300_000, 1),
        ("a: b\n" + "  c d\n" * 160_000, 1),
        (("x" * (MAX_LINE_CHARS - 1) + "\n") * 240, 0),
        ((" " * 4000 + ":\n") * 250, 0),
        ("&a " * 300_000, 0),
        ('a: "' + "\\" * 1_000_000, 1),
    ],
    ids=lambda value: repr(value[:12]) if isinstance(value, str) else "",
)
def test_a_megabyte_of_anything_ends_soon(text: str, count: int) -> None:
    assert len(read_yaml_scalars(text)) == count
