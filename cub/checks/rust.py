"""What `cargo test` tells of tests; what it tells of the build is rustc's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cub.checks.items import Item
from cub.checks.tool import Found, Tool

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
    """What is known of the test binary whose output is read."""

    crate: str = ""
    failed: dict[str, int] = field(default_factory=dict)
    listed: dict[str, int] = field(default_factory=dict)  # sure once the result is told
    messages: dict[str, str] = field(default_factory=dict)
    section: str = ""
    listing: bool = False

    def found(self) -> Iterator[Found]:
        for name, line in self.failed.items():
            where = f"{self.crate}::{name}" if self.crate else name
            yield Found(line, Item("test", where, self.messages.get(name, "")))

    def read(self, number: int, lines: Sequence[str]) -> None:
        line = lines[number]
        if failed := _FAILED.fullmatch(line) or _QUIET.fullmatch(line):
            self.failed.setdefault(failed[1], number)
        elif line == "failures:":
            self.section, self.listing = "", True
        elif self.listing and line.startswith("    "):
            self.listed.setdefault(line.strip(), number)
        elif section := _SECTION.fullmatch(line):
            self.section, self.listing = section[1], False
        elif panic := _PANIC.fullmatch(line):
            name = self.section or panic[1]
            self.messages.setdefault(name, _message(panic[2], lines[number + 1 : number + 4]))
        elif self.section and (reason := _REASON.fullmatch(line)):
            self.messages.setdefault(self.section, reason[1])
        else:
            self.listing = False


def _message(place: str, below: Sequence[str]) -> str:
    """What a panic says, with both sides of an assertion; until Rust 1.73 it said so in quotes."""
    if not place.endswith(":"):
        old = _OLD_PANIC.fullmatch(place)
        return old[1] if old else place
    sides = [line.strip() for line in below[1:] if line.startswith(("  left: ", " right: "))]
    return ", ".join([*below[:1], *sides])


def _parse(lines: Sequence[str]) -> Iterator[Found]:
    binary = _Binary()
    for number, line in enumerate(lines):
        if running := _RUNNING.fullmatch(line):
            yield from binary.found()
            binary = _Binary(running[1])
        elif _DOCS.fullmatch(line):
            yield from binary.found()
            binary = _Binary()
        elif line.startswith("test result: FAILED"):
            binary.failed = binary.listed | binary.failed
            yield from binary.found()
            binary = _Binary(binary.crate)
        elif crash := _CRASH.fullmatch(line):
            yield Found(number, Item("error", binary.crate or "cargo test", crash[1]))
        else:
            binary.read(number, lines)
    yield from binary.found()


CARGO_TEST = Tool(("... FAILED", "--- FAILED", "\nfailures:\n", "process didn't exit"), _parse)
