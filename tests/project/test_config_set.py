from __future__ import annotations

from typing import Any

import pytest

from cub.errors import CubError
from cub.project.config_writer import set_config_value


@pytest.mark.parametrize(
    ("text", "key", "value", "expected"),
    [
        # Scalars, in their place and their quotes.
        ("a: 1  # one\r\nb: 2", "a", 3, "a: 3  # one\r\nb: 2"),
        ("a: 'x'\n", "a", "it's", "a: 'it''s'\n"),
        ('a: "x"  # c\n', "a", "y z", 'a: "y z"  # c\n'),
        ("a: 'x'\n", "a", "b\nc", 'a: "b\\nc"\n'),
        ("a: 'x'\n", "a", True, "a: true\n"),
        ("a: x\n", "a", "true", 'a: "true"\n'),
        ("a: x\n", "a", "y: z #", 'a: "y: z #"\n'),
        ("a: x\n", "a", None, "a: null\n"),
        ("a: x\n", "a", 1.5, "a: 1.5\n"),
        ("a: x\n", "a", "Bäckerei 🥖", 'a: "Bäckerei 🥖"\n'),
        ("a: x\n", "a", "\x7f\u2028", 'a: "\\u007f\\u2028"\n'),
        ("a: |\n  x\n  y\n# c\nb: 1\n", "a", "z", "a: z\n# c\nb: 1\n"),
        ("a: x\n  y\nb: 1\n", "a", "z", "a: z\nb: 1\n"),
        ("a:   # c\nb: 1\n", "a", 2, "a: 2   # c\nb: 1\n"),
        ("a:\n# c\nb: 1\n", "a", 2, "a: 2\n# c\nb: 1\n"),
        ("{a: , b: {c: 'd'}} # e\n", "b.c", "f", "{a: , b: {c: 'f'}} # e\n"),
        ("\ufeffa: 1\r\n", "a", 2, "\ufeffa: 2\r\n"),
        # New keys: at the end of their mapping, in its style.
        ("", "a", 1, "a: 1\n"),
        ("# c", "a.b", 1, "# c\na:\n  b: 1"),
        ("--- # c\n", "a", 1, "--- # c\na: 1\n"),
        ("a: 1\r\n# end\r\n", "b", 2, "a: 1\r\n# end\r\nb: 2\r\n"),
        ("a: 1", "b", 2, "a: 1\nb: 2"),
        ("\ufeffa: 1\n", "b", 2, "\ufeffa: 1\nb: 2\n"),
        ("  a: 1\n", "b", 2, "  a: 1\n  b: 2\n"),
        ("r:  # c\n\nb: 1\n", "r.m", 2, "r:  # c\n  m: 2\n\nb: 1\n"),
        ("r:\n    a: 1 # c\nb: 1\n", "r.m", 2, "r:\n    a: 1 # c\n    m: 2\nb: 1\n"),
        ("r:\n    a: 1\n", "s.t.u", 2, "r:\n    a: 1\ns:\n  t:\n    u: 2\n"),
        ("r:\n  l:\n    - a\n\nb: 1\n", "r.m", 2, "r:\n  l:\n    - a\n  m: 2\n\nb: 1\n"),
        ("r:\n  t: |\n    x\n\nb: 1\n", "r.m", 2, "r:\n  t: |\n    x\n  m: 2\n\nb: 1\n"),
        ("r: {}\n", "r.m", 2, "r: {m: 2}\n"),
        ("r: null\n", "r.m", 2, "r: {m: 2}\n"),
        ("r: {a: 1,\n  # c\n  b: 2}\n", "r.m.n", 2, "r: {a: 1,\n  # c\n  b: 2, m: {n: 2}}\n"),
        ("{}\n", "a", ["x", "y z"], "{a: [x, y z]}\n"),
        ("x: &x {a: 1}\ny:\n  <<: *x\n", "y.a", 2, "x: &x {a: 1}\ny:\n  <<: *x\n  a: 2\n"),
        # Lists: items that stay keep their words and comments.
        ("a: [x, 'y', z]\n", "a", ["x", "y", "z", "w"], "a: [x, 'y', z, w]\n"),
        ("a: [x, 'y', z]\n", "a", ["w", "x", "y", "z"], "a: [w, x, 'y', z]\n"),
        ("a: [x, 'y', z]\n", "a", ["y", "x"], "a: [y, x]\n"),
        ("a: [x, # c\n  'y']\n", "a", ["x", "w"], "a: [x, # c\n  'w']\n"),
        ("a: []\n", "a", ["x"], "a: [x]\n"),
        ("a: [x]\n", "a", [], "a: []\n"),
        ("a:\n  - x # c\n  - 'y'\n# d\n", "a", ["x", "z"], "a:\n  - x # c\n  - 'z'\n# d\n"),
        ("a:\n  - x # c\n  - y", "a", ["x", "y", "z"], "a:\n  - x # c\n  - y\n  - z"),
        ("a:\n- x\n- y # c\n", "a", ["w", "y"], "a:\n- w\n- y # c\n"),
        ("a:\n- y # c\n", "a", ["w", "x", "y"], "a:\n- w\n- x\n- y # c\n"),
        ("a:\r\n- x\r\n- y # c\r\n", "a", ["y"], "a:\r\n- y # c\r\n"),
        ("a:\n- x # c\n- y\n", "a", ["y"], "a:\n# c\n- y\n"),
        ("a:\n- x\n# c\nb: 1\n", "a", [], "a: []\n# c\nb: 1\n"),
        ("a:\n- x\n", "a", "y", "a: y\n"),
        ("a: x\n", "a", {"b": ["c", None], "d e": {}}, "a: {b: [c, null], d e: {}}\n"),
    ],
)  # fmt: skip
def test_a_value_is_set_and_nothing_else_changes(
    text: str, key: str, value: Any, expected: str
) -> None:
    assert set_config_value(text.encode(), key, value).decode() == expected


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("schema", 3, "schema: 3\n"),
        ("run.budget.usd", 2.5, "run:\n  budget:\n    usd: 2.5\n"),
        ("targets", ["AGENTS.md", "@a/AGENTS.md"], 'targets: [AGENTS.md, "@a/AGENTS.md"]\n'),
        ("on", "off", '"on": "off"\n'),
        ("true", "1", '"true": "1"\n'),
    ],
)
def test_a_new_file_holds_just_the_value(key: str, value: Any, expected: str) -> None:
    assert set_config_value(None, key, value).decode() == expected


