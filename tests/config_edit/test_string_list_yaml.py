from __future__ import annotations

import pytest

from cub.config_edit.config_text import YAML
from cub.config_edit.string_list import ListLocation, edit_string_list, read_string_list

PLACE = ListLocation("c.yml", ("read",), YAML)


def done(text: str, *items: str) -> str:
    return edit_string_list(text.encode(), PLACE, items).decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "read:\n  - n.md\n"),
        ("\ufeff", "\ufeffread:\n  - n.md\n"),
        ("# why", "# why\nread:\n  - n.md"),
        ("---\n", "---\nread:\n  - n.md\n"),
        ("a: 1\r\n", "a: 1\r\nread:\r\n  - n.md\r\n"),
        ("{}\n", "{read: [n.md]}\n"),
        ("{\n  # c\n}\n", "{\n  # c\n  read: [n.md]\n}\n"),
        ("{a: 1} # c\n", "{a: 1, read: [n.md]} # c\n"),
        ("read:\na: 1\n", "read:\n  - n.md\na: 1\n"),
        ("read: # c\n\na: 1\n", "read: # c\n  - n.md\n\na: 1\n"),
        ("a: 1\nread:", "a: 1\nread:\n  - n.md"),
        ("{read: , a: 1}\n", "{read: [n.md] , a: 1}\n"),
        ("read: x.md # c\n", "read: [x.md, n.md] # c\n"),
        ("read: 'x y.md'", "read: ['x y.md', n.md]"),
        ("read: [x.md]\n", "read: [x.md, n.md]\n"),
        ("read: []\n", "read: [n.md]\n"),
        ("read: [ x.md, ] # c\n", "read: [ x.md, n.md, ] # c\n"),
        ("read: [x.md, # c\n  y.md # d\n]\n", "read: [x.md, # c\n  y.md, # d\n  n.md\n]\n"),
        ("read:\n- x.md # c\n# d\na: 1\n", "read:\n- x.md # c\n- n.md\n# d\na: 1\n"),
        ("read:\n    -  x.md\n    -  y.md", "read:\n    -  x.md\n    -  y.md\n    - n.md"),
        ("read:\n  - x\n    y.md\na: |\n  b\n", "read:\n  - x\n    y.md\n  - n.md\na: |\n  b\n"),
        ("read:\n- |\n  x\n# c\na: 1\n", "read:\n- |\n  x\n- n.md\n# c\na: 1\n"),
        ("read: a:b/x.md\n", "read: [a:b/x.md, n.md]\n"),
        ("  a: 1\n", "  a: 1\n  read:\n    - n.md\n"),
        ("a:\n- b\n", "a:\n- b\nread:\n  - n.md\n"),
        ("x: &x {read: [a]}\n<<: *x\n", "x: &x {read: [a]}\n<<: *x\nread:\n  - a\n  - n.md\n"),
        ("read: &r x.md\na: *r\n", "read: [&r x.md, n.md]\na: *r\n"),
        ("a: [{read: 1}]\nread: [x.md]\n...\n", "a: [{read: 1}]\nread: [x.md, n.md]\n...\n"),
    ],
)
def test_an_item_joins_the_list_in_its_style(text: str, expected: str) -> None:
    assert done(text, "n.md") == expected
    assert done(expected, "n.md") == expected


ODD = ["true", "1e3", "2020-01-01", ".nan", "a: b", "#x", "- x", "[x]", "é.md", "x, y.md", '"', "~"]


@pytest.mark.parametrize("item", ODD)
@pytest.mark.parametrize("text", ["", "read: x\n", "read: [x]\n", "read:\n- x\n"])
def test_an_odd_item_is_quoted(text: str, item: str) -> None:
    after = edit_string_list(text.encode(), PLACE, [item])
    assert (read_string_list(after, PLACE) or ())[-1] == item


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("read: [x, y, z]\n", "read: [x, z]\n"),
        ("read: [y, z] # c\n", "read: [z] # c\n"),
        ("read: [x, z, ./y]\n", "read: [x, z]\n"),
        ("read: [x, y, ]\n", "read: [x, ]\n"),
        ("read: [y, y, x, y]\n", "read: [x]\n"),
        ("read:\n- x # c\n- y\n- z # d\n", "read:\n- x # c\n- z # d\n"),
        ("read:\n- x # c\n- y # d\n- z\n", "read:\n- x # c\n# d\n- z\n"),
        ("read:\n  - y  # c\r\n  - x", "read:\n  # c\r\n  - x"),
        ("read:\n  - |\n    x\n  - 'y' # d", "read:\n  - |\n    x\n  # d"),
        ("read:\n- y # c\na: 1\n", "read: [] # c\na: 1\n"),
        ("read:\n- x\n- y", "read:\n- x\n"),
    ],
)
def test_items_can_be_dropped(text: str, expected: str) -> None:
    assert edit_string_list(text.encode(), PLACE, (), removed_texts=["y"]).decode() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("read: [x, y]\n", "read: [x, n.md]\n"),
        ("read: [y]\n", "read: [n.md]\n"),
        ("read: [\n  x,\n  y\n]\n", "read: [\n  x,\n  n.md\n]\n"),
        ("read: [\n  y\n]\n", "read: [\n  n.md\n]\n"),
        ("read:\n- y\n- x\n", "read:\n- x\n- n.md\n"),
        ("read:\n- x\n- y", "read:\n- x\n- n.md"),
    ],
)
def test_items_can_be_replaced(text: str, expected: str) -> None:
    assert (
        edit_string_list(text.encode(), PLACE, ["n.md"], removed_texts=["y"]).decode() == expected
    )
