"""Read the output of `go test`, `go build`, `go vet` and gotestsum, and of `go test -json`.

In JSON, each line is wrapped in an event, and packages are interleaved.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cub.checks.failing_items import FailingItem, LocatedItem, OutputParser

_END = re.compile(r" *--- (PASS|FAIL|SKIP): (\S+) \(\d+\.\d+s\)")
_BEGIN = re.compile(r"=== (?:RUN|CONT|NAME|PAUSE) +(\S+)")
_LOGGED = re.compile(r"\s+\S+\.go:\d+: ?(.*)")
_ASSERTED = re.compile(r"\s+Error:\s+(\S.*)")  # testify's, some lines below
_CRASH = re.compile(r"((?:panic|fatal error): .+?)(?: \[recovered.*)?")
_EXIT = ("exit status ", "signal: ")
_DEEPEST = 200  # characters of a name in which its parents are looked for


@dataclass(slots=True)
class GoPackage:
    """Collect what is known of the package whose output is read."""

    tests: dict[str, int] = field(default_factory=dict)  # the failed ones and their lines
    notes: dict[str, str] = field(default_factory=dict)
    current: str = ""
    crash: str = ""
    exit: str = ""

    def read_line(self, number: int, line: str) -> None:
        """Follow which test runs, and which failed."""
        if end := _END.fullmatch(line):
            if end[1] == "FAIL":
                self.record_failure(end[2], number)
            self.current = end[2]
        elif begin := _BEGIN.fullmatch(line):
            self.current = begin[1]
        else:
            self._log(line)

    def record_failure(self, test: str, number: int) -> None:
        """Keep a failed test, once; what follows is said by it."""
        self.tests.setdefault(test, number)
        self.current = test

    def _log(self, line: str) -> None:
        """Keep what a test says last: before the end, that is why it failed."""
        if logged := _LOGGED.fullmatch(line):
            self.notes[self.current] = logged[1]
        elif self.notes.get(self.current) == "" and (asserted := _ASSERTED.fullmatch(line)):
            self.notes[self.current] = asserted[1]
        elif not self.crash and (crash := _CRASH.fullmatch(line)):
            self.crash = crash[1]
            if self.current in self.tests:
                self.notes[self.current] = self.crash
        elif line.startswith(_EXIT):
            self.exit = line

    def list_failures(self, name: str, line: int = 0) -> Iterator[LocatedItem]:
        """Yield the failed tests, without those that only contain failed ones; or why none ran."""
        parents = {test[:at] for test in self.tests for at in _slashes(test)}
        for test, number in self.tests.items():
            if test not in parents or test in self.notes:
                where = f"{name}.{test}" if name else test
                yield LocatedItem(number, FailingItem("test", where, self.notes.get(test, "")))
        explained = self.tests and (not self.crash or self.crash in self.notes.values())
        if name and line and not explained:
            yield LocatedItem(line, FailingItem("error", name, self.crash or self.exit))


def _slashes(test: str) -> list[int]:
    return [at for at, sign in enumerate(test[:_DEEPEST]) if sign == "/"]


_SUMMED = re.compile(r"=== FAIL: (\S+) (\S.*) \(\d+\.\d+s\)")  # gotestsum's
_ENDED = re.compile(r"FAIL\t(\S+)(?:\t\S+| \[(\w+ failed)\])")
_FINE = ("ok  \t", "?   \t")
_COMPILED = re.compile(r"# ([\w.~/-]+)(?: \[[\w.~/-]+\])?")
_POSITION = re.compile(r"(?:vet: )?(\S+\.go:\d+(?::\d+)?): (.*)")


@dataclass(slots=True)
class _Reader:
    """Track where in the output the reader is: in a package's tests, or in compiler errors."""

    package: GoPackage = field(default_factory=GoPackage)
    name: str = ""  # of the package, where it is told before its tests
    broken: set[str] = field(default_factory=set)
    compiling: bool = False

    def read(self, number: int, line: str) -> Iterator[LocatedItem]:
        if compiled := _COMPILED.fullmatch(line):
            self.broken.add(compiled[1])
            self.compiling = True
        elif self.compiling and (position := _POSITION.fullmatch(line)):
            yield LocatedItem(number, FailingItem("build", *position.groups()))
        elif not (self.compiling and line.startswith("\t")):
            self.compiling = False
            yield from self._read_test_line(number, line)

    def _read_test_line(self, number: int, line: str) -> Iterator[LocatedItem]:
        if ended := _ENDED.fullmatch(line):
            yield from self._end_package(number, *ended.groups())
        elif line.startswith(_FINE):
            self.package = GoPackage()
        elif summed := _SUMMED.fullmatch(line):
            yield from self._name_package(summed[1])
            self.package.record_failure(summed[2], number)
        else:
            self.package.read_line(number, line)

    def _end_package(self, number: int, name: str, unbuilt: str | None) -> Iterator[LocatedItem]:
        if not unbuilt:
            yield from self.package.list_failures(name, number + 1)
        elif name not in self.broken:
            yield LocatedItem(number, FailingItem("build", name, unbuilt))
        self.package = GoPackage()

    def _name_package(self, name: str) -> Iterator[LocatedItem]:
        if name != self.name:
            yield from self.package.list_failures(self.name)
            self.package, self.name = GoPackage(), name


def find_go_items(numbered: Iterable[tuple[int, str]]) -> Iterator[LocatedItem]:
    """Yield the items in numbered lines."""
    reader = _Reader()
    for number, line in numbered:
        yield from reader.read(number, line)
    yield from reader.package.list_failures(reader.name)


def _parse(lines: Sequence[str]) -> Iterator[LocatedItem]:
    return find_go_items(enumerate(lines))


GO = OutputParser(("--- FAIL: ", "=== FAIL: ", "FAIL\t", ".go:"), _parse)


_MARKS = ('{"Time":', '{"Action":', '{"ImportPath":')


def _parse_json(lines: Sequence[str]) -> Iterator[LocatedItem]:
    outputs = dict[str, list[tuple[int, str]]]()
    for number, line in enumerate(lines):
        if line.startswith(_MARKS) and (event := _event(line)):
            package, text = event
            outputs.setdefault(package, []).append((number, text))
    for output in outputs.values():
        yield from find_go_items(_lines(output))


def _event(line: str) -> tuple[str, str] | None:
    """Return the package of an event and its output."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    package, output = event.get("Package", event.get("ImportPath")), event.get("Output")
    if not (isinstance(package, str) and isinstance(output, str)):
        return None
    return package.partition(" ")[0], output  # what is built for a test says so in brackets


def _lines(output: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield whole lines: an event may hold a part of one."""
    text = ""
    for number, part in output:
        *whole, text = (text + part).split("\n")
        yield from ((number, line) for line in whole)
    if text:
        yield output[-1][0], text


GO_JSON = OutputParser(_MARKS, _parse_json)
