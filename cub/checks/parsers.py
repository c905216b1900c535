"""The failing items in any log: which tools are known, and how their findings are joined."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from cub.checks.compilers import COMPILERS
from cub.checks.go import GO
from cub.checks.go_json import GO_JSON
from cub.checks.items import Item, neat
from cub.checks.jest import JEST
from cub.checks.junit import JUNIT
from cub.checks.linters import ESLINT, FORMATTERS, RUFF
from cub.checks.node_runner import NODE_TEST
from cub.checks.plain import plain
from cub.checks.pytest_parts import quoted
from cub.checks.pytest_report import PYTEST
from cub.checks.rust import CARGO_TEST
from cub.checks.rustc import RUSTC
from cub.checks.syntax_errors import SYNTAX_ERRORS
from cub.checks.tap import PROVE, TAP
from cub.checks.tool import Found, Tool
from cub.checks.type_checkers import MYPY, PYRIGHT, TSC
from cub.checks.unittest_report import UNITTEST
from cub.checks.vitest import VITEST

MOST = 200  # items; who has more failures has one cause, or starts with the first of them
_TOOLS = (
    PYTEST, UNITTEST, JEST, VITEST, NODE_TEST, GO, CARGO_TEST, RUSTC,
    MYPY, PYRIGHT, TSC, RUFF, FORMATTERS, ESLINT, COMPILERS, TAP, PROVE,
)  # fmt: skip
_LONGEST_LINE = 1_000
_STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z? ", re.MULTILINE)


def parse(output: str) -> tuple[Item, ...]:
    """The failing items that the output of any known tool tells, in its order, each once.

    () if none is recognized; at most `MOST`.
    """
    text = plain(output).removeprefix("\ufeff")
    if _STAMP.match(text):  # as CI puts before each line
        text = _STAMP.sub("", text)
    found = sorted([*_found(text)] or _unrun(text), key=lambda one: one.line)
    items = (neat(one.item) for one in found)
    return tuple(islice(_once(item for item in items if item.where), MOST))


def _found(text: str) -> Iterator[Found]:
    lines = text.split("\n")
    yield from _run(JUNIT, text, lines)  # and Go's JSON: lines may be long
    yield from _run(GO_JSON, text, lines)
    lines = [line[:_LONGEST_LINE] for line in lines]
    silent = quoted(lines)
    for tool in _TOOLS:
        for one in _run(tool, text, lines):
            if tool is PYTEST or one.line not in silent:
                yield one


def _unrun(text: str) -> Iterator[Found]:
    """What kept a file from being run at all."""
    lines = [line[:_LONGEST_LINE] for line in text.split("\n")]
    for tool in SYNTAX_ERRORS:
        yield from _run(tool, text, lines)


def _run(tool: Tool, text: str, lines: list[str]) -> Iterable[Found]:
    return tool.parse(lines) if any(mark in text for mark in tool.marks) else ()


def _once(items: Iterable[Item]) -> Iterator[Item]:
    """Each item once; a test that two reports of one run tell is one, whatever they say."""
    seen = set[tuple[str, ...]]()
    for item in items:
        key = item[:2] if item.kind in ("test", "error") else item
        if key not in seen:
            seen.add(key)
            yield item
