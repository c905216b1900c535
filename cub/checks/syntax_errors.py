"""Syntax errors as the programs tell them that run a file: Python, Node, Ruby, shells, Go.

Only where no other tool tells anything: test runners show such errors of theirs as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cub.checks.items import Item
from cub.checks.tool import Found, Tool

_KINDS = r"(?:SyntaxError|IndentationError|TabError)"
_PYTHON_FILE = re.compile(r'  File "(.+)", line (\d+)')
_PYTHON = re.compile(rf"{_KINDS}: .+")
_COMPILED = re.compile(rf"Sorry: ({_KINDS}: .+) \(([^()]+), line (\d+)\)")  # of py_compile
_NODE_FILE = re.compile(r"(?:file://)?((?:[A-Za-z]:)?[/\\].*:\d+)")
_NODE = re.compile(r"SyntaxError(?: \[\w+\])?: .+")
_NEAR = 5  # lines between a file's name and what is wrong in it: the line, a mark below it
_RUBY = ": syntax error"
_RUBY_PLACE = re.compile(r"(?:[A-Za-z]:)?[^\s:][^:]*:\d+")
_SHELL = re.compile(
    r"([^\s:][^:]*): (?:-c: )?(?:line )?(\d+): "
    r"(Syntax error: .+|syntax error.*|unexpected EOF while looking for .+)"
)
_GO = re.compile(r"(?:vet: )?([^\s:][^:]*\.go:\d+:\d+): (.+)")


def _python(lines: Sequence[str]) -> Iterator[Found]:
    place, at = "", -_NEAR
    for number, line in enumerate(lines):
        if file := _PYTHON_FILE.fullmatch(line):
            place, at = f"{file[1]}:{file[2]}", number
        elif number - at < _NEAR and _PYTHON.fullmatch(line):
            yield Found(number, Item("build", place, line))
        elif compiled := _COMPILED.fullmatch(line):
            yield Found(number, Item("build", f"{compiled[2]}:{compiled[3]}", compiled[1]))


def _node(lines: Sequence[str]) -> Iterator[Found]:
    place, at = "", -_NEAR
    for number, line in enumerate(lines):
        if file := _NODE_FILE.fullmatch(line):
            place, at = file[1], number
        elif number - at < _NEAR and _NODE.fullmatch(line):
            yield Found(number, Item("build", place, line))


def _ruby(lines: Sequence[str]) -> Iterator[Found]:
    for number, line in enumerate(lines):
        before, mark, after = line.partition(_RUBY)
        place = before.rpartition("': ")[2]  # behind it, where another file is required
        if mark and _RUBY_PLACE.fullmatch(place):
            message = f"syntax error{after}".removesuffix(" (SyntaxError)")
            yield Found(number, Item("build", place, message))


def _shell(lines: Sequence[str]) -> Iterator[Found]:
    for number, line in enumerate(lines):
        if error := _SHELL.fullmatch(line):
            yield Found(number, Item("build", f"{error[1]}:{error[2]}", error[3]))


def _go(lines: Sequence[str]) -> Iterator[Found]:
    for number, line in enumerate(lines):
        if ".go:" in line and (error := _GO.fullmatch(line)):
            yield Found(number, Item("build", *error.groups()))


SYNTAX_ERRORS = (
    Tool(("SyntaxError: ", "IndentationError: ", "TabError: "), _python),
    Tool(("SyntaxError",), _node),
    Tool((_RUBY,), _ruby),
    Tool((": Syntax error: ", ": syntax error", ": unexpected EOF while "), _shell),
    Tool((".go:",), _go),
)
