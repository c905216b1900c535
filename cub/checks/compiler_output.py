"""Read the errors of GCC, Clang, their linkers, and compilers with the same format.

Syntax errors of programs that run a file (Python, Node, Ruby, shells, Go) are read as well, if no
other tool reports anything: test runners print such errors of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cub.checks.failing_items import FailingItem, LocatedItem, OutputParser

_ENDINGS = (  # a logger's name may end with a dot and a word, too
    "c|h|cc|cp|cpp|cxx|c\\+\\+|C|hh|hpp|hxx|inc|inl|ipp|tcc|tpp|m|mm|cu|cuh|s|S|asm|rs|java|kts?"
    "|swift|zig|scala|f|f90|F90|d|vala|proto|l|y|ll|yy|td"
)
_ERROR = re.compile(
    rf"((?:[A-Za-z]:)?[^\s:][^:]*\.(?:{_ENDINGS}):\d+(?::\d+)?): "
    r"(?:fatal error|error)(?:\[(E\d+)\])?: (.+)"
)
_DRIVER = re.compile(r"(cc1(?:plus|obj)?|(?:\S*-)?(?:gcc|g\+\+|clang(?:\+\+)?)(?:-\d+)?): (.+)")
_DRIVERS_ERROR = re.compile(r"(?:fatal )?error: (?!linker command failed)(.+)")
_UNLINKED = re.compile(
    r"(?:\S*ld(?:\.\w+)?(?:\.exe)?: )?(?:\S+\.o: )?([^\s:]\S*?):(?:\([^\s()]+\)|\d+): "
    r"((?:undefined reference to|multiple definition of) [`'\u2018].+?['\u2019])(?:;.*)?"
)
_LLD = re.compile(r"(?:\S*lld|\S*ld\.lld|\S*lld-link): error: ((?:undefined|duplicate) symbol: .+)")
_MACOS = "Undefined symbols for architecture "
_SYMBOL = re.compile(r'  "(.+)", referenced from:')


def _parse(lines: Sequence[str]) -> Iterator[LocatedItem]:
    macos = False
    for number, line in enumerate(lines):
        macos = line.startswith(_MACOS) or (macos and line.startswith(" "))
        if item := _error(line) or _parse_linker_line(line, macos=macos):
            yield LocatedItem(number, item)


def _error(line: str) -> FailingItem | None:
    if "error" not in line:
        return None
    if error := _ERROR.fullmatch(line):
        where, code, message = error.groups()
        return FailingItem("build", where, f"{message} [{code}]" if code else message)
    driver = _DRIVER.fullmatch(line)
    if driver and (error := _DRIVERS_ERROR.fullmatch(driver[2])):
        return FailingItem("build", driver[1], error[1])
    return None


def _parse_linker_line(line: str, *, macos: bool) -> FailingItem | None:
    """Return what a linker misses or finds twice; object files in temporary folders
    have no names.
    """
    if " of " in line or " to " in line:
        unlinked = _UNLINKED.fullmatch(line)
        if unlinked:
            where = unlinked[1].rpartition(":")[2]
            return FailingItem("build", "ld" if where.endswith(".o") else where, unlinked[2])
    if "lld" in line and (symbol := _LLD.fullmatch(line)):
        return FailingItem("build", "ld", symbol[1])
    if macos and (symbol := _SYMBOL.fullmatch(line)):
        return FailingItem("build", "ld", f"undefined symbol: {symbol[1]}")
    return None


COMPILERS = OutputParser(
    ("error: ", "error[E", "undefined reference to", "multiple definition of", _MACOS), _parse
)


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


def _python(lines: Sequence[str]) -> Iterator[LocatedItem]:
    place, at = "", -_NEAR
    for number, line in enumerate(lines):
        if file := _PYTHON_FILE.fullmatch(line):
            place, at = f"{file[1]}:{file[2]}", number
        elif number - at < _NEAR and _PYTHON.fullmatch(line):
            yield LocatedItem(number, FailingItem("build", place, line))
        elif compiled := _COMPILED.fullmatch(line):
            yield LocatedItem(
                number, FailingItem("build", f"{compiled[2]}:{compiled[3]}", compiled[1])
            )


def _node(lines: Sequence[str]) -> Iterator[LocatedItem]:
    place, at = "", -_NEAR
    for number, line in enumerate(lines):
        if file := _NODE_FILE.fullmatch(line):
            place, at = file[1], number
        elif number - at < _NEAR and _NODE.fullmatch(line):
            yield LocatedItem(number, FailingItem("build", place, line))


def _ruby(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines):
        before, mark, after = line.partition(_RUBY)
        place = before.rpartition("': ")[2]  # behind it, where another file is required
        if mark and _RUBY_PLACE.fullmatch(place):
            message = f"syntax error{after}".removesuffix(" (SyntaxError)")
            yield LocatedItem(number, FailingItem("build", place, message))


def _shell(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines):
        if error := _SHELL.fullmatch(line):
            yield LocatedItem(number, FailingItem("build", f"{error[1]}:{error[2]}", error[3]))


def _go(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines):
        if ".go:" in line and (error := _GO.fullmatch(line)):
            yield LocatedItem(number, FailingItem("build", *error.groups()))


SYNTAX_ERRORS = (
    OutputParser(("SyntaxError: ", "IndentationError: ", "TabError: "), _python),
    OutputParser(("SyntaxError",), _node),
    OutputParser((_RUBY,), _ruby),
    OutputParser((": Syntax error: ", ": syntax error", ": unexpected EOF while "), _shell),
    OutputParser((".go:",), _go),
)
