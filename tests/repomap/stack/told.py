"""All facts of a made-up project as lines, to be compared with what a reader should say of it."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent

from cub.repomap.stack.facts import ProjectStack
from tests.repomap.stack.projects import Files, stack_of


def told(files: Files) -> list[str]:
    """What all readers say of a project with these files, one fact a line."""
    texts = {path: dedent(text) if isinstance(text, str) else text for path, text in files.items()}
    return list(_lines(stack_of(texts)))


def lines(expected: str) -> list[str]:
    """The lines of a text, without indents and blank lines."""
    return [line.strip() for line in expected.split("\n") if line.strip()]


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
