"""What Ruff (and others that write as it does), ESLint and formatters' checks tell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cub.checks.items import Item
from cub.checks.tool import Found, Tool

_RULE = r"[A-Z]{1,6}\d{2,5}|invalid-syntax"
_FINDING = re.compile(
    r"([^\s:][^:]*\.(?:pyi?|ipynb|toml|md)(?::cell \d+)?:\d+:\d+): "
    rf"(?:({_RULE}):? (?:\[\*\] )?|(?=SyntaxError: ))(.+)"
)
_HEAD = re.compile(rf"({_RULE}|unformatted):? (?:\[\*\] )?(.+)")
_PLACE = re.compile(r" *--> (\S.*:\d+:\d+)")
_UNFORMATTED = re.compile(r"(?:Would reformat: |would reformat )(\S.*\.\w+)")
_LINTED = re.compile(r" +(\d+:\d+) +(error|warning) +(\S.*)")
_PATH = re.compile(r"(?:/|[A-Za-z]:\\|<).+")  # ESLint tells whole paths
_TOO_MANY = "ESLint found too many warnings"
_CRASH = "Oops! Something went wrong! :("


def _ruff(lines: Sequence[str]) -> Iterator[Found]:
    for number, line in enumerate(lines):
        if finding := _FINDING.fullmatch(line):
            where, rule, message = finding.groups()
            yield Found(number, Item("lint", where, f"{rule} {message}" if rule else message))
        elif " --> " in line[:9] or line.startswith("--> "):
            head = _HEAD.fullmatch(lines[number - 1]) if number else None
            if head and (place := _PLACE.fullmatch(line)):
                yield Found(number, Item("lint", place[1], f"{head[1]} {head[2]}"))


def _formatters(lines: Sequence[str]) -> Iterator[Found]:
    for number, line in enumerate(lines):
        if unformatted := _UNFORMATTED.fullmatch(line):
            yield Found(number, Item("lint", unformatted[1], "would be reformatted"))


def _eslint(lines: Sequence[str]) -> Iterator[Found]:
    words = ("error", "warning") if any(map(_is_too_many, lines)) else ("error",)
    path = ""
    for number, line in enumerate(lines):
        linted = _LINTED.fullmatch(line)
        if linted and path:
            if linted[2] in words:
                yield Found(number, Item("lint", f"{path}:{linted[1]}", _told(linted[3])))
        elif line == _CRASH:
            yield Found(number, Item("error", "eslint", _reason(lines[number + 1 : number + 9])))
        else:
            path = line if _PATH.fullmatch(line) else ""


def _told(text: str) -> str:
    """The message and its rule, which stand in columns; a parser's error has no rule."""
    message, _, rule = text.rpartition("  ")
    return f"{message.strip()} [{rule}]" if message and " " not in rule else text


def _is_too_many(line: str) -> bool:
    return line.startswith(_TOO_MANY)


def _reason(below: Sequence[str]) -> str:
    words = (line for line in below if line.strip() and not line.startswith("ESLint: "))
    return next(words, "")


RUFF = Tool((".py:", ".pyi:", ".ipynb:", ".toml:", ".md:"), _ruff)
FORMATTERS = Tool(("ould reformat",), _formatters)
ESLINT = Tool(("✖ ", _CRASH), _eslint)
