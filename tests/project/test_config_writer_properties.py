from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cub.errors import CubError
from cub.project.config import parse_config
from cub.project.config_writer import set_targets
from cub.project.targets import DEFAULT_TARGETS, find_target_problem
from tests.examples import few_examples

NESTED = (*DEFAULT_TARGETS, "packages/api/AGENTS.md")

LINES = [
    "schema: 1",
    "placement: 'top'  # why not",
    "# a comment",
    "",
    "   ",
    "---",
    "...",
    "run: {harness: auto}",
    "ledger:",
    "  commit: true",
    "inline: [map,",
    "  constitution]",
    "notes: |",
    "  targets: [none]",
    "targets: [AGENTS.md, CLAUDE.md]  # both",
    "targets:",
    "  - AGENTS.md  # people",
    '  - "CLAUDE.md"',
    "- AGENTS.md",
    "targets: []",
    "ünïcode: 🥖",
]


def read(data: bytes) -> tuple[str, ...]:
    return parse_config(data, version="0").targets


def is_insertion(before: bytes, after: bytes) -> bool:
    """Whether `after` is `before` with something put in at one place."""
    size = len(before)
    return any(
        after.startswith(before[:at]) and after.endswith(before[at:]) for at in range(size, -1, -1)
    )


@few_examples
@given(
    st.lists(st.sampled_from(LINES), max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
@example(["schema: 1", "..."], "\n", True)
@example(["  schema: 1"], "\n", True)
def test_an_edit_only_adds_or_is_refused(lines: list[str], newline: str, closed: bool) -> None:
    data = (newline.join(lines) + (newline if closed else "")).encode()
    try:
        wanted = (*read(data), "packages/api/AGENTS.md")
    except CubError:
        return  # a file that can't be read is never edited
    try:
        done = set_targets(data, wanted)
    except CubError:
        return
    assert sorted(read(done)) == sorted(wanted)
    assert is_insertion(data, done)


@few_examples
@given(st.text(min_size=1, max_size=20))
@example("[slug]")
@example("@scope")
@example("a: b")
@example("- x")
@example("#1")
@example("true")
@example("1e3")
@example(".git")
def test_any_name_comes_back(name: str) -> None:
    target = f"{name}/AGENTS.md"
    if "/" in name or name == "." or find_target_problem(target):
        return
    for data in (None, b"schema: 1\n", b"targets: [AGENTS.md]\n", b"targets:\n- AGENTS.md\n"):
        old = read(data) if data else ("AGENTS.md",)
        assert set(read(set_targets(data, (*old, target)))) == {*old, target}


def test_where_an_edit_would_do_harm_the_error_says_what_to_write() -> None:
    with pytest.raises(CubError, match="without changing other lines") as error:
        set_targets(b"a: &a [AGENTS.md, CLAUDE.md]\ntargets: *a\n", NESTED)
    assert error.value.where == ".cub/config.yaml"
    written = error.value.hint.removeprefix("replace `targets` on line 2 with: ")
    assert read(written.encode()) == NESTED
