from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.config_edit.config_text import parse_config_text
from cub.project.config import parse_config
from cub.project.config_writer import import_json_settings, parse_json_settings, set_targets
from cub.project.migrations import MigrationStep
from tests.examples import hardly_any_examples

NEW = ["AGENTS.md", "CLAUDE.md", "p/AGENTS.md"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "targets:\n  - AGENTS.md\n  - CLAUDE.md\n  - p/AGENTS.md\n"),
        ("# ours", "# ours\ntargets:\n  - AGENTS.md\n  - CLAUDE.md\n  - p/AGENTS.md"),
        (
            "n:   null\r\n",
            "n:   null\r\ntargets:\r\n  - AGENTS.md\r\n  - CLAUDE.md\r\n  - p/AGENTS.md\r\n",
        ),
        (
            "targets:\n- ./AGENTS.md # keep me\n- CLAUDE.md\nother: 1\n",
            "targets:\n- ./AGENTS.md # keep me\n- CLAUDE.md\n- p/AGENTS.md\nother: 1\n",
        ),
        (
            "targets:\n    - AGENTS.md\n    # and\n    - 'CLAUDE.md'",
            "targets:\n    - AGENTS.md\n    # and\n    - 'CLAUDE.md'\n    - p/AGENTS.md",
        ),
        (
            "targets: [AGENTS.md,\n  # why\n  CLAUDE.md]\n",
            "targets: [AGENTS.md,\n  # why\n  CLAUDE.md, p/AGENTS.md]\n",
        ),
        (
            "  placement: top\n",
            "  placement: top\n  targets:\n    - AGENTS.md\n    - CLAUDE.md\n    - p/AGENTS.md\n",
        ),
        ("targets: [ AGENTS.md, CLAUDE.md, ]\n", None),
        ("--- \nschema: 1\n", None),
        ("{schema: 1}\n", None),
        ("x: |\n  words\n", None),
        ("{targets: [AGENTS.md, CLAUDE.md]}\n", "{targets: [AGENTS.md, CLAUDE.md, p/AGENTS.md]}\n"),
    ],
)
def test_targets_are_added_and_nothing_else_changes(text: str, expected: str | None) -> None:
    done = set_targets(text.encode(), NEW).decode()
    assert expected is None or done == expected
    assert list(parse_config(done.encode(), version="0.1.0").targets) == NEW


def test_a_list_keeps_its_order() -> None:
    done = set_targets(b"targets: [CLAUDE.md, AGENTS.md]\n", NEW)
    assert done == b"targets: [CLAUDE.md, AGENTS.md, p/AGENTS.md]\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("targets:\n- AGENTS.md\n- CLAUDE.md\n- p/AGENTS.md\n", "targets:\n- AGENTS.md\n"),
        ("targets:\n- AGENTS.md\n- CLAUDE.md # c\n- p/AGENTS.md\n", "targets:\n- AGENTS.md\n# c\n"),
        ("targets: [AGENTS.md, CLAUDE.md, 'p/AGENTS.md'] # c\n", "targets: [AGENTS.md] # c\n"),
    ],
)
def test_targets_are_dropped(text: str, expected: str) -> None:
    assert set_targets(text.encode(), ["AGENTS.md"]).decode() == expected


STEP = MigrationStep(
    "config_from_json",
    ("old.json",),
    keep_as="old.json.old",
    keys={
        "client": "run.harness",
        "client.name": "run.harness",
        "client.model": "run.model",
        "loop.max": "run.budget.iterations",
        "cost": "run.budget.usd",
        "skip": "map.exclude",
    },
    default={"client": ["auto", None], "clean": [True], "list": [[]], "tries": [3]},
)


def adopted(tree: dict[str, Any], before: str = "") -> tuple[Any, tuple[str, ...]]:
    found = import_json_settings(tree, STEP, before.encode() or None, 1)
    text = found.config or b""
    return json.loads(
        json.dumps(parse_config_text(text, "x").python_value)
    ) if text else None, found.unmapped_keys


