"""The body of a map: which part says what, in which order, and how each line is made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cub.repomap.listing.listing import Listing
from cub.repomap.outline.key_file import KeyFile
from cub.repomap.outline.tree import outline
from cub.repomap.page.page import body
from cub.repomap.ranking.graph import graph_of
from cub.repomap.ranking.weights import DEFAULT
from cub.repomap.sifted import sifted
from cub.repomap.stack.facts import Command, Technology
from cub.repomap.stack.stack import Stack
from cub.repomap.structure import Structure
from cub.repomap.survey import RepoMap

EMPTY = Structure(
    summary="",
    languages=(),
    stack=Stack(),
    key_files=(),
    conventions=(),
    tree=outline([], {}),
    read=frozenset(),
)
NOTHING = sifted(Listing(Path(), ()))
HEADER = 40
PLENTY = 5_000


def command(purpose: str, text: str, folder: str = "") -> Command:
    return Command(purpose, text, "Makefile", folder)  # type: ignore[arg-type]


def page(structure: Structure, tokens: int = PLENTY) -> str:
    """The body for a project without symbols."""
    return body(RepoMap(NOTHING, structure, {}, graph_of([], DEFAULT), [], ()), tokens, HEADER)


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
        tree=outline(["src/a.py"], {}),
        stack=Stack(commands=(command("test", "make test"),)),
    )
    assert page(found) == (
        "# Project map\n\n```text\nIt bakes.\n```\n\n"
        "## Commands\n\n```text\ntest: make test (Makefile)\n```\n\n"
        "## Layout\n\n```text\nsrc/\n  a.py\n```\n"
    )
    assert "## Commands" not in page(replace(found, stack=Stack()))


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
    found = about(stack=Stack(technologies=tuple(rows)), languages=(("Go", 80), ("Rust", 20)))
    assert [name in " ".join(found[1:]) for name in ("Go 1.22", "Python", "Rust", "chi v5")] == [
        True, False, True, True,
    ]  # fmt: skip


def test_commands_are_told_with_their_folder_where_somebody_could_type_it() -> None:
    rows = [
        command("test", f"make test{n}", folder) for n, folder in enumerate(["a\n", "x y; $z", ""])
    ]
    text = page(replace(EMPTY, stack=Stack(commands=tuple(rows))))
    assert [line for line in text.split("\n") if line.startswith("test:")] == [
        "test: cd 'x y; $z' && make test1 (Makefile)",
        "test: make test2 (Makefile)",
    ]


def test_a_line_that_does_not_fit_is_left_out_and_the_next_one_tried() -> None:
    found = replace(EMPTY, summary="word " * 40, languages=(("Go", 100),))
    assert "languages: Go 100%" in page(found, 90)
    assert "word" not in page(found, 90)
