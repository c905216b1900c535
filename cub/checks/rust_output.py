"""Read the failed tests of `cargo test`, and errors of rustc and Clippy in the long form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from cub.checks.failing_items import FailingItem, LocatedItem, OutputParser, locate_item

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


_ERROR = re.compile(r"error(?:\[(E\d+)\])?: (.+)")
_PLACE = re.compile(r" *--> (\S.*:\d+:\d+)")
_LINKING = re.compile(r"linking with `.+` failed: .+")
_SYMBOL = re.compile(r"(?:undefined (?:symbol|reference)|multiple definition).*")
_CLIPPY = re.compile(r"`-D clippy::|deny\(clippy::")
_MAX_MESSAGE_LINES = 4
_MAX_ERROR_LINES = 60


def _parse_rustc(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines):
        if error := _ERROR.fullmatch(line):
            code, message = error.groups()
            if item := _read_error(message, lines[number + 1 : number + 1 + _MAX_ERROR_LINES]):
                message = f"{item.message} [{code}]" if code else item.message
                yield LocatedItem(number, item._replace(message=message))


def _read_error(message: str, below: Sequence[str]) -> FailingItem | None:
    """Return the error; None if neither place nor symbol follows, as other lines begin like one."""
    if _LINKING.fullmatch(message):
        below = list(takewhile(str.strip, below))
        symbols = (symbol[0] for line in below if (symbol := _SYMBOL.search(line)))
        return FailingItem("build", "linker", next(symbols, message))
    near = takewhile(str.strip, below[:_MAX_MESSAGE_LINES])
    place = next((place[1] for line in near if (place := _PLACE.fullmatch(line))), "")
    if not place:
        return None
    is_lint = any(map(_CLIPPY.search, takewhile(str.strip, below)))
    return FailingItem("lint" if is_lint else "build", place, message)


RUSTC = OutputParser(("error: ", "error[E"), _parse_rustc)
