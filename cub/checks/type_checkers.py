"""What mypy, Pyright and the TypeScript compiler tell: errors, not notes or warnings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cub.checks.items import Item
from cub.checks.tool import Found, Tool

_MYPY = re.compile(
    r"((?:[A-Za-z]:)?[^\s:][^:]*\.pyi?(?::\d+){1,2})(?::\d+){0,2}: error: (.+)"
    r"|([^\s:][^:]*\.pyi?): error: ((?:Cannot read|Source) file.+|Duplicate module.+)"
)
_CODE = re.compile(r".*\[[\w-]+\]")
_PLACED = re.compile(r"[^\s:][^:]*\.pyi?:\d+.*")
_PYRIGHT = re.compile(r" +(\S.*?:\d+:\d+) - error: (.+)")
_RULE = re.compile(r".*(\(report\w+\))")
_TSC = re.compile(
    r"(?P<file>[^\s(].*?)\((?P<line>\d+),(?P<column>\d+)\): error (?P<message>TS\d+: .+)"
    r"|(?P<place>\S.*?:\d+:\d+) - error (?P<pretty>TS\d+: .+)"
    r"|error (?P<alone>TS\d+: .+)"
)


def _mypy(lines: Sequence[str]) -> Iterator[Found]:
    for number, line in enumerate(lines):
        if ": error: " in line and (error := _MYPY.fullmatch(line)):
            message = error[2] or error[4]
            if not _CODE.fullmatch(message):
                message += _wrapped(lines[number + 1 : number + 4])
            yield Found(number, Item("type", error[1] or error[3], message))


def _wrapped(below: Sequence[str]) -> str:
    """The rest of a message that `--pretty` broke into lines: it ends with the code."""
    rest = ""
    for line in below:
        if line.startswith(" ") or _PLACED.fullmatch(line):
            break
        rest += f" {line}"
        if _CODE.fullmatch(line):
            return rest
    return ""


def _pyright(lines: Sequence[str]) -> Iterator[Found]:
    for number, line in enumerate(lines):
        if " - error: " in line and (error := _PYRIGHT.fullmatch(line)):
            where, message = error.groups()
            if not _RULE.fullmatch(message):
                message += _rule(lines[number + 1 : number + 30])
            yield Found(number, Item("type", where, message))


def _rule(below: Sequence[str]) -> str:
    """The rule's name at the end of the lines that explain an error."""
    for line in below:
        if line[:3].strip() or " - error: " in line:
            break
        if rule := _RULE.fullmatch(line):
            return f" {rule[1]}"
    return ""


def _tsc(lines: Sequence[str]) -> Iterator[Found]:
    for number, line in enumerate(lines):
        if "error TS" in line and (error := _TSC.fullmatch(line)):
            where = error["place"] or "tsc"
            if error["file"]:
                where = ":".join(error.group("file", "line", "column"))
            message = error["message"] or error["pretty"] or error["alone"]
            yield Found(number, Item("type", where, message))


MYPY = Tool((": error: ",), _mypy)
PYRIGHT = Tool((" - error: ",), _pyright)
TSC = Tool(("error TS",), _tsc)
