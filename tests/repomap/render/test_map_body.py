"""The body of a map: which part says what, in which order, and how each line is made.

How the parts of the map share its room: never more than there is, in any mixture.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.edit.document import Document
from cub.repomap.map_types import KeyFile
from cub.repomap.outline.folder_tree import build_folder_tree
from cub.repomap.ranking.reference_graph import build_reference_graph
from cub.repomap.render.map_body import (
    MapPart,
    fit_parts,
    format_block,
    render_map_body,
    take_lines,
)
from cub.repomap.repo_map import ProjectStructure, RepoMap
from cub.repomap.stack.facts import ProjectCommand, ProjectStack, Technology
from cub.tokens import estimate_tokens
from tests.examples import few_examples

EMPTY = ProjectStructure(
    summary="",
    languages=(),
    stack=ProjectStack(),
    key_files=(),
    conventions=(),
    tree=build_folder_tree([], {}),
)
HEADER = 40
PLENTY = 5_000


def command(purpose: str, text: str, folder: str = "") -> ProjectCommand:
    return ProjectCommand(purpose, text, "Makefile", folder)  # type: ignore[arg-type]


def page(structure: ProjectStructure, tokens: int = PLENTY) -> str:
    """The body for a project without symbols."""
    return render_map_body(
        RepoMap(structure, build_reference_graph([]), [], ()),
        tokens,
        HEADER,
    )


def about(**facts: object) -> list[str]:
    """The lines of the part without a heading."""
    text = page(replace(EMPTY, **facts))  # type: ignore[arg-type]
    _, _, rest = text.partition("```text\n")
    return rest.partition("\n```")[0].split("\n")


def test_where_there_is_nothing_to_say_there_is_no_page() -> None:
    assert page(EMPTY) == ""


def test_parts_come_in_their_order_each_in_a_fence_and_empty_ones_not_at_all() -> None:
    found = replace(
        EMPTY,
        summary="It bakes.",
        tree=build_folder_tree(["src/a.py"], {}),
        stack=ProjectStack(commands=(command("test", "make test"),)),
    )
    assert page(found) == (
        "# Project map\n\n```text\nIt bakes.\n```\n\n"
        "## Commands\n\n```text\ntest: make test (Makefile)\n```\n\n"
        "## Layout\n\n```text\nsrc/\n  a.py\n```\n"
    )
    assert "## Commands" not in page(replace(found, stack=ProjectStack()))


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"summary": "It\nbakes \u202e bread."}, ["It bakes bread."]),
        ({"languages": (("Go", 90), ("C", 10))}, ["languages: Go 90%, C 10%"]),
        ({"key_files": (KeyFile("ci/", "CI: lint, test"),)}, ["CI (lint, test): ci/"]),
        ({"conventions": ("linted with\nRuff",)}, ["linted with Ruff"]),
        (
            {"key_files": (KeyFile("a b.md", "tests"), KeyFile("c", "CI"), KeyFile("d", "tests"))},
            ['tests: "a b.md" d', "CI: c"],
        ),
    ],
)  # fmt: skip
def test_each_fact_is_a_line(facts: dict[str, object], expected: list[str]) -> None:
    assert about(**facts) == expected


def test_the_stack_has_no_language_that_only_a_tool_somewhere_is_written_in() -> None:
    rows = [
        Technology("Go", "language", "1.22", "go.mod"),
        Technology("Python", "language", ">=3.11", "tools/pyproject.toml"),
        Technology("Rust", "language", "", "crates/a/Cargo.toml"),
        Technology("chi", "library", "v5", "go.mod"),
    ]
    found = about(
        stack=ProjectStack(technologies=tuple(rows)), languages=(("Go", 80), ("Rust", 20))
    )
    assert [name in " ".join(found[1:]) for name in ("Go 1.22", "Python", "Rust", "chi v5")] == [
        True, False, True, True,
    ]  # fmt: skip


def test_commands_are_told_with_their_folder_where_somebody_could_type_it() -> None:
    rows = [
        command("test", f"make test{n}", folder) for n, folder in enumerate(["a\n", "x y; $z", ""])
    ]
    text = page(replace(EMPTY, stack=ProjectStack(commands=tuple(rows))))
    assert [line for line in text.split("\n") if line.startswith("test:")] == [
        "test: cd 'x y; $z' && make test1 (Makefile)",
        "test: make test2 (Makefile)",
    ]


def test_a_line_that_does_not_fit_is_left_out_and_the_next_one_tried() -> None:
    found = replace(EMPTY, summary="word " * 40, languages=(("Go", 100),))
    assert "languages: Go 100%" in page(found, 90)
    assert "word" not in page(found, 90)


lines = st.lists(st.text("ab c`#~.@<>-", max_size=30), max_size=12)


def part(texts: list[str], share: float, heading: str = "## A") -> MapPart:
    return MapPart(heading, partial(take_lines, texts), share)


@few_examples
@given(st.lists(st.tuples(lines, st.floats(0, 1)), max_size=5), st.integers(0, 300))
def test_the_text_never_takes_more_than_the_room(
    parts: list[tuple[list[str], float]], room: int
) -> None:
    text = fit_parts([part(texts, share) for texts, share in parts], room)
    assert estimate_tokens(text) <= room


def test_what_one_part_leaves_the_others_take() -> None:
    long = [f"line{n}" for n in range(100)]
    text = fit_parts([part(["short"], 0.5), part(long, 0.25), part(long, 0.25)], 160)
    assert estimate_tokens(text) >= 150


def test_what_the_last_part_leaves_goes_back() -> None:
    long = [f"line{n}" for n in range(100)]
    assert estimate_tokens(fit_parts([part(long, 0.1), part(["short"], 0.9)], 120)) >= 110


def test_a_part_without_lines_has_no_heading() -> None:
    assert fit_parts([part([], 0.5, "## Empty"), part(["x"], 0.5, "## Full")], 50).startswith(
        "## Full"
    )


@few_examples
@given(lines)
def test_no_line_of_a_block_is_markdown(texts: list[str]) -> None:
    blocks = Document.parse(format_block("", [text or "-" for text in texts]).encode(), "x").blocks
    assert [found.kind for found in blocks] == ["fence"]
