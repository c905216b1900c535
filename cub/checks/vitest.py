"""What Vitest tells below its rules: failed suites, failed tests, errors that nobody caught."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cub.checks.items import Item
from cub.checks.tool import Found, Tool

_RULE = re.compile(r"⎯+ *(Failed Suites|Failed Tests|Uncaught Exception|Unhandled \w+)\b[^⎯]*⎯+")
_FAIL = re.compile(r" FAIL  (.+)")
_FROM = 'This error originated in "'


def _parse(lines: Sequence[str]) -> Iterator[Found]:
    part = ""
    for number, line in enumerate(lines):
        if rule := _RULE.fullmatch(line):
            part = rule[1]
            if part.startswith("U") and part != "Unhandled Errors":
                yield Found(number, _uncaught(lines[number + 1 : number + 60]))
        elif line.startswith(" Test Files "):
            part = ""
        elif part and (fail := _FAIL.fullmatch(line)):
            kind = "error" if part == "Failed Suites" else "test"
            path, _, again = fail[1].partition(" [ ")
            where = path if again == f"{path} ]" else fail[1]
            yield Found(number, Item(kind, where, _message(lines, number)))


def _message(lines: Sequence[str], number: int) -> str:
    """What stands below; tests that failed alike share it."""
    for line in lines[number + 1 : number + 30]:
        if line.strip() and not line.startswith(" FAIL  "):
            return line.strip()
    return ""


def _uncaught(below: Sequence[str]) -> Item:
    message = next((line.strip() for line in below if line.strip()), "")
    source = next((line for line in below if line.startswith(_FROM)), "")
    return Item("error", source[len(_FROM) :].partition('"')[0] or "vitest", message)


VITEST = Tool(("⎯",), _parse)
