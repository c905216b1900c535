"""Read the failed tests of Jest, Vitest and `node --test`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from cub.checks.failing_items import FailingItem, LocatedItem, OutputParser

_FILE = re.compile(r" ?(FAIL|PASS) +(.*\S\.\w+)(?: \([\d.]+ m?s\))?")
_JEST_TEST = "  ● "
_ARROW = "\u203a"  # as between the titles
_NO_TESTS = ("Console", "Console:")
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
            if title and title not in _NO_TESTS:
                yield LocatedItem(number, _jest_item(path, title, lines[number + 1 : number + 60]))


def _jest_item(path: str, title: str, below: Sequence[str]) -> FailingItem:
    if title == _SUITE:
        return FailingItem("error", path, _reason(below))
    return FailingItem("test", f"{path} {_ARROW} {title}", _jest_message(below))


def _jest_message(below: Sequence[str]) -> str:
    """Return the first words, and what an `expect` expected and received."""
    words = (line for line in below if line.strip())
    first = next(words, "").strip()
    if not first.startswith("expect("):
        return first
    values = [value[1] for line in islice(words, 4) if (value := _VALUE.fullmatch(line))]
    return "; ".join([first, *values])


def _reason(below: Sequence[str]) -> str:
    """Advice may come first: then the reason follows "Details:"."""
    for number, line in enumerate(below):
        if line.strip() == "Details:":
            return _jest_message(below[number + 1 :])
        if line.startswith(_JEST_TEST):
            break
    return _jest_message(below)


JEST = OutputParser((_JEST_TEST,), _parse_jest)


_RULE = re.compile(r"⎯+ *(Failed Suites|Failed Tests|Uncaught Exception|Unhandled \w+)\b[^⎯]*⎯+")
_FAIL = re.compile(r" FAIL  (.+)")
_FROM = 'This error originated in "'


def _parse_vitest(lines: Sequence[str]) -> Iterator[LocatedItem]:
    part = ""
    for number, line in enumerate(lines):
        if rule := _RULE.fullmatch(line):
            part = rule[1]
            if part.startswith("U") and part != "Unhandled Errors":
                yield LocatedItem(number, _uncaught(lines[number + 1 : number + 60]))
        elif line.startswith(" Test Files "):
            part = ""
        elif part and (fail := _FAIL.fullmatch(line)):
            kind = "error" if part == "Failed Suites" else "test"
            path, _, again = fail[1].partition(" [ ")
            where = path if again == f"{path} ]" else fail[1]
            yield LocatedItem(number, FailingItem(kind, where, _vitest_message(lines, number)))


def _vitest_message(lines: Sequence[str], number: int) -> str:
    """Return the message below a failed test; tests that failed alike share one."""
    for line in lines[number + 1 : number + 30]:
        if line.strip() and not line.startswith(" FAIL  "):
            return line.strip()
    return ""


def _uncaught(below: Sequence[str]) -> FailingItem:
    message = next((line.strip() for line in below if line.strip()), "")
    source = next((line for line in below if line.startswith(_FROM)), "")
    return FailingItem("error", source[len(_FROM) :].partition('"')[0] or "vitest", message)


VITEST = OutputParser(("⎯",), _parse_vitest)


_LIST = "✖ failing tests:"
_PLACE = re.compile(r"test at (.+?):\d+:\d+")
_NODE_TEST_LINE = re.compile(r"✖ (.+) \([\d.]+ms\)(.*)")


def _parse_node_test(lines: Sequence[str]) -> Iterator[LocatedItem]:
    inside, path = False, ""
    for number, line in enumerate(lines):
        if line == _LIST:
            inside = True
        elif inside and (place := _PLACE.fullmatch(line)):
            path = place[1]
        elif inside and path and (test := _NODE_TEST_LINE.fullmatch(line)):
            if not test[2]:  # neither TODO nor SKIP
                yield LocatedItem(
                    number, _node_test_item(path, test[1], lines[number + 1 : number + 3])
                )
            path = ""


def _node_test_item(path: str, name: str, below: Sequence[str]) -> FailingItem:
    message = below[0].strip() if below else ""
    return (
        FailingItem("error", path, message)
        if name == path
        else FailingItem("test", f"{path} > {name}", message)
    )


NODE_TEST = OutputParser((_LIST,), _parse_node_test)
