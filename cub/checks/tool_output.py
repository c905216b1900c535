"""Find the failing items in any log, with the parsers of all known tools.

The summaries of test runners also say whether any test ran or passed, and shells and package
managers whether a tool is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from cub.checks.build_tool_output import BUILD_TOOLS
from cub.checks.compiler_output import COMPILERS, SYNTAX_ERRORS
from cub.checks.failing_items import FailingItem, truncate_item
from cub.checks.go_output import GO, GO_JSON
from cub.checks.javascript_output import JAVASCRIPT_RUNNERS
from cub.checks.linter_output import LINTERS
from cub.checks.numbered_output import NUMBERED_RUNNERS
from cub.checks.output_rules import LocatedItem, OutputParser
from cub.checks.pytest_output import PYTEST, find_traceback_lines
from cub.checks.runner_totals import find_evidence
from cub.checks.tap_output import TAP_TOOLS
from cub.checks.terminal_text import split_lines, to_plain_text
from cub.checks.xunit_output import JUNIT, UNITTEST

MAX_ITEMS = 5_000  # a cut list makes old failures new when an earlier one is fixed
_TOOLS = (
    PYTEST, UNITTEST, *JAVASCRIPT_RUNNERS, *NUMBERED_RUNNERS, *BUILD_TOOLS, GO, *COMPILERS,
    *LINTERS, *TAP_TOOLS,
)  # fmt: skip
_STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z? ", re.MULTILINE)


def parse_output(output: str) -> tuple[FailingItem, ...]:
    """Return the failing items of any known tool, in order of the output, each once.

    () if none is recognized; at most `MAX_ITEMS`.
    """
    text = to_plain_text(output).removeprefix("\ufeff")
    if _STAMP.match(text):  # of CI, before each line
        text = _STAMP.sub("", text)
    located = sorted([*_find_items(text)] or _find_syntax_errors(text), key=lambda one: one.line)
    items = (truncate_item(one.item) for one in located)
    return tuple(islice(_drop_repeated(item for item in items if item.where), MAX_ITEMS))


def _find_items(text: str) -> Iterator[LocatedItem]:
    lines = text.split("\n")
    yield from _run_parser(JUNIT, text, lines)  # lines of a report and of Go's JSON may be long
    yield from _run_parser(GO_JSON, text, lines)
    lines = split_lines(text)
    traceback_lines = find_traceback_lines(lines)
    for tool in _TOOLS:
        for one in _run_parser(tool, text, lines):
            if tool is PYTEST or one.line not in traceback_lines:
                yield one


def _find_syntax_errors(text: str) -> Iterator[LocatedItem]:
    lines = split_lines(text)
    for tool in SYNTAX_ERRORS:
        yield from _run_parser(tool, text, lines)


def _run_parser(tool: OutputParser, text: str, lines: list[str]) -> Iterable[LocatedItem]:
    return tool.parse(lines) if any(mark in text for mark in tool.triggers) else ()


def _drop_repeated(items: Iterable[FailingItem]) -> Iterator[FailingItem]:
    """Yield each item once; a test that two reports of one run contain is one item."""
    keys = set[tuple[str, ...]]()
    for item in items:
        key = item[:2] if item.kind in ("test", "error") else item
        if key not in keys:
            keys.add(key)
            yield item


def has_passing_test(output: str) -> bool:
    """Tell whether the output of a known test runner shows a test that passed."""
    return find_evidence(split_lines(output)).passed


def reports_no_test(output: str) -> bool:
    """Tell whether a test runner says that it ran no test, and none of the same log ran any.

    A skipped test did not run.
    """
    evidence = find_evidence(split_lines(output))
    return evidence.found_none and not evidence.ran and not _has_failing_test(output)


_RUNNERS = (  # Python modules that run checks: another missing module may be the task's own
    r"pytest|nose2?|tox|nox|coverage|behave|robot|green|ward|django|twisted|mypy|pyright|ruff|black"
    r"|flake8|pylint|isort|bandit|pre_commit|build|hatch|poetry|pdm|invoke"
)
_INSTALLED = r"[\w./-]*(?:node_modules|vendor|venv|\.tox)/[\w./@-]*"
# A line that matches one of these says that a program, or its module or script, is missing.
_NO_TOOL = re.compile(
    "|".join(
        (
            rf"\S*python[\d.]*(?:\.exe)?: No module named '?(?:{_RUNNERS})(?:\.[\w.]+)?'?(?:;.*)?$",
            r"(?:[\w./-]+: )?(?:line )?\d+: [\w@.+-]+: (?:command )?not found$",  # sh, bash, dash
            r"(?:[\w./-]*sh: )?[\w@.+-]+: command not found$|zsh:(?:\d+:)? command not found: \S+$",
            rf"(?:[\w./-]+: )?(?:(?:line )?\d+: )?{_INSTALLED}: (?:not found|No such file or dir)",
            r"(?:/usr/bin/)?env: .[\w@.+-]+.: No such file or directory$",
            r"'[\w@.+-]+' is not recognized as an internal or external command",
            r"npm (?:ERR!|error) (?:Missing script|missing script)\b",
            r'Unknown command: "[^"]+"$',  # npm
            r"npm (?:ERR!|error) (?:could not determine executable|npx canceled due to missing)",
            r'error Command "[^"]+" not found\.$|error: Script not found "| ERR_PNPM_NO_SCRIPT\b',
            r" ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL .* Command \"[^\"]+\" not found$",
            rf"Error: Cannot find module '{_INSTALLED}'$",
            r"bundler: command not found: |Could not find command \S+",
            r"(?:.*: )?Could not find gem '|Could not find \S+ in any of the sources",
            rf"Could not open input file: {_INSTALLED}$",  # PHP
            r"error: no such (?:sub)?command: |error: unrecognized subcommand '",  # Cargo, uv
            r"go \S+: unknown command$|Usage Error: Couldn't find a script named ",  # and Yarn
            r"Command not found: \S+$|Don't know how to build task ",  # Poetry, Rake
            r"\[ERROR\] Unknown lifecycle phase |Task '[^']+' not found in ",  # Maven, Gradle
            r'\s*Command "[^"]+" is not defined\.|error: Justfile does not contain recipe',
            r'task: Task "[^"]+" does not exist|No idea what .+ is!$|Sessions not found: ',
            r"error: Failed to spawn: ",  # uv
            r'\*\* \(Mix\) The task "[^"]+" could not be found',
            r"make(?:\[\d+\])?: \*\*\* No rule to make target [`'][^'`]+'\.  Stop\.$",
            r"make: \*\*\* No targets specified and no makefile found\.",
        )
    )
)


def find_missing_tool(output: str) -> str:
    """Return the line that says that the program, module or script of a check is missing.

    "" for none. A log in which any test ran says only what the tests themselves miss.
    """
    lines = split_lines(output)
    found = next(filter(_NO_TOOL.match, lines), "")
    has_run = bool(found) and find_evidence(lines).ran
    return "" if has_run or (found and _has_failing_test(output)) else found.strip()


def _has_failing_test(output: str) -> bool:
    return any(item.kind == "test" for item in parse_output(output))
