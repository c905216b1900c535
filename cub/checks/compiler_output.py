"""Read the errors of GCC, Clang, their linkers, and compilers with the same format.

Syntax errors of programs that run a file (Python, Node, Ruby, shells, Go) count only if no other
tool reports anything, as test runners print such errors too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cub.checks.failing_items import FailingItem, LocatedItem, OutputParser, locate_item

_SUFFIXES = (  # the name of a logger may also end with a dot and a word
    "c|h|cc|cp|cpp|cxx|c\\+\\+|C|hh|hpp|hxx|inc|inl|ipp|tcc|tpp|m|mm|cu|cuh|s|S|asm|rs|java|kts?"
    "|swift|zig|scala|f|f90|F90|d|vala|proto|l|y|ll|yy|td"
)
_ERROR = re.compile(
    rf"((?:[A-Za-z]:)?[^\s:][^:]*\.(?:{_SUFFIXES}):\d+(?::\d+)?): "
    r"(?:fatal error|error)(?:\[(E\d+)\])?: (.+)"
)
_DRIVER = re.compile(r"(cc1(?:plus|obj)?|(?:\S*-)?(?:gcc|g\+\+|clang(?:\+\+)?)(?:-\d+)?): (.+)")
_DRIVER_ERROR = re.compile(r"(?:fatal )?error: (?!linker command failed)(.+)")
_UNLINKED = re.compile(
    r"(?:\S*ld(?:\.\w+)?(?:\.exe)?: )?(?:\S+\.o: )?([^\s:]\S*?):(?:\([^\s()]+\)|\d+): "
    r"((?:undefined reference to|multiple definition of) [`'\u2018].+?['\u2019])(?:;.*)?"
)
_LLD = re.compile(r"(?:\S*lld|\S*ld\.lld|\S*lld-link): error: ((?:undefined|duplicate) symbol: .+)")
_MACOS = "Undefined symbols for architecture "
_SYMBOL = re.compile(r'  "(.+)", referenced from:')


def _parse(lines: Sequence[str]) -> Iterator[LocatedItem]:
    is_macos = False
    for number, line in enumerate(lines):
        is_macos = line.startswith(_MACOS) or (is_macos and line.startswith(" "))
        if item := _parse_error(line) or _parse_linker_line(line, is_macos=is_macos):
            yield LocatedItem(number, item)


def _parse_error(line: str) -> FailingItem | None:
    if "error" not in line:
        return None
    if error := _ERROR.fullmatch(line):
        where, code, message = error.groups()
        return FailingItem("build", where, f"{message} [{code}]" if code else message)
    driver = _DRIVER.fullmatch(line)
    if driver and (error := _DRIVER_ERROR.fullmatch(driver[2])):
        return FailingItem("build", driver[1], error[1])
    return None


def _parse_linker_line(line: str, *, is_macos: bool) -> FailingItem | None:
    """Return what a linker misses or finds twice."""
    if (" of " in line or " to " in line) and (unlinked := _UNLINKED.fullmatch(line)):
        where = unlinked[1].rpartition(":")[2]
        # An object file is in a temporary directory, under another name each time.
        return FailingItem("build", "ld" if where.endswith(".o") else where, unlinked[2])
    if "lld" in line and (symbol := _LLD.fullmatch(line)):
        return FailingItem("build", "ld", symbol[1])
    if is_macos and (symbol := _SYMBOL.fullmatch(line)):
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
_MAX_DISTANCE = 5  # lines between a file's name and the error: the source line, a mark below it
_RUBY = ": syntax error"
_RUBY_PLACE = re.compile(r"(?:[A-Za-z]:)?[^\s:][^:]*:\d+")
_SHELL = re.compile(
    r"([^\s:][^:]*): (?:-c: )?(?:line )?(\d+): "
    r"(Syntax error: .+|syntax error.*|unexpected EOF while looking for .+)"
)
_GO = re.compile(r"(?:vet: )?([^\s:][^:]*\.go:\d+:\d+): (.+)")


def _parse_python(lines: Sequence[str]) -> Iterator[LocatedItem]:
    yield from _parse_below_file(lines, _PYTHON_FILE, _PYTHON)
    for number, line in enumerate(lines):
        if compiled := _COMPILED.fullmatch(line):
            yield locate_item(number, "build", f"{compiled[2]}:{compiled[3]}", compiled[1])


def _parse_node(lines: Sequence[str]) -> Iterator[LocatedItem]:
    return _parse_below_file(lines, _NODE_FILE, _NODE)


def _parse_below_file(
    lines: Sequence[str], file: re.Pattern[str], error: re.Pattern[str]
) -> Iterator[LocatedItem]:
    """Yield the errors in lines near below the line of a file."""
    place, place_number = "", -_MAX_DISTANCE
    for number, line in enumerate(lines):
        if match := file.fullmatch(line):
            place, place_number = ":".join(match.groups()), number
        elif number - place_number < _MAX_DISTANCE and error.fullmatch(line):
            yield locate_item(number, "build", place, line)


def _parse_ruby(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines):
        before, mark, after = line.partition(_RUBY)
        place = before.rpartition("': ")[2]  # after the place of the `require` of another file
        if mark and _RUBY_PLACE.fullmatch(place):
            message = f"syntax error{after}".removesuffix(" (SyntaxError)")
            yield locate_item(number, "build", place, message)


def _parse_shell(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines):
        if error := _SHELL.fullmatch(line):
            yield locate_item(number, "build", f"{error[1]}:{error[2]}", error[3])


def _parse_go(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines):
        if ".go:" in line and (error := _GO.fullmatch(line)):
            yield locate_item(number, "build", *error.groups())


SYNTAX_ERRORS = (
    OutputParser(("SyntaxError: ", "IndentationError: ", "TabError: "), _parse_python),
    OutputParser(("SyntaxError",), _parse_node),
    OutputParser((_RUBY,), _parse_ruby),
    OutputParser((": Syntax error: ", ": syntax error", ": unexpected EOF while "), _parse_shell),
    OutputParser((".go:",), _parse_go),
)
