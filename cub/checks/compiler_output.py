"""Read the errors of GCC, Clang, rustc, their linkers and kin, and the tests of `cargo test`.

Syntax errors of programs that run a file (Python, Node, Ruby, shells, Go) count only if no other
tool reports anything, as test runners print such errors too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from cub.checks.failing_items import FailingItem
from cub.checks.output_rules import LocatedItem, OutputParser, Rule, locate_item, make_parser

_SUFFIXES = (  # the name of a logger may also end with a dot and a word
    "c|h|cc|cp|cpp|cxx|c\\+\\+|C|hh|hpp|hxx|inc|inl|ipp|tcc|tpp|m|mm|cu|cuh|s|S|asm|rs|java|kts?"
    "|swift|zig|scala|f|f90|F90|d|vala|proto|l|y|ll|yy|td"
)
_PLACE = rf"((?:[A-Za-z]:)?[^\s:][^:]*\.(?:{_SUFFIXES}):\d+(?::\d+)?): (?:fatal error|error)"
_DRIVER = r"(cc1(?:plus|obj)?|(?:\S*-)?(?:gcc|g\+\+|clang(?:\+\+)?)(?:-\d+)?): (?:fatal )?error: "
_LD = r"(?:\S*ld(?:\.\w+)?(?:\.exe)?: )?(?:\S+\.o: )?(?:[^\s:]\S*?:)??"
_UNLINKED = (
    r":(?:\([^\s()]+\)|\d+): "
    r"((?:undefined reference to|multiple definition of) [`'\u2018].+?['\u2019])(?:;.*)?"
)
_LLD = r"(?:\S*lld|\S*ld\.lld|\S*lld-link): error: ((?:undefined|duplicate) symbol: .+)"
_MACOS = "Undefined symbols for architecture "
GCC = make_parser(
    Rule(_MACOS, rf"(?P<macos>{_MACOS}).*"),
    Rule("error[E", rf"{_PLACE}\[(E\d+)\]: (.+)", "build {1} | {3} [{2}]"),
    Rule("error: ", rf"{_PLACE}: (.+)", "build {1} | {2}"),
    Rule("error: ", rf"{_DRIVER}(?!linker command failed)(.+)", "build {1} | {2}"),
    # An object file is in a temporary directory, under another name each time.
    Rule("defin", rf"{_LD}[^\s:]+\.o{_UNLINKED}", "build ld | {1}"),
    Rule("defin", rf"{_LD}([^\s:]+){_UNLINKED}", "build {1} | {2}"),
    Rule("lld", _LLD, "build ld | {1}"),
    Rule(", r", r'  "(.+)", referenced from:', "build ld | undefined symbol: {1}", within="macos"),
    Rule("", r"(?! ).*(?P<macos>)", within="macos"),
)


_KINDS = r"(?:SyntaxError|IndentationError|TabError)"
# Below the place are the source line and a mark, and a blank line if the file could not be parsed.
_NODE_PLACE = r"(?:file://)?((?:[A-Za-z]:)?[/\\].*:\d+)\n.*\n\s*\^+\s*"
_NODE_ERROR = r"(SyntaxError(?: \[\w+\])?: .+)"
_SORRY = rf"Sorry: ({_KINDS}: .+) \(([^()]+), line (\d+)\)"  # of py_compile
# After the place of the `require` of another file.
_RUBY = r"(?:.*': )?((?:[A-Za-z]:)?[^\s:][^:]*:\d+): (syntax error.*?)(?: \(SyntaxError\))?"
_SHELL = r"([^\s:][^:]*): (?:-c: )?(?:line )?(\d+): "
_SHELL_ERROR = r"(Syntax error: .+|syntax error.*|unexpected EOF while looking for .+)"
SYNTAX_ERRORS = (
    make_parser(
        Rule("  File ", r'  File "(?P<file>.+)", line (?P<number>\d+)'),
        Rule("Error: ", rf"({_KINDS}: .+)", "build {file}:{number} | {1}", within="file"),
        Rule("", r"\S.*(?P<file>)"),  # between them are the source line, and a mark below it
    ),
    make_parser(
        Rule("SyntaxError", rf"{_NODE_PLACE}\n{_NODE_ERROR}", "build {1} | {2}"),
        Rule("SyntaxError", rf"{_NODE_PLACE}\n\n{_NODE_ERROR}", "build {1} | {2}"),
    ),
    make_parser(
        Rule("Sorry: ", _SORRY, "build {2}:{3} | {1}"),
        Rule(": syntax error", _RUBY, "build {1} | {2}"),
        Rule(": ", _SHELL + _SHELL_ERROR, "build {1}:{2} | {3}"),
        Rule(".go:", r"(?:vet: )?([^\s:][^:]*\.go:\d+:\d+): (.+)", "build {1} | {2}"),
    ),
)


_RUNNING = re.compile(r" +Running .*[/\\(`]([^\s/\\()`]+)-[0-9a-f]{16}(?:\.exe)?[)`]")
_DOCS = re.compile(r" +Doc-tests \S+")
_FAILED = re.compile(r"test (\S.*?)(?: - should panic(?: - compile)?)? \.\.\. FAILED")
_QUIET = re.compile(r"(\S+) --- FAILED")
_SECTION = re.compile(r"---- (\S.*) stdout ----")
_PANIC = re.compile(r"thread '(.*)' (?:\(\d+\) )?panicked at (.+)")
_OLD_PANIC = re.compile(r"'(.*?)(?:', [^\s']+:\d+:\d+)?")
_REASON = re.compile(r"(?:note: )?((?:Error: |test did not panic).*)")
_CRASH = re.compile(r" +process didn't exit successfully: .*\((signal: [^()]+)\)")


@dataclass(slots=True)
class _Binary:
    """Collect what the output says of the current test binary."""

    crate: str = ""
    failed: dict[str, int] = field(default_factory=dict)
    listed: dict[str, int] = field(default_factory=dict)  # failed if the result is FAILED
    messages: dict[str, str] = field(default_factory=dict)
    section: str = ""
    is_listing: bool = False

    def list_items(self) -> Iterator[LocatedItem]:
        for name, line in self.failed.items():
            where = f"{self.crate}::{name}" if self.crate else name
            yield locate_item(line, "test", where, self.messages.get(name, ""))

    def read(self, number: int, lines: Sequence[str]) -> None:
        line = lines[number]
        if failed := _FAILED.fullmatch(line) or _QUIET.fullmatch(line):
            self.failed.setdefault(failed[1], number)
        elif line == "failures:":
            self.section, self.is_listing = "", True
        elif self.is_listing and line.startswith("    "):
            self.listed.setdefault(line.strip(), number)
        elif section := _SECTION.fullmatch(line):
            self.section, self.is_listing = section[1], False
        elif panic := _PANIC.fullmatch(line):
            name = self.section or panic[1]
            self.messages.setdefault(name, _join_message(panic[2], lines[number + 1 : number + 4]))
        elif self.section and (reason := _REASON.fullmatch(line)):
            self.messages.setdefault(self.section, reason[1])
        else:
            self.is_listing = False


def _join_message(place: str, below: Sequence[str]) -> str:
    """Return a panic's message with both sides of an assertion; quoted until Rust 1.73."""
    if not place.endswith(":"):
        old = _OLD_PANIC.fullmatch(place)
        return old[1] if old else place
    sides = [line.strip() for line in below[1:] if line.startswith(("  left: ", " right: "))]
    return ", ".join([*below[:1], *sides])


