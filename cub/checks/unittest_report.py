"""What Python's unittest tells, and runners that are made of it, such as Django's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cub.checks.items import Item
from cub.checks.tool import Found, Tool

_RULE, _THIN = "=" * 70, "-" * 70
_HEAD = re.compile(r"(FAIL|ERROR|UNEXPECTED SUCCESS): (\S+) \(([^()\s]+)\)(.*)")
_UNLOADED = "unittest.loader._FailedTest"
_TRACEBACK = "Traceback (most recent call last):"
_RAISED = re.compile(r"[A-Za-z_][\w.]*(?:: .*|:?)")


def _parse(lines: Sequence[str]) -> Iterator[Found]:
    for number, line in enumerate(lines):
        if line == _RULE and (head := _HEAD.fullmatch(_at(lines, number + 1))):
            yield Found(number + 1, _item(head, lines, number + 2))


def _item(head: re.Match[str], lines: Sequence[str], start: int) -> Item:
    word, name, path, rest = head.groups()
    unloaded = path.startswith(_UNLOADED)
    full = path if path.endswith("." + name) else f"{path}.{name}"  # since 3.11, it does
    where = name if unloaded else full
    unrun = unloaded or name.startswith(("setUp", "tearDown"))
    message = "unexpected success" if word.startswith("UNEXPECTED") else _message(lines, start)
    return Item("error" if unrun else "test", where + rest, message)


def _message(lines: Sequence[str], start: int) -> str:
    """The last exception's first line."""
    message, inside = "", False
    for number in range(start, len(lines)):
        line = lines[number]
        if line == _RULE or (line == _THIN and _at(lines, number + 1).startswith("Ran ")):
            break
        if line == _TRACEBACK:
            inside = True
        elif inside and _RAISED.fullmatch(line):
            message, inside = line, False
    return message


def _at(lines: Sequence[str], number: int) -> str:
    return lines[number] if number < len(lines) else ""


UNITTEST = Tool((_RULE,), _parse)