@pytest.mark.parametrize(
    ("tree", "before", "after", "left"),
    [
        ({}, "", None, ()),
        ({"client": "codex"}, "", {"run": {"harness": "codex"}}, ()),
        ({"client": {"name": "codex"}}, "", {"run": {"harness": "codex"}}, ()),
        ({"client": "auto", "clean": True, "list": []}, "", None, ()),
        ({"clean": False}, "", None, ("clean",)),
        ({"clean": 1, "tries": 3.5}, "", None, ("clean", "tries")),
        ({"id": "x", "a": {"b": {"c": None}}, "e": {}}, "", None, ("id", "a.b.c", "e")),
        (
            {"client": {"name": "a", "model": "b"}, "loop": {"max": 5}, "cost": 1.5, "skip": ["x"]},
            "",
            {
                "run": {"harness": "a", "model": "b", "budget": {"iterations": 5, "usd": 1.5}},
                "map": {"exclude": ["x"]},
            },
            (),
        ),
        # What config.yaml says wins; what says the same needs no other place.
        ({"client": "b"}, "run: {harness: a}", {"run": {"harness": "a"}}, ("client",)),
        ({"client": "a"}, "run: {harness: a}", {"run": {"harness": "a"}}, ()),
        ({"skip": ["x"]}, "map: {exclude: [x]}", {"map": {"exclude": ["x"]}}, ()),
        ({"client": "a"}, "run: {harness: null}", {"run": {"harness": None}}, ("client",)),
        (
            {"client": {"model": "b"}},
            "run: {harness: a}",
            {"run": {"harness": "a", "model": "b"}},
            (),
        ),
        # A value of the wrong type, which config.yaml would refuse.
        ({"client": ["a"]}, "", None, ("client",)),
        ({"loop": {"max": "many"}}, "", None, ("loop.max",)),
        ({"cost": True, "skip": "x"}, "", None, ("cost", "skip")),
    ],
)
def test_values_with_a_counterpart_are_adopted(
    tree: dict[str, Any], before: str, after: Any, left: tuple[str, ...]
) -> None:
    assert adopted(tree, before) == (after, left)


def test_a_comment_of_the_user_s_stays() -> None:
    found = import_json_settings({"client": "a"}, STEP, b"# ours\nplacement: top  # agreed\n", 1)
    assert found.config is not None
    assert found.config.startswith(b"# ours\nplacement: top  # agreed\n")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'"x"',
        b'{"a": 1,}',
        b'{"a": 1, "a": 2}',
        b'{"a": {"b": 1, "b": 1}}',
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": "\xff"}',
        b"[" * 100_000,
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_no_object_of_json_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse_json_settings(data)


@pytest.mark.parametrize("data", [b'{"a": 1}', b'\xef\xbb\xbf{"a": 1}\r\n', b' {"a":\t1} '])
def test_an_object_is_read(data: bytes) -> None:
    assert parse_json_settings(data) == {"a": 1}


_LEAF = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 9), st.sampled_from(["auto", "a", "yes", "", "#"])
)
_VALUE = st.one_of(_LEAF, st.lists(_LEAF, max_size=2))
_TREE = st.fixed_dictionaries(
    {},
    optional={
        "client": st.one_of(_VALUE, st.fixed_dictionaries({"name": _VALUE, "model": _VALUE})),
        "loop": st.fixed_dictionaries({"max": _VALUE}),
        "cost": st.one_of(_VALUE, st.floats()),
        "skip": _VALUE,
        "clean": _VALUE,
        "x": _VALUE,
    },
)


@hardly_any_examples
@given(_TREE)
def test_every_value_is_in_the_config_or_known_or_named(tree: dict[str, Any]) -> None:
    found, left = adopted(tree)
    flat = {
        f"{key}.{name}" if name else key: value
        for key, whole in tree.items()
        for name, value in (whole.items() if isinstance(whole, dict) else [("", whole)])
    }
    for key, value in flat.items():
        if key in left or any(value is d or value == d for d in STEP.default.get(key, ())):
            continue
        node = found
        for name in STEP.keys[key].split("."):
            node = node[name]
        assert node == value
    again = import_json_settings(
        tree, STEP, None if found is None else json.dumps(found).encode(), 1
    )
    assert again.unmapped_keys == left
