"""Find the failing items in any log, with the parsers of all known tools.

The summaries of test runners also say how many tests ran and passed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from cub.checks.build_tool_output import CTEST, DOTNET, GRADLE, SUREFIRE
from cub.checks.compiler_output import COMPILERS, SYNTAX_ERRORS
from cub.checks.failing_items import FailingItem, LocatedItem, OutputParser, truncate_item
from cub.checks.go_output import GO, GO_JSON
from cub.checks.javascript_output import AVA, BUN, DENO, JEST, NODE_TEST, PLAYWRIGHT, VITEST
from cub.checks.linter_output import ESLINT, FORMATTERS, MYPY, PYRIGHT, RUFF, TSC
from cub.checks.numbered_output import EXUNIT, JASMINE, MINITEST, MOCHA, PHPUNIT, RSPEC
from cub.checks.pytest_output import PYTEST, find_traceback_lines
from cub.checks.rust_output import CARGO_TEST, RUSTC
from cub.checks.tap_output import PROVE, TAP
from cub.checks.terminal_text import to_plain_text
from cub.checks.xunit_output import JUNIT, UNITTEST

MAX_ITEMS = 200  # more failures have one cause, or the first of them come first
_TOOLS = (
    PYTEST, UNITTEST, JEST, VITEST, NODE_TEST, MOCHA, JASMINE, PLAYWRIGHT, AVA, BUN, DENO,
    RSPEC, MINITEST, PHPUNIT, EXUNIT, SUREFIRE, GRADLE, CTEST, DOTNET, GO, CARGO_TEST, RUSTC,
    MYPY, PYRIGHT, TSC, RUFF, FORMATTERS, ESLINT, COMPILERS, TAP, PROVE,
)  # fmt: skip
_MAX_LINE_CHARS = 1_000
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
    lines = [line[:_MAX_LINE_CHARS] for line in lines]
    traceback_lines = find_traceback_lines(lines)
    for tool in _TOOLS:
        for one in _run_parser(tool, text, lines):
            if tool is PYTEST or one.line not in traceback_lines:
                yield one


def _find_syntax_errors(text: str) -> Iterator[LocatedItem]:
    lines = [line[:_MAX_LINE_CHARS] for line in text.split("\n")]
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


_SOME = r"[1-9]\d* "
# A line that matches one of these says that at least one test, or package of tests, passed.
_PASSED = re.compile(
    "|".join(
        (
            rf"(?:=+ )?(?:\d+ \w+, )*{_SOME}passed\b.* in [\d.]+s",  # pytest
            rf" *Tests:? +(?:\d+ \w+(?:, | \| ))*{_SOME}passed\b",  # Jest, Vitest
            r"(?:#|ℹ) pass [1-9]",  # noqa: RUF001 - node --test prints this very sign
            rf"test result: \w+\. {_SOME}passed;",  # cargo test
            rf" *Summary \[.*\] .*\btests? run: {_SOME}passed",  # cargo-nextest
            r"ok  \t\S+\t(?:[\d.]+s|\(cached\))(?! \[no tests)|\s*--- PASS: ",  # go test
            r'\{.*"Action":"pass".*"Test":',  # go test -json
            r"✓  \S+ \((?:cached|\d+)",  # gotestsum
            r".* \.\.\. ok$",  # unittest -v
        )
    )
)
# Lines that count tests, and those that did not pass.
_RAN = re.compile(r"Ran (\d+) tests? in ")  # unittest; the next one belongs to it
_NOT_PASSED = re.compile(r"FAILED \((.+)\)$")
_NUMBER = re.compile(r"=(\d+)")
_TAP = re.compile(r"\s*ok \d+\b(?!.*# (?i:skip|todo))")
_TAP_PLAN = re.compile(r"^\s*1\.\.\d+\s*$", re.MULTILINE)  # without it, `ok 1` is prose
_PROVE = re.compile(r"\S.* \(Wstat: .*\) Tests: (\d+) Failed: (\d+)\)")
_JUNIT = re.compile(r".*?<testsuite\b([^>]*)")
_COUNT = re.compile(r'\b(tests|failures|errors|skipped|disabled)="(\d+)"')
_NO_TESTS = re.compile(
    r"=* ?no tests ran in [\d.]+s|collected 0 items\b|NO TESTS RAN|Ran 0 tests in "
    r"|No tests? (?:files? )?found\b|Error: No test files found|No tests were found"
    r"|No tests executed|No examples found"
)


def has_passing_test(output: str) -> bool:
    """Tell whether the output of a known test runner shows a test that passed."""
    ran, is_tap = 0, _TAP_PLAN.search(output) is not None
    for line in _split_lines(output):
        if _PASSED.match(line) or (is_tap and _TAP.match(line)):
            return True
        if any(total > failed for total, failed in _iter_counts(line)):
            return True
        if count := _RAN.match(line):
            ran = int(count[1])
        elif (counts := _NOT_PASSED.match(line)) and ran > sum(
            map(int, _NUMBER.findall(counts[1]))
        ):
            return True
    return False


def reports_no_test(output: str) -> bool:
    """Tell whether a test runner says that there is no test to run."""
    return any(_NO_TESTS.match(line.strip()) for line in _split_lines(output))


def _iter_counts(line: str) -> Iterator[tuple[int, int]]:
    """Yield how many tests a line counts, and how many of them did not pass."""
    if prove := _PROVE.match(line):
        yield int(prove[1]), int(prove[2])
    if suite := _JUNIT.match(line):
        counts = {name: int(number) for name, number in _COUNT.findall(suite[1])}
        yield counts.pop("tests", 0), sum(counts.values())


def _split_lines(output: str) -> Iterator[str]:
    return (line[:_MAX_LINE_CHARS] for line in to_plain_text(output).split("\n"))
