"""What Jest tells: a file that failed, and below it the tests with their first words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from cub.checks.items import Item
from cub.checks.tool import Found, Tool

_FILE = re.compile(r" ?(FAIL|PASS) +(.*\S\.\w+)(?: \([\d.]+ m?s\))?")
_TEST = "  ● "
_ARROW = "\u203a"  # as between the titles
_NO_TESTS = ("Console", "Console:")
_SUITE = "Test suite failed to run"
_VALUE = re.compile(r"\s+((?:Expected|Received)[\w ]*: .*)")


def _parse(lines: Sequence[str]) -> Iterator[Found]:
    path = ""
    for number, line in enumerate(lines):
        if file := _FILE.fullmatch(line):
            path = file[2] if file[1] == "FAIL" else ""
        elif line.startswith("Test Suites: "):
            path = ""
        elif path and line.startswith(_TEST):
            title = line[len(_TEST) :].strip()
            if title and title not in _NO_TESTS:
                yield Found(number, _item(path, title, lines[number + 1 : number + 60]))


def _item(path: str, title: str, below: Sequence[str]) -> Item:
    if title == _SUITE:
        return Item("error", path, _reason(below))
    return Item("test", f"{path} {_ARROW} {title}", _message(below))


def _message(below: Sequence[str]) -> str:
    """The first words, and what an `expect` wanted and got."""
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
            return _message(below[number + 1 :])
        if line.startswith(_TEST):
            break
    return _message(below)


JEST = Tool((_TEST,), _parse)
