"""Tests that compare all facts of made-up projects with what a reader should say of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from textwrap import dedent
from typing import TypeAlias

import pytest

from cub.repomap.stack.facts import ProjectStack
from tests.repomap.stack.projects import Files, stack_of

# Projects by what is special in them, each with the lines that are told of it.
Cases: TypeAlias = Mapping[str, tuple[Files, str]]


def make_test(cases: Cases) -> Callable[[Files, str], None]:
    """Return a test of what all readers say of these projects, one fact a line."""

    @pytest.mark.parametrize(("files", "expected"), cases.values(), ids=cases)
    def test(files: Files, expected: str) -> None:
        texts = {path: dedent(one) if isinstance(one, str) else one for path, one in files.items()}
        lines = [line.strip() for line in expected.split("\n") if line.strip()]
        assert list(_lines(stack_of(texts))) == lines

    return test


def _lines(stack: ProjectStack) -> Iterator[str]:
    for one in stack.technologies:
        yield f"{one.role} {one.name} {one.version}".rstrip()
    for command in stack.commands:
        where = f" in {command.folder}" if command.folder else ""
        yield f"{command.purpose}: {command.text}{where}"
    for entry in stack.entry_points:
        yield f"{entry.name} -> {entry.target}"
    for package in stack.packages:
        yield f"package {package.folder or '.'} {package.name}: {package.description}".rstrip(": ")
    for note in stack.omissions:
        yield f"note {note.path}: {note.message}"
