"""What kept pytest from running: a missing file, a broken conftest, a bug in a plugin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from cub.checks.items import Item
from cub.checks.tool import Found

_MISSING = ("ERROR: file or directory not found: ", "ERROR: not found: ")
_CONFTEST = re.compile(r"\w+ while loading conftest '(.+)'\.")
_INTERNAL = "INTERNALERROR> "
_RAISED = re.compile(r"(?:E   |INTERNALERROR> )([A-Za-z_][\w.]*(?:: .*)?)")
_MOST = 20  # in one log; a run has one
_LONG = 500  # lines of a traceback
_NEAR = 9  # lines between a missing file and the count of tests, of which there are none
STOPS = (*_MISSING, _INTERNAL, " while loading conftest '")


def stopped(lines: Sequence[str]) -> Iterator[Found]:
    """Why runs ended before any test."""
    return islice(_stopped(lines), _MOST)


def _stopped(lines: Sequence[str]) -> Iterator[Found]:
    for number, line in enumerate(lines):
        if line.startswith(_MISSING) and _is_without_tests(lines, number):
            _, message, where = line.split(": ", 2)
            yield Found(number, Item("error", where, message))
        elif conftest := _CONFTEST.fullmatch(line):
            yield Found(number, Item("error", conftest[1], _raised(lines, number + 1)))
        elif line.startswith(_INTERNAL) and not lines[number - 1].startswith(_INTERNAL):
            yield Found(number, Item("error", "pytest", _raised(lines, number)))


def _is_without_tests(lines: Sequence[str], number: int) -> bool:
    near = lines[max(0, number - _NEAR) : number + _NEAR]
    return any("no tests ran in " in line for line in near)


def _raised(lines: Sequence[str], start: int) -> str:
    """The last exception that a traceback tells."""
    message = ""
    for line in lines[start : start + _LONG]:
        if line.startswith("="):
            break
        if raised := _RAISED.fullmatch(line):
            message = raised[1]
    return message
