from __future__ import annotations

import pytest

from cub.repomap.stack.facts import ProjectCommand
from cub.repomap.stack.merge_facts import choose_commands

Row = tuple[str, str, str]  # purpose, text and origin; a text can begin with "folder: "


def made(*rows: Row) -> list[ProjectCommand]:
    found = []
    for purpose, text, origin in rows:
        folder, _, line = text.rpartition(": ")
        found.append(ProjectCommand(purpose, line, "x", folder, origin))  # type: ignore[arg-type]
    return found


def shown(commands: tuple[ProjectCommand, ...]) -> list[str]:
    return [f"{one.folder}: {one.text}" if one.folder else one.text for one in commands]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # Targets come before tools, tools before the CI.
        ([("test", "pytest", "tool"), ("test", "make test", "target")], ["make test", "pytest"]),
        ([("test", "tox", "ci"), ("test", "pytest", "tool")], ["pytest"]),
        ([("test", "tox", "ci"), ("test", "pytest", "ci")], ["tox"]),
        # The first stays first; then what the CI runs, then tools, then more targets.
        (
            [
                ("test", "make test", "target"),
                ("test", "make unit", "target"),
                ("test", "pytest", "tool"),
                ("test", "make fast", "target"),
                ("test", "make fast", "ci"),
            ],
            ["make test", "make fast", "pytest"],
        ),
        # Two that run the same are one.
        (
            [
                ("test", "pytest", "tool"),
                ("test", "uv run python -m pytest -q", "tool"),
                ("lint", "pytest", "tool"),
            ],
            ["pytest", "pytest"],
        ),
        # Purposes have an order of their own.
        (
            [("run", "a", "tool"), ("lint", "b", "tool"), ("install", "c", "tool")],
            ["c", "b", "a"],
        ),
        # Below the root: members of the workspace, where the root has nothing.
        (
            [
                ("test", "make test", "target"),
                ("test", "member: pytest", "tool"),
                ("lint", "member: ruff check", "tool"),
                ("lint", "other: flake8", "tool"),
            ],
            ["make test", "member: ruff check"],
        ),
        # Below a root without commands: any folder, one command for each.
        (
            [
                ("test", "b: pytest", "tool"),
                ("test", "a/c: npm test", "target"),
                ("test", "b: make test", "target"),
                ("test", "d: x", "tool"),
                ("test", "e: y", "tool"),
                ("lint", "ruff check", "ci"),
            ],
            ["b: make test", "d: x", "e: y", "ruff check"],
        ),
        # Below a root without tests, those that only the CI names left out: folders with tests.
        (
            [
                ("build", "make", "target"),
                ("test", "make check", "ci"),
                ("test", "b: pytest", "tool"),
                ("lint", "b: flake8", "tool"),
                ("lint", "c: eslint .", "tool"),
            ],
            ["make", "make check", "b: flake8"],
        ),
        (
            [
                ("build", "make", "target"),
                ("test", "b: pytest", "tool"),
                ("test", "member: pytest", "tool"),
            ],
            ["make", "member: pytest"],
        ),
        # A folder is installed on its own if anything else is typed in it.
        (
            [
                ("install", "npm install", "target"),
                ("install", "a: pip install -e .", "tool"),
                ("install", "b: bundle install", "tool"),
                ("test", "a: pytest", "tool"),
            ],
            ["npm install", "a: pip install -e .", "a: pytest"],
        ),
        (
            [("install", "b: bundle install", "tool"), ("test", "a: pytest", "tool")],
            ["b: bundle install", "a: pytest"],
        ),
    ],
)
def test_the_best_commands_are_chosen(rows: list[Row], expected: list[str]) -> None:
    assert shown(choose_commands(made(*rows), frozenset({"member"}))) == expected
