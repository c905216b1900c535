from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.config_edit.yaml_text import parse_yaml
from cub.repomap.stack.yaml_reader import MAX_LEVELS, read_yaml_scalars, select_below
from cub.source_text import SourceText

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
def test_the_events_say_what_a_parser_constructs(text: str) -> None:
    root = parse_yaml(SourceText(text, "x"))
    assert read(text) == leaves(root.to_python() if root else None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: [\n  b,  # first, [of] two\n  c\n]\n", "b"),
        ('a: "caf\\u00e9"\n', "café"),
        ("a:\tb\n", "b"),
        ("a: |2\n    b\n   c\n", "  b\n c"),
        ("a: >\n  b\n  c\n\n  d\n    e\n", "b c\nd\n  e"),
    ],
    ids=["comment in a flow list", "escape", "tab", "indentation indicator", "folded block"],
)
def test_syntax_that_only_a_parser_understands(text: str, value: str) -> None:
    assert read_yaml_scalars(text)[0].value == value
    assert {entry.value for entry in read_yaml_scalars(text)[1:]} <= {"c"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: !Ref b\nc: !x\n  d: e\n", [(("a",), "b"), (("c", "d"), "e")]),
        ("a: !!python/object/apply:os.system [b]\n", [(("a", "0"), "b")]),
        ("a: &a [b]\nc: *a\n", [(("a", "0"), "b"), (("c",), "*a")]),
        ("<<: *a\n", [(("<<",), "*a")]),
        ("a: [b, {c: 1, d: }, ]\n", [(("a", "0"), "b"), (("a", "1", "c"), "1")]),
        ("a: 1\n---\nb: 2\n", [(("a",), "1"), (("b",), "2")]),
        ("? a\n: b\n", [(("a",), "b")]),
        ("? [a, b]\n: c\nd: e\n", [(("d",), "e")]),
        ("a: ''\nb:\n", [(("a",), "")]),
        ("", []),
    ],
)
def test_nothing_is_constructed_or_expanded(
    text: str, expected: list[tuple[tuple[str, ...], str]]
) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: [b\n", [(("a", "0"), "b")]),
        ("a: 'b\n", []),
        ("c: d\na: @b\n\tc: d\n", [(("c",), "d")]),
        ("  b: 1\na: 2\n", [(("b",), "1")]),
        ("a: \ud800\n", []),
    ],
)
def test_a_file_is_read_up_to_its_first_error(
    text: str, expected: list[tuple[tuple[str, ...], str]]
) -> None:
    assert read(text) == expected


@pytest.mark.parametrize("text", ["{a:1, b: c}", "[d:e, f]", "{g: http://h/i}", "a: b\u2028c\n"])
def test_what_only_yaml_1_2_allows_is_read(text: str) -> None:
    root = parse_yaml(SourceText(text, "x"))
    assert read(text) == leaves(root.to_python() if root else None) != []


def test_below_gives_what_stands_under_a_key() -> None:
    found = select_below(read_yaml_scalars("a:\n  b: 1\n  c: [2]\nd: 3\n"), "a")
    assert [(entry.keys, entry.value) for entry in found] == [(("b",), "1"), (("c", "0"), "2")]


@given(st.text(alphabet="ab:- \n\t#'\"[]{},|>&*!?%\\\r\x00é", max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    for entry in read_yaml_scalars(text):
        assert len(entry.keys) <= MAX_LEVELS


BOMB = "a: &a [x]\n" + "".join(f"b{n}: &b{n} [{'*a, ' * 50}]\n" for n in range(2000))
MEGABYTES = {
    "lists in lists": "- " * 500_000,
    "mappings in mappings": "a:\n " * 200_000,
    "deeper and deeper": "".join(" " * (n % 2000) + "- a:\n" for n in range(1000)),
    "brackets": "a: [" * 250_000,
    "lines of brackets": ("[" * 4000 + "\n") * 250,
    "braces": "{" * 1_000_000,
    "quotes": "a: " + "'" * 1_000_000,
    "a block": "a: |\n" + " x\n" * 300_000,
    "a plain value": "a: b\n" + "  c d\n" * 160_000,
    "long lines": ("x" * 4095 + "\n") * 240,
    "colons": (" " * 4000 + ":\n") * 250,
    "question marks": "? " * 500_000,
    "anchors": "&a " * 300_000,
    "backslashes": 'a: "' + "\\" * 1_000_000,
    "one flow list": "a: [" + "b, " * 300_000 + "]\n",
    "keys": "".join(f"k{n}: 1\n" for n in range(120_000)),
    "aliases": BOMB,
}


@pytest.mark.parametrize("text", MEGABYTES.values(), ids=MEGABYTES)
@pytest.mark.parametrize("mark", ["", "# \x85\n"], ids=["in C", "in Python"])
def test_a_megabyte_of_anything_ends_soon(mark: str, text: str) -> None:
    text = f"{mark}{text}"
    start = time.process_time()
    scalars = read_yaml_scalars(text)
    assert time.process_time() - start < 5
    assert len(scalars) <= 100_000
    assert sum(len(entry.value) for entry in scalars) <= len(text)
    assert all(len(entry.keys) <= MAX_LEVELS for entry in scalars)