def _parse_cargo_test(lines: Sequence[str]) -> Iterator[LocatedItem]:
    binary = _Binary()
    for number, line in enumerate(lines):
        if running := _RUNNING.fullmatch(line):
            yield from binary.list_items()
            binary = _Binary(running[1])
        elif _DOCS.fullmatch(line):
            yield from binary.list_items()
            binary = _Binary()
        elif line.startswith("test result: FAILED"):
            binary.failed = binary.listed | binary.failed
            yield from binary.list_items()
            binary = _Binary(binary.crate)
        elif crash := _CRASH.fullmatch(line):
            yield locate_item(number, "error", binary.crate or "cargo test", crash[1])
        else:
            binary.read(number, lines)
    yield from binary.list_items()


CARGO_TEST = OutputParser(
    ("... FAILED", "--- FAILED", "\nfailures:\n", "process didn't exit"), _parse_cargo_test
)


_RUST_ERROR = re.compile(r"error(?:\[(E\d+)\])?: (.+)")
_RUST_PLACE = re.compile(r" *--> (\S.*:\d+:\d+)")
_LINKING = re.compile(r"linking with `.+` failed: .+")
_RUST_SYMBOL = re.compile(r"(?:undefined (?:symbol|reference)|multiple definition).*")
_CLIPPY = re.compile(r"`-D clippy::|deny\(clippy::")
_MAX_MESSAGE_LINES = 4
_MAX_RUST_ERROR_LINES = 60


def _parse_rustc(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines):
        if error := _RUST_ERROR.fullmatch(line):
            code, message = error.groups()
            if item := _read_error(message, lines[number + 1 : number + 1 + _MAX_RUST_ERROR_LINES]):
                message = f"{item.message} [{code}]" if code else item.message
                yield LocatedItem(number, item._replace(message=message))


def _read_error(message: str, below: Sequence[str]) -> FailingItem | None:
    """Return the error; None if neither place nor symbol follows, as other lines begin like one."""
    if _LINKING.fullmatch(message):
        below = list(takewhile(str.strip, below))
        symbols = (symbol[0] for line in below if (symbol := _RUST_SYMBOL.search(line)))
        return FailingItem("build", "linker", next(symbols, message))
    near = takewhile(str.strip, below[:_MAX_MESSAGE_LINES])
    place = next((place[1] for line in near if (place := _RUST_PLACE.fullmatch(line))), "")
    if not place:
        return None
    is_lint = any(map(_CLIPPY.search, takewhile(str.strip, below)))
    return FailingItem("lint" if is_lint else "build", place, message)


RUSTC = OutputParser(("error: ", "error[E"), _parse_rustc)

COMPILERS = (CARGO_TEST, RUSTC, GCC)
