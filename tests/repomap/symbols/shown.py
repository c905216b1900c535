"""Definitions as lines that a table can hold."""

from __future__ import annotations

from textwrap import dedent

from cub.repomap.symbols.definitions import find_definitions
from cub.repomap.symbols.file_facts import Definition


def shown(language: str, source: str) -> list[str]:
    """What is found in an indented source text, a line each; `-` for what is not exported."""
    found = find_definitions(language, dedent(source).removeprefix("\n").encode())
    assert found is not None
    return [_line(one) for one in found]


def lines(expected: str) -> list[str]:
    """An indented text as lines."""
    return dedent(expected).strip("\n").splitlines()


def _line(one: Definition) -> str:
    name = f"{one.member_of}.{one.name}" if one.member_of else one.name
    return f"{one.line} {'' if one.exported else '-'}{one.kind} {name} | {one.signature}"
