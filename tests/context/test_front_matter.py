from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.context.front_matter import list_field, read_flag, split_front_matter
from cub.context.selectors import explain_path_mismatch


@pytest.mark.parametrize(
    ("data", "fields", "body", "line"),
    [
        (b"---\na: 1\n---\nx\n", {"a": 1}, "x\n", 4),
        (b"\xef\xbb\xbf---\na: 1\n---\nx\n", {"a": 1}, "x\n", 4),
        (b"---\r\na: go\r\n---\r\nx\r\ny\r\n", {"a": "go"}, "x\ny\n", 4),
        (b"---\na: 1\n---", {"a": 1}, "", 3),
        (b"---  \na: 1\n---\t\nx", {"a": 1}, "x", 4),
        (b"---\n---\nx", {}, "x", 3),
        (b"---\n\n# nothing\n---\nx", {}, "---\n\n# nothing\n---\nx", 1),
        (b"x\n---\na: 1\n---\n", {}, "x\n---\na: 1\n---\n", 1),
        (b"---\na: 1\n", {}, "---\na: 1\n", 1),
        (b"---\nA title\n---\nx", {}, "---\nA title\n---\nx", 1),
        (b"----\na: 1\n---\nx", {}, "----\na: 1\n---\nx", 1),
        (b"---\na: [x, 2]\nb: {c: d}\n---\n", {"a": ["x", 2], "b": {"c": "d"}}, "", 5),
        (b"---\nglobs: *.ts,*.tsx\n---\n", {"globs": ["*.ts", "*.tsx"]}, "", 4),
        (b"---\npaths:\n  - **/*.ts\n  - *.js\n---\n", {"paths": ["**/*.ts", "*.js"]}, "", 6),
        (b"---\na: &x 1\nb:\n- *x\n---\n", {"a": 1, "b": [1]}, "", 6),
        (b"---\nglobs: '*.ts'\n---\n", {"globs": "*.ts"}, "", 4),
        (b"---\na: |\n  x\n  ---\n---\ny", {"a": "x\n---\n"}, "y", 6),
    ],
)
def test_front_matter(data: bytes, fields: dict[str, Any], body: str, line: int) -> None:
    text = split_front_matter(data, "r.md")
    assert (text.fields, text.body, text.error) == (fields, body, None)
    if fields or body == "x":
        assert text.line == line


@pytest.mark.parametrize(
    ("yaml", "fields"),
    [
        ("globs: *.ts, src/**", {"globs": ["*.ts", "src/**"]}),
        ("globs: {src,lib}/**/*.ts", {"globs": ["{src,lib}/**/*.ts"]}),
        ("globs: {src,lib}", {"globs": ["{src,lib}"]}),
        ("globs: [*.ts, 'x']  # c", {"globs": ["*.ts", "x"]}),
        ("globs: [\n  *.ts,\n  *.js\n]\nstage: x", {"globs": ["*.ts", "*.js"], "stage": "x"}),
        ("globs: [a-z]*.ts", {"globs": ["[a-z]*.ts"]}),
        ('globs: "*.ts","*.tsx"', {"globs": ["*.ts", "*.tsx"]}),
        ("paths:\n- *.ts\n- {a,b}/c", {"paths": ["*.ts", "{a,b}/c"]}),
        ("applyTo: **/*.{ts,tsx},!x/**", {"applyTo": ["**/*.{ts,tsx}", "!x/**"]}),
        ("applyTo: @scope/**", {"applyTo": ["@scope/**"]}),
        ("inclusion: fileMatch\nfileMatchPattern: ['a', *.b]",
         {"inclusion": "fileMatch", "fileMatchPattern": ["a", "*.b"]}),
        ("description: Use: x\ntype: auto", {"description": "Use: x", "type": "auto"}),
        ("trigger: glob\nglobs: **/*.ts", {"trigger": "glob", "globs": ["**/*.ts"]}),
        ("a: &x [1]\nb: *x\nglobs: *.ts", {"a": [1], "b": [1], "globs": ["*.ts"]}),
        ("Words\nname: x: y", {"name": "x: y"}),
    ],
)  # fmt: skip
def test_fields_that_agents_read_by_lines_need_not_be_yaml(
    yaml: str, fields: dict[str, Any]
) -> None:
    for text in (yaml, yaml.replace("\n", "\r\n")):
        found = split_front_matter(f"---\n{text}\n---\nBODY".encode(), "r.mdc")
        assert (found.fields, found.body, found.error) == (fields, "BODY", None)


def test_what_can_be_read_beside_an_error_counts() -> None:
    found = split_front_matter(b"---\nglobs: *.ts\nb: [1\n---\nBODY", "r.mdc")
    assert (found.fields, found.body) == ({"globs": ["*.ts"]}, "BODY")
    assert found.error is not None
    assert found.error.where == "r.mdc:4:1"


