"""Read the failed tests of Jest, Vitest, `node --test`, Playwright, AVA, uvu, Bun and Deno."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from cub.checks.output_rules import (
    LocatedItem,
    OutputParser,
    Rule,
    find_first_match,
    find_first_text,
    locate_item,
    make_parser,
)

_ARROW = "\u203a"  # between the titles
_VALUE = re.compile(r"\s+((?:Expected|Received)[\w ]*: .*)")
_SUITE = r"  ● \s*Test suite failed to run\s*"
_TITLE = r"  ● \s*(?!Console:?\s*\Z)(\S.*)"
_RAISED = r"(\w*[Ee]rror: .+)"


def _find_jest_message(below: Sequence[str]) -> str:
    """Return the first line, and what an `expect` expected and received."""
    texts = (line for line in below if line.strip())
    first = next(texts, "").strip()
    if not first.removeprefix("Error: ").startswith("expect("):
        return first
    values = [value[1] for line in islice(texts, 4) if (value := _VALUE.fullmatch(line))]
    return "; ".join([first, *values])


def _find_suite_message(below: Sequence[str]) -> str:
    """Return why a suite did not run, after "Details:" if there is advice first."""
    for number, line in enumerate(below):
        if line.strip() == "Details:":
            return _find_jest_message(below[number + 1 :])
        if line.startswith("  ● "):
            break
    return _find_jest_message(below)


JEST = make_parser(
    Rule("FAIL ", r" ?FAIL +(?P<path>.*\S\.\w+)(?: \([\d.]+ m?s\))?"),
    Rule("PASS ", r" ?PASS +.*\S\.\w+(?: \([\d.]+ m?s\))?(?P<path>)"),
    Rule("Test Suites: ", r"Test Suites: .*(?P<path>)"),
    Rule("  ● ", _SUITE, "error {path} | {below}", _find_suite_message, "path"),
    Rule("  ● ", _TITLE, f"test {{path}} {_ARROW} {{1}} | {{below}}", _find_jest_message, "path"),
)


def _find_vitest_message(below: Sequence[str]) -> str:
    """Return the first text after the tests with the same failure, which share one message."""
    return find_first_text(line for line in below if line[:7] != " FAIL  ")


_STRAY = r"⎯+ *(?P<part>Uncaught Exception|Unhandled (?!Errors\b)\w+)\b[^⎯]*⎯+(?P<suites>)"
_SOURCE = find_first_match(r'This error originated in "([^"]*).*', 59, default="vitest")
_FAIL = r" FAIL  (.+?)(?: \[ \1 \])?"
_get_next_line = find_first_match(r"\s*(.*)", 1)
VITEST = make_parser(
    Rule("⎯", _STRAY, "error {below} | {text}", _SOURCE),
    Rule("⎯", r"⎯+ *(?P<part>(?P<suites>Failed Suites)|Failed Tests|Unhandled Errors)\b[^⎯]*⎯+"),
    Rule(" Test Files ", " Test Files .*(?P<part>)(?P<suites>)"),
    Rule(" FAIL  ", _FAIL, "error {1} | {below}", _find_vitest_message, "suites"),
    Rule(" FAIL  ", _FAIL, "test {1} | {below}", _find_vitest_message, "part"),
)


_TEST_AT = r"test at (.+?):\d+:\d+\n✖"
NODE_TEST = make_parser(
    Rule("✖ failing tests:", r"(?P<listing>✖ failing tests:)"),
    Rule("✖", rf"{_TEST_AT} \1 \([\d.]+ms\)", "error {1} | {below}", _get_next_line, "listing"),
    Rule(
        "✖", rf"{_TEST_AT} (.+) \([\d.]+ms\)", "test {1} > {2} | {below}", _get_next_line, "listing"
    ),
)


_ENTRY = re.compile(r"  \d+\) (\S.*?) [─=]+")
_FAILED_LIST = re.compile(r"  \d+ (\w+)")
_SPEC = re.compile(rf"((?:\[[^\[\]]+\] {_ARROW} )?\S.*?):\d+:\d+( {_ARROW} .+?)(?: [─=]+)?")
_PLAYWRIGHT_RAISED = re.compile(_RAISED)
_NOT_RUN = re.compile(r"   at (\S+\.[cm]?[jt]sx?):\d+")


def _parse_playwright(lines: Sequence[str]) -> Iterator[LocatedItem]:
    messages, raised, part = dict[str, str](), "", ""
    for number, line in enumerate(lines):
        if entry := _ENTRY.fullmatch(line):
            messages[entry[1]] = _find_jest_message(lines[number + 1 : number + 30])
        elif heading := _FAILED_LIST.fullmatch(line):
            part = heading[1]
        elif line.startswith("    ") and part in ("failed", "interrupted"):
            if spec := _SPEC.fullmatch(line[4:]):
                message = messages.get(line.strip(" ─="), "")
                yield locate_item(number, "test", spec[1] + spec[2], message)
        elif _PLAYWRIGHT_RAISED.fullmatch(line):
            raised = line
        elif raised and (place := _NOT_RUN.fullmatch(line)):
            yield locate_item(number, "error", place[1], raised)
            raised = ""
        else:
            part = ""


PLAYWRIGHT = OutputParser((f" {_ARROW} ", "   at "), _parse_playwright)


_AVA_REASON = r"(?:Error thrown in|Rejected promise returned by|Exiting due to) .*"
_AVA_ERROR = find_first_match(rf"  {_RAISED}", 19)
_DENO_PLACE = find_first_match(r"    at (?:file://)?(\S+:\d+:\d+)", 8, default="deno")
AVA_AND_DENO = make_parser(
    Rule("✘ [fail]: ", rf"  ✘ \[fail\]: (.+?)(?: ({_AVA_REASON}))?", "test {1} | {2}"),
    Rule("  Uncaught e", r"  Uncaught exception in (\S.*)", "error {1} | {below}", _AVA_ERROR),
    Rule(" => ", r"(\S.*) => (?:\./)?(\S+):\d+:\d+\nerror: (.*)", "test {2} > {1} | {3}"),
    Rule("(uncaught error)", r"(?:\./)?(\S+) \(uncaught error\)\nerror: (.*)", "error {1} | {2}"),
    Rule(" [ERROR]: ", r"(TS\d+) \[ERROR\]: (.+)", "type {below} | {1} {2}", _DENO_PLACE),
)

UVU = make_parser(
    Rule("", r"(?P<path>\S+\.[cm]?[jt]sx?)"),
    Rule("   FAIL  ", r'   FAIL  "(.+)"', "test {path} > {1} | {below}", _get_next_line),
    Rule("  ", r'   FAIL  (\S.*?)  "(.+)"', "test {path} > {1} > {2} | {below}", _get_next_line),
)

_BUN_UNLOADED = "# Unhandled error between tests"
_BUN_TEST = r"(?:\(fail\)|✗) (.+?)(?: \[[\d.]+m?s\])?(?P<raised>)"
_BUN_ERROR = find_first_match(_RAISED, 29)
BUN = make_parser(
    Rule(":", r"(?P<path>\S.*\.[cm]?[jt]sx?):(?P<raised>)"),
    Rule("(fail) ", _BUN_TEST, "test {path} > {1} | {raised}"),
    Rule("✗ ", _BUN_TEST, "test {path} > {1} | {raised}"),
    Rule("rror: ", r"(?P<raised>\w*[Ee]rror: .+)"),
    Rule(_BUN_UNLOADED, _BUN_UNLOADED, "error {path} | {below}", _BUN_ERROR, "path"),
)

JAVASCRIPT_RUNNERS = (JEST, VITEST, NODE_TEST, PLAYWRIGHT, AVA_AND_DENO, UVU, BUN)
