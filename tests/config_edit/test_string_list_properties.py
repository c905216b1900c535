from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from cub.config_edit import config_text
from cub.config_edit.config_text import parse_config_text
from cub.config_edit.string_list import ListLocation, edit_string_list, read_string_list
from tests.examples import few_examples, hardly_any_examples

JSON = ListLocation("s.json", ("a", "b"), config_text.JSON)
YAML = ListLocation("c.yml", ("read",), config_text.YAML)
ITEMS = ["AGENTS.md", ".cub/constitution.md"]

trivia = st.lists(
    st.sampled_from(
        ["", " ", "  ", "\t", "\n", "\r\n", "\n    ", "// c\n", '/* ", ] */', "/*\n*/", "//\r\n\t"]
    ),
    max_size=2,
).map("".join)
texts = st.sampled_from(
    ["", "x", "AGENTS.md", "./AGENTS.md", "a/b", '"', "//", "/*", "é🥖", "\\", ","]
)
keys = st.sampled_from(["a", "b", "c", "//", "a b"])
plain = st.one_of(st.none(), st.booleans(), st.sampled_from([0, 1.5, -2e9]), texts)
values = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def settings(draw: st.DrawFn) -> dict[str, Any]:
    """Values in which the list can stand, or lacks, at each of its keys."""
    tree = draw(st.dictionaries(keys, values, max_size=3))
    inner = draw(st.dictionaries(keys, values, max_size=3))
    there = draw(st.one_of(st.none(), texts, st.lists(texts, max_size=3)))
    inner = {key: value for key, value in inner.items() if key != "b"}
    if there is not None:
        inner = dict(draw(st.permutations([*inner.items(), ("b", there)])))
    tree = {key: value for key, value in tree.items() if key != "a"}
    if draw(st.booleans()):
        tree = dict(draw(st.permutations([*tree.items(), ("a", inner)])))
    return tree


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """A value as JSON with comments, laid out at random."""
    if isinstance(value, dict):
        pairs = [
            f"{draw(trivia)}{draw(written(key))}{draw(trivia)}:{draw(trivia)}{draw(written(inner))}"
            for key, inner in value.items()
        ]
        return draw(enclosed("{", pairs, "}"))
    if isinstance(value, list):
        return draw(enclosed("[", [draw(trivia) + draw(written(item)) for item in value], "]"))
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    return text.replace("/", "\\/") if draw(st.booleans()) else text


@st.composite
def enclosed(draw: st.DrawFn, start: str, parts: list[str], end: str) -> str:
    last = draw(st.sampled_from(["", ","] if parts else [""]))
    return f"{start}{f'{draw(trivia)},'.join(parts)}{draw(trivia)}{last}{draw(trivia)}{end}"


@st.composite
def json_files(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    tree = draw(settings())
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return tree, f"{mark}{draw(trivia)}{draw(written(tree))}{draw(trivia)}"


@hardly_any_examples
@given(json_files())
def test_in_json_everything_else_stays(file: tuple[dict[str, Any], str]) -> None:
    tree, text = file
    assert parse_config_text(text.encode(), "", config_text.JSON).python_value == tree
    done = edit_string_list(text.encode(), JSON, ITEMS)
    assert is_inserted(text, done.decode())
    inner = tree.setdefault("a", {})
    inner["b"] = with_items(inner.get("b", []))
    after = parse_config_text(done, "", config_text.JSON).python_value
    assert (after, list(after)) == (tree, list(tree))
    assert edit_string_list(done, JSON, ITEMS) == done


YAML_PARTS = [
    "# c\n",
    "\n",
    "z: |-\n  read: [a]\n",
    "y: [1, {read: x}]  # c\n",
    "x:\n  read:\n    - no\n",
    "w: 'read: #'\n",
    "é: 🥖\n",
]
YAML_LISTS = [
    "",
    "read:\n",
    "read:   # c\n",
    "read: x.md  # c\n",
    'read: "x: y"\n',
    "read: [x.md, './AGENTS.md']\n",
    "read: [ # c\n  x.md,  # d\n  y.md,\n ]\n",
    "read: []\n",
    "read:\n- x.md # c\n# d\n- 'y z'\n",
    "read:\n    # c\n    - AGENTS.md\n",
    '"read" :\n  -   x.md\n',
]


@few_examples
@given(
    st.lists(st.sampled_from(YAML_PARTS), unique=True),
    st.sampled_from(YAML_LISTS),
    st.lists(st.sampled_from(YAML_PARTS), unique=True),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
@example([], "read:\n", ["y: [1, {read: x}]  # c\n"], "\r\n", False)
def test_in_yaml_everything_else_stays(
    before: list[str], there: str, behind: list[str], newline: str, closed: bool
) -> None:
    parts = dict.fromkeys([*before, there, *behind])
    text = "".join(parts).replace("\n", newline)
    text = text if closed else text.removesuffix(newline)
    tree = parse_config_text(text.encode(), "").python_value or {}
    done = edit_string_list(text.encode(), YAML, ITEMS)
    assert is_inserted(text, done.decode())
    tree["read"] = with_items(tree.get("read") or [])
    assert parse_config_text(done, "").python_value == tree
    assert edit_string_list(done, YAML, ITEMS) == done
    assert {*re.findall(r"\r?\n", done.decode())} <= {newline if newline in text else "\n"}


@few_examples
@given(st.text(max_size=30).filter(str.isprintable), st.sampled_from([JSON, YAML]))
def test_whatever_is_added_can_be_read_back(item: str, place: ListLocation) -> None:
    done = edit_string_list(b"", place, [item])
    assert read_string_list(done, place) == (item,)


def with_items(there: str | list[str]) -> list[str]:
    old = [there] if isinstance(there, str) else list(there)
    return [*old, *(item for item in ITEMS if not {item, f"./{item}"} & set(old))]


def is_inserted(before: str, after: str) -> bool:
    """Whether all of `before` is in `after`, in order."""
    rest = iter(after)
    return all(character in rest for character in before)
