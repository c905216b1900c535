"""What the Test Anything Protocol tells, versions 12 to 14, and `prove`, which reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cub.checks.items import Item
from cub.checks.tap_notes import message, place
from cub.checks.tool import Found, Tool

_START = re.compile(r"TAP version 1\d|1\.\.\d+(?: *#.*)?")
_POINT = re.compile(r"( *)(not ok|ok)\b(?: +(\d+))?(?: +- +| +|\Z)(.*)")
_DIRECTIVE = re.compile(r"(?:^|\s)# *(?:TODO|SKIP)\b", re.IGNORECASE)
_BAIL = re.compile(r"Bail out! *(.*)")
_PROVED = re.compile(r"(\S+) +\(Wstat: \d+ .*Failed: \d+\)")
_DEEPEST = 8
_FAILED = re.compile(r"  (Failed tests?: .+)")


@dataclass(slots=True)
class _Failure:
    line: int
    indent: int
    names: list[str]  # the last is its own, those before are the subtests around it
    message: str
    path: str

    def found(self) -> Found:
        if self.names == [self.path]:  # Node tells a file that could not be run as a test
            return Found(self.line, Item("error", self.path, self.message))
        names = [self.path, *self.names] if self.path else self.names
        return Found(self.line, Item("test", " > ".join(names), self.message))


def _parse(lines: Sequence[str]) -> Iterator[Found]:
    failures = list[_Failure]()
    inside = False
    for number, line in enumerate(lines):
        if _START.fullmatch(line):
            inside = True
        elif bail := _BAIL.fullmatch(line):
            yield Found(number, Item("error", "TAP", bail[1]))
        elif point := _POINT.fullmatch(line):
            _add(failures, number, point, lines)
    if inside:
        yield from (failure.found() for failure in failures)


def _add(failures: list[_Failure], number: int, point: re.Match[str], lines: Sequence[str]) -> None:
    """Keep a failure; one that holds others names them, and is none of its own."""
    indent, name = len(point[1]), point[4].strip().replace("\\#", "#") or f"test {point[3] or ''}"
    holds = False
    for failure in reversed(failures):
        if failure.indent <= indent:
            break
        if len(failure.names) < _DEEPEST:
            failure.names.insert(0, name)
        failure.indent, holds = indent, True
    if point[2] == "ok" or holds or _DIRECTIVE.search(point[4]):
        return
    below = lines[number + 1 : number + 60]
    told = _Failure(number, indent, [name], message(below, indent), place(below, indent))
    failures.append(told)


def _prove(lines: Sequence[str]) -> Iterator[Found]:
    for number, line in enumerate(lines[1:], 1):
        failed, proved = _FAILED.fullmatch(line), _PROVED.fullmatch(lines[number - 1])
        if failed and proved:
            yield Found(number, Item("test", proved[1], failed[1]))


TAP = Tool(("not ok", "Bail out!"), _parse)
PROVE = Tool(("(Wstat: ",), _prove)
