"""Edits of any file: the wanted value, every comment, and the bytes around; or a refusal."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from cub.config_edit.value_edits import make_canonical
from cub.config_edit.yaml_text import parse_yaml
from cub.errors import CubError
from cub.project.config_writer import set_config_value
from cub.source_text import decode_source
from tests.examples import few_examples
from tests.project.test_config_hostile import TEXTS

LINES = [
    *("schema: 1", "placement: 'top'  # why", "# a comment", "", "   ", "---", "..."),
    *("run: {model: 'x', checks: [a, 'b']}", "run:", "run:  # the loop", "  # inside"),
    *(
        "  model: x  # m",
        '  model: "y"',
        "  checks:",
        "    - a  # one",
        "    - 'b'",
        "  checks: []",
    ),
    *("    budget:", "  budget: &b {usd: 1}", "notes: |", "  run: none", "other: *b", "map:"),
    *("- a", "inline: [map,", "  # between", "  constitution]", "ünï: 🥖  # ende", "  <<: *b"),
]
FILES = st.tuples(
    st.lists(st.sampled_from(LINES), max_size=9), st.sampled_from(["\n", "\r\n"]), st.booleans()
).map(lambda parts: (parts[1].join(parts[0]) + parts[1] * parts[2]).encode())
SCALARS = (
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.text(max_size=12)
    | st.floats(-(10**6), 10**6, allow_nan=False)
)  # fmt: skip
VALUES = SCALARS | st.lists(SCALARS, max_size=4) | st.dictionaries(st.text(max_size=5), SCALARS)
KEYS = st.sampled_from(["run.model", "run.checks", "run.budget.usd", "placement", "new", "run"])


def plain(data: bytes) -> Any:
    root = parse_yaml(decode_source(data, "x"))
    return root.to_python() if root else None


def at(tree: Any, key: str) -> Any:
    for part in key.split("."):
        tree = tree[part]
    return tree


def comments(data: bytes) -> list[str]:
    """What the lines above have as comments; no value in this module holds such a word."""
    return re.findall(r"# (?:why|a comment|the loop|inside|m|one|between|ende)\b", data.decode())


@few_examples
@given(FILES, KEYS, VALUES)
@example(b"run:\r\n  model: x  # m", "run.model", "x\ny")
@example(b"", "run", {"": None})
@example(b"notes: |\n    - a  # one", "run.model", None)
def test_exactly_the_value_changes_or_nothing(data: bytes, key: str, value: Any) -> None:
    try:
        done = set_config_value(data, key, value)
    except CubError:
        return
    after, before = plain(done), plain(data) or {}
    assert make_canonical(at(after, key)) == make_canonical(value)
    top = key.partition(".")[0]
    others = [{k: v for k, v in tree.items() if k != top} for tree in (before, after)]
    assert make_canonical(others[0]) == make_canonical(others[1])
    assert comments(done) == comments(data)
    assert set_config_value(done, key, value) == done


@few_examples
@given(
    FILES.filter(lambda data: b"*b" not in data),
    st.sampled_from(["run.model", "placement", "new"]),
    SCALARS,
)
def test_the_bytes_before_and_behind_a_scalar_stay(data: bytes, key: str, value: Any) -> None:
    try:
        done = set_config_value(data, key, value)
    except CubError:
        return
    lines, new = data.splitlines(), done.splitlines()
    changed = [line for line in lines if line not in new]
    assert len(changed) <= 1
    assert 0 <= len(new) - len(lines) <= 2


@few_examples
@given(TEXTS, KEYS, VALUES)
def test_any_text_is_edited_or_refused_and_what_was_edited_can_be_read(
    text: str, key: str, value: Any
) -> None:
    done = []
    with suppress(CubError):
        done.append(set_config_value(text.encode(), key, value))
    for data in done:
        plain(data)
