from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml.error import YAMLError

from cub.config_edit.nodes import ConfigNode
from cub.config_edit.yaml_events import YamlSyntaxError, iter_yaml_events, parse_in_python
from cub.config_edit.yaml_text import format_yaml, parse_yaml
from cub.source_text import SourceText
from tests.examples import few_examples


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            "[~, null, NULL, '', true, FALSE, yes, on, n]",
            [None] * 3 + ["", True, False, "yes", "on", "n"],
        ),
        ("[1, -1, +1, 007, 0o17, 0xfF, 1_000, 0b1]", [1, -1, 1, 7, 15, 255, "1_000", "0b1"]),
        (
            "[1., .5, 1e3, -1.5E-2, .inf, .NaN, 1e999, .]",
            [1.0, 0.5, 1000.0, -0.015, ".inf", ".NaN", "1e999", "."],
        ),
        ("[2026-11-20, 12:30, =, 0x, '1', \"2\"]", ["2026-11-20", "12:30", "=", "0x", "1", "2"]),
        ("[999999999999999999, 9999999999999999999]", [10**18 - 1, "9" * 19]),
        ("a: |\n  b\n  c\nd: >\n  e\n  f\n", {"a": "b\nc\n", "d": "e f\n"}),
        ("a: &x [1]\nb: *x\nc: &x 2\nd: *x\n", {"a": [1], "b": [1], "c": 2, "d": 2}),
        ("a: &a {x: 1, y: 1}\nb: {<<: *a, x: 2}\n", {"a": {"x": 1, "y": 1}, "b": {"y": 1, "x": 2}}),
        (
            "a: [&a {x: 1}, &b {x: 2, y: 2}]\nb: {<<: [*a, *b]}\n",
            {"a": [{"x": 1}, {"x": 2, "y": 2}], "b": {"x": 1, "y": 2}},
        ),
        ("'<<': {a: 1}\n", {"<<": {"a": 1}}),
        ("? a\n: b\n? c\n", {"a": "b", "c": None}),
        ("- - a\n  -\n- {b}\n", [["a", None], {"b": None}]),
        ("", None),
        ("--- # nothing\n", None),
    ],
)
def test_values_are_those_of_the_core_schema(text: str, value: Any) -> None:
    root = parse_yaml(SourceText(text, "x"))
    assert (root.to_python() if root else None) == value


def spans(node: ConfigNode, text: str) -> list[str]:
    inner = [part for entry in node.entries for part in entry]
    return [text[node.start : node.end]] + [
        s for n in (*inner, *node.items) for s in spans(n, text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 'b'  # c\n", ["a: 'b'", "a", "'b'"]),
        ("a:  # c\n\nb: x\n", ["a:  # c\n\nb: x", "a", "", "b", "x"]),
        ("a: |  # c\n  b\n\n\n# d\n", ["a: |  # c\n  b", "a", "|  # c\n  b"]),
        ("a: [b, 'c', ]  # d\n", ["a: [b, 'c', ]", "a", "[b, 'c', ]", "b", "'c'"]),
        (
            "a: &x {b: c}\nd: *x\n",
            ["a: &x {b: c}\nd: *x", "a", "&x {b: c}", "b", "c", "d", "*x", "b", "c"],
        ),
        ("\ufeffa:\r\n- b\r\n- c\r\n", ["a:\r\n- b\r\n- c", "a", "- b\r\n- c", "b", "c"]),
    ],
)
def test_a_node_knows_where_it_stands(text: str, expected: list[str]) -> None:
    root = parse_yaml(SourceText(text, "x"))
    assert root
    assert spans(root, text) == expected


def test_an_empty_value_stands_behind_its_colon() -> None:
    root = parse_yaml(SourceText("a :  # c: d\nb: 1\n", "x"))
    assert root
    assert root.entries[0].value.start == 3


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_places_are_counted_as_editors_count_them(end: str) -> None:
    source = SourceText(f"\ufeffab{end}c\u2028d{end}{end}e", "x.yaml")
    places = [
        source.format_location(offset)
        for offset in (1, 3, source.text.index("d"), len(source.text))
    ]
    assert places == ["x.yaml:1:1", "x.yaml:1:3", "x.yaml:2:3", "x.yaml:4:2"]
    assert source.get_line_number(source.text.index("e")) == 4


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("AGENTS.md", "AGENTS.md"),
        ("30m", "30m"),
        ("y", "y"),
        ("a b", "a b"),
        ([1, None, {"a": True}], "[1, null, {a: true}]"),
        # Other values in YAML 1.1, which other programs read.
        *((text, f'"{text}"') for text in ["yes", "No", "on", "OFF", "2026-11-20", "012", "1_000"]),
        *((text, f'"{text}"') for text in ["0b11", "0x_f", "1.", ".5", "1e3", ".inf", ".NaN"]),
    ],
)
def test_what_any_reader_of_yaml_takes_for_a_text_needs_no_quotes(value: Any, words: str) -> None:
    assert format_yaml(value) == words


LINES = ["a: b", "a:", "  - c: 'd'", "- e", "  f: {g:1, h: [i]}", "# j", "k: |", '  "l"', "m: &n o"]


@few_examples
@given(st.lists(st.sampled_from([*LINES, "p: *n", "---", "q: [r", "  s:t]", "u: ]"])))
@example(["a: b", "c: {d:1}"])
@example(["a:", "a: b"])
def test_the_parser_in_c_makes_no_difference(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert list_events(text, iter_yaml_events) == list_events(text, parse_in_python)


def list_events(text: str, parse: Callable[[str], Iterator[Any]]) -> list[Any]:
    found: list[Any] = []
    try:
        for event in parse(text):
            places = event.start_mark.index, event.end_mark.index
            if places[0] == places[1]:  # nothing is there: one parser sees it at the next word
                places = 0, 0
            found.append((type(event), *places, getattr(event, "value", None)))
    except (YamlSyntaxError, YAMLError):
        found.append("an error")
    return found
