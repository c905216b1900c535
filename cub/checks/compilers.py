"""What GCC and Clang tell, their linkers, and other compilers that write as they do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cub.checks.items import Item
from cub.checks.tool import Found, Tool

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


def _parse(lines: Sequence[str]) -> Iterator[Found]:
    macos = False
    for number, line in enumerate(lines):
        macos = line.startswith(_MACOS) or (macos and line.startswith(" "))
        if item := _error(line) or _unlinked(line, macos=macos):
            yield Found(number, item)


def _error(line: str) -> Item | None:
    if "error" not in line:
        return None
    if error := _ERROR.fullmatch(line):
        where, code, message = error.groups()
        return Item("build", where, f"{message} [{code}]" if code else message)
    driver = _DRIVER.fullmatch(line)
    if driver and (error := _DRIVERS_ERROR.fullmatch(driver[2])):
        return Item("build", driver[1], error[1])
    return None


def _unlinked(line: str, *, macos: bool) -> Item | None:
    """What a linker misses or has twice; object files in temporary folders have no names."""
    if " of " in line or " to " in line:
        unlinked = _UNLINKED.fullmatch(line)
        if unlinked:
            where = unlinked[1].rpartition(":")[2]
            return Item("build", "ld" if where.endswith(".o") else where, unlinked[2])
    if "lld" in line and (symbol := _LLD.fullmatch(line)):
        return Item("build", "ld", symbol[1])
    if macos and (symbol := _SYMBOL.fullmatch(line)):
        return Item("build", "ld", f"undefined symbol: {symbol[1]}")
    return None


COMPILERS = Tool(
    ("error: ", "error[E", "undefined reference to", "multiple definition of", _MACOS), _parse
)