@pytest.mark.parametrize(
    ("yaml", "where"),
    [
        ("a: [1", "r.md:3:1"),
        ("a: !!python/object/apply:os.system [id]", "r.md:2:4"),
        ("a: &x [*x]", "r.md:2:8"),
        ("b: *none", "r.md:2:4"),
        ("a: " + "[" * 100_000, "r.md"),
        ("a: " + "[" * 40_000, "r.md:2:"),
        ("a:\n" + "- " * 20_000, "r.md:3:"),
        ("\n".join(["a: &a [x,x,x]", *(f"b{n}: &b{n} [*a,*a,*a,*a]" for n in range(9))]), ""),
        ("a: 1\na: 2", "r.md:3:1"),
        ("globs: a\nglobs: b", "r.md:3:1"),
        ("\ta: 1", "r.md:2:1"),
    ],
)
def test_what_is_no_yaml_costs_nothing_but_its_fields(yaml: str, where: str) -> None:
    text = split_front_matter(f"---\n{yaml}\n---\nBODY".encode(), "r.md")
    assert text.body == "BODY"
    if where:
        assert text.error is not None
        assert text.error.where.startswith(where)
        assert text.fields == {}


def test_bytes_that_are_not_utf_8_do_no_harm() -> None:
    assert split_front_matter(b"---\na: 1\n---\n\xff\n", "r.md").body == "\ufffd\n"


PIECES = [
    *("globs: ", "paths:", "alwaysApply: ", "description: ", "\n", "\n  ", "\n- ", "*.ts", "{a,b}"),
    *(
        "[",
        "]",
        "{",
        "}",
        ", ",
        "'",
        '"',
        "#",
        " # c",
        ": ",
        "!",
        "@",
        "|",
        "&x ",
        "*x",
        "\t",
        "\0",
    ),
]


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_any_fields_are_read_or_an_error_with_its_line(pieces: list[str]) -> None:
    text = split_front_matter(f"---\n{''.join(pieces)}\n---\nBODY".encode(), "r.mdc")
    assert text.body.endswith("BODY")
    assert text.error is None or text.error.where.startswith("r.mdc:")
    assert explain_path_mismatch(text.fields, "a.ts") is not None


def test_long_lists_of_patterns_cost_little() -> None:
    start = time.process_time()
    for text in ("a," * 30_000, "{a," * 20_000, "{" * 60_000, "[*" * 30_000):
        split_front_matter(f"---\nglobs: *.x,{text}\n---\n".encode(), "r.mdc")
    assert time.process_time() - start < 2


@given(st.binary())
def test_no_bytes_end_it(data: bytes) -> None:
    split_front_matter(b"---\n" + data, "r.md")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r\ufeff")))
def test_a_text_without_front_matter_is_whole(text: str) -> None:
    if not text.startswith("---"):
        assert split_front_matter(text.encode(), "r.md").body == text


@pytest.mark.parametrize(
    ("value", "values"), [(None, []), ("go", ["go"]), (0, [0]), (["a", 1], ["a", 1])]
)
def test_a_scalar_is_a_list_of_one(value: Any, values: list[Any]) -> None:
    assert list_field({"k": value}, "k") == values
    assert list_field({}, "k") == []


def test_a_flag_is_true_or_false_and_nothing_else() -> None:
    fields = {"a": True, "b": False, "c": "yes", "d": 1}
    assert [read_flag(fields, key) for key in "abcde"] == [True, False, None, None, None]


@pytest.mark.parametrize(
    "text",
    [
        "languages: [go, python]\nstage: testing", "a: [ x y, 1.10 ,2]", "a: 1\na: 2", "yes: b",
        "a: yes", "a: 2024-01-02", "a: [1, true, null]", "a: - b", "a: b: c", "a: b #c", "a: 0x1f",
        "true: 1", "a: 1_000", "a: b  ", "a:  [b]  ", "a: []", "a: 'b'", "a: b -", "a: 1.", "a: .5",
        "a: b\n  c", "a: b\n\nc: d", "a: [b,c]", "a: [b, c: d]", "null: 1", "a: 012", "a: +1",
        "a: ~", "a: b/c/**", "a: 1e3", "a: [a - b, c-]", "A-b: c.d", "a: No", "a: -1", "a: b\t",
        "globs: src/**/*.py, b*", 'paths: "src/**/*.{ts,tsx}"', 'a: "x: #y" ', 'a: "1"', 'a: ""',
        'a: "b" c', "a: [b*, c/**]", "a: b,", 'a: "b\\n"', 'a: "b" # c',
    ],
)  # fmt: skip
def test_simple_fields_mean_what_they_mean_in_yaml(text: str) -> None:
    source = f"---\n{text}\n---\n"
    quick = split_front_matter(source.encode(), "x")
    slow = split_front_matter(source.replace("---\n", "---\n#\n", 1).encode(), "x")
    assert (quick.fields, quick.body) == (slow.fields, slow.body)
    assert (quick.error is None) == (slow.error is None)
