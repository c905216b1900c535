"""Read the failed tests of Jest, Vitest and `node --test`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from cub.checks.failing_items import (
    FailingItem,
    LocatedItem,
    OutputParser,
    find_first_text,
    locate_item,
)

_FILE = re.compile(r" ?(FAIL|PASS) +(.*\S\.\w+)(?: \([\d.]+ m?s\))?")
_JEST_TEST = "  ● "
_ARROW = "\u203a"  # between the titles
_NOT_TESTS = ("Console", "Console:")
_SUITE = "Test suite failed to run"
_VALUE = re.compile(r"\s+((?:Expected|Received)[\w ]*: .*)")


def _parse_jest(lines: Sequence[str]) -> Iterator[LocatedItem]:
    path = ""
    for number, line in enumerate(lines):
        if file := _FILE.fullmatch(line):
            path = file[2] if file[1] == "FAIL" else ""
        elif line.startswith("Test Suites: "):
            path = ""
        elif path and line.startswith(_JEST_TEST):
            title = line[len(_JEST_TEST) :].strip()
            if title and title not in _NOT_TESTS:
                below = lines[number + 1 : number + 60]
                if title == _SUITE:
                    yield locate_item(number, "error", path, _find_suite_message(below))
                else:
                    where = f"{path} {_ARROW} {title}"
                    yield locate_item(number, "test", where, _find_jest_message(below))


def _find_jest_message(below: Sequence[str]) -> str:
    """Return the first line, and what an `expect` expected and received."""
    texts = (line for line in below if line.strip())
    first = next(texts, "").strip()
    if not first.startswith("expect("):
        return first
    values = [value[1] for line in islice(texts, 4) if (value := _VALUE.fullmatch(line))]
    return "; ".join([first, *values])


def _find_suite_message(below: Sequence[str]) -> str:
    """Return why a suite did not run, after "Details:" if there is advice first."""
    for number, line in enumerate(below):
        if line.strip() == "Details:":
            return _find_jest_message(below[number + 1 :])
        if line.startswith(_JEST_TEST):
            break
    return _find_jest_message(below)


JEST = OutputParser((_JEST_TEST,), _parse_jest)


_RULE = re.compile(r"⎯+ *(Failed Suites|Failed Tests|Uncaught Exception|Unhandled \w+)\b[^⎯]*⎯+")
_FAIL = re.compile(r" FAIL  (.+)")
_SOURCE = 'This error originated in "'


def _parse_vitest(lines: Sequence[str]) -> Iterator[LocatedItem]:
    part = ""
    for number, line in enumerate(lines):
        if rule := _RULE.fullmatch(line):
            part = rule[1]
            if part.startswith("U") and part != "Unhandled Errors":
                yield LocatedItem(number, _read_uncaught(lines[number + 1 : number + 60]))
        elif line.startswith(" Test Files "):
            part = ""
        elif part and (fail := _FAIL.fullmatch(line)):
            kind = "error" if part == "Failed Suites" else "test"
            path, _, again = fail[1].partition(" [ ")
            where = path if again == f"{path} ]" else fail[1]
            # Tests with the same failure share one message.
            below = (line for line in lines[number + 1 : number + 30] if line[:7] != " FAIL  ")
            yield locate_item(number, kind, where, find_first_text(below))


def _read_uncaught(below: Sequence[str]) -> FailingItem:
    source = next((line for line in below if line.startswith(_SOURCE)), "")
    where = source[len(_SOURCE) :].partition('"')[0] or "vitest"
    return FailingItem("error", where, find_first_text(below))


VITEST = OutputParser(("⎯",), _parse_vitest)


_LIST = "✖ failing tests:"
_PLACE = re.compile(r"test at (.+?):\d+:\d+")
_NODE_TEST_LINE = re.compile(r"✖ (.+) \([\d.]+ms\)(.*)")


def _parse_node_test(lines: Sequence[str]) -> Iterator[LocatedItem]:
    is_listing, path = False, ""
    for number, line in enumerate(lines):
        if line == _LIST:
            is_listing = True
        elif is_listing and (place := _PLACE.fullmatch(line)):
            path = place[1]
        elif is_listing and path and (test := _NODE_TEST_LINE.fullmatch(line)):
            if not test[2]:  # neither TODO nor SKIP
                message = "".join(lines[number + 1 : number + 2]).strip()
                is_file = test[1] == path  # which could not be run
                kind, where = ("error", path) if is_file else ("test", f"{path} > {test[1]}")
                yield locate_item(number, kind, where, message)
            path = ""


NODE_TEST = OutputParser((_LIST,), _parse_node_test)