@pytest.mark.parametrize("text", ["a: 1 # c\r\n", "{a: 0o1}", "a: &x 1\nb: *x", "<<: {a: 1}\n"])
def test_a_value_that_is_there_already_costs_no_byte(text: str) -> None:
    assert set_config_value(text.encode(), "a", 1) == text.encode()


@pytest.mark.parametrize(
    ("text", "key", "value", "by_hand"),
    [
        ("a: [x, # c\n  y]\n", "a", ["x"], "replace `a` on line 1 with: a: [x]"),
        ("r:\n  # c\n  m: x\n", "r", 3, "replace `r` on line 1 with: r: 3"),
        ("r: 3\n", "r.m", "x: y", 'replace `r` on line 1 with: r: {m: "x: y"}'),
        ("r: [1]\n", "r.m", 2, "replace `r` on line 1 with: r: {m: 2}"),
        ("- a\n", "r", 2, "add it yourself: r: 2"),
        ("x: &x {m: 1}\ny: *x\n", "y.m", 2, "replace `y` on line 2 with: y: {m: 2}"),
        ("x: &x {m: 1}\ny: *x\n", "y.n", 2, "replace `y` on line 2 with: y: {m: 1, n: 2}"),
        ("x: &x {m: 1}\ny: *x\n", "x.n", 2, "add to `x` on line 1: n: 2"),
        ("x: &x {m: 1}\ny: *x\n", "x.m", 2, "replace `x.m` on line 1 with: m: 2"),
        ("a: 1\n", "a", 10**30, f"replace `a` on line 1 with: a: {10**30}"),
        # An edit of the text would lose a comment, or take away what an alias repeats.
        (
            "r:\n    # b\n    m: x # c\n    n: 1\n",
            "r",
            {"m": "y"},
            "replace `r` on line 1 with: r: {m: y}",
        ),
        ("a: &x 1\nb: *x\n", "b", 2, "replace `b` on line 2 with: b: 2"),
        ("a: 1\n...\n# c\n", "b", 2, "add it yourself: b: 2"),
        ("a: &x [b]\nc: *x\n", "a", ["d"], "replace `a` on line 1 with: a: [d]"),
        # A new line below would give the text a line end.
        ("a: |\n  b", "c", 1, "add it yourself: c: 1"),
    ],
)
def test_what_can_not_be_proven_is_left_to_the_person(
    text: str, key: str, value: Any, by_hand: str
) -> None:
    with pytest.raises(CubError, match=f"can't set `{key}` here without changing") as caught:
        set_config_value(text.encode(), key, value)
    assert caught.value.hint == by_hand
    assert caught.value.where == ".cub/config.yaml"


def test_a_file_that_can_not_be_read_is_not_edited() -> None:
    with pytest.raises(CubError, match="already on line 1") as caught:
        set_config_value(b"a: 1\na: 2\n", "b", 1, path="~/mine.yaml")
    assert caught.value.where == "~/mine.yaml:2:1"
