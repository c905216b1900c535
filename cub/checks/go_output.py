"""Read the output of `go test`, also with `-json`, of `go build`, `go vet` and gotestsum."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cub.checks.output_rules import LocatedItem, OutputParser, locate_item
from cub.json_values import parse_object

_END = re.compile(r" *--- (PASS|FAIL|SKIP): (\S+) \(\d+\.\d+s\)")
_BEGIN = re.compile(r"=== (?:RUN|CONT|NAME|PAUSE) +(\S+)")
_LOGGED = re.compile(r"\s+\S+\.go:\d+: ?(.*)")
_ASSERTED = re.compile(r"\s+Error:\s+(\S.*)")  # testify's, some lines below
_CRASH = re.compile(r"((?:panic|fatal error): .+?)(?: \[recovered.*)?")
_EXIT = ("exit status ", "signal: ")
_MAX_PARENT_CHARS = 200  # of a name, in which slashes separate the parents


@dataclass(slots=True)
class _Package:
    """Collect what the output says of the current package."""

    tests: dict[str, int] = field(default_factory=dict)  # the failed ones, each with its line
    notes: dict[str, str] = field(default_factory=dict)
    current: str = ""
    crash: str = ""
    exit: str = ""

    def read_line(self, number: int, line: str) -> None:
        """Note which test runs, and which failed."""
        if end := _END.fullmatch(line):
            if end[1] == "FAIL":
                self.record_failure(end[2], number)
            self.current = end[2]
        elif begin := _BEGIN.fullmatch(line):
            self.current = begin[1]
        else:
            self._read_note(line)

    def record_failure(self, test: str, number: int) -> None:
        """Note a failed test once; the lines that follow are its own."""
        self.tests.setdefault(test, number)
        self.current = test

    def _read_note(self, line: str) -> None:
        """Note what a test says last: that is why it failed."""
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
        slashes = {test: re.finditer("/", test[:_MAX_PARENT_CHARS]) for test in self.tests}
        parents = {test[: slash.start()] for test, found in slashes.items() for slash in found}
        for test, number in self.tests.items():
            if test not in parents or test in self.notes:
                where = f"{name}.{test}" if name else test
                yield locate_item(number, "test", where, self.notes.get(test, ""))
        explained = self.tests and (not self.crash or self.crash in self.notes.values())
        if name and line and not explained:
            yield locate_item(line, "error", name, self.crash or self.exit)


_SUMMARIZED = re.compile(r"=== FAIL: (\S+) (\S.*) \(\d+\.\d+s\)")  # gotestsum's
_ENDED = re.compile(r"FAIL\t(\S+)(?:\t\S+| \[(\w+ failed)\])")
_FINE = ("ok  \t", "?   \t")
_COMPILED = re.compile(r"# ([\w.~/-]+)(?: \[[\w.~/-]+\])?")
_POSITION = re.compile(r"(?:vet: )?(\S+\.go:\d+(?::\d+)?): (.*)")


@dataclass(slots=True)
class _Reader:
    """Track whether the lines are of a package's tests, or compiler errors."""

    package: _Package = field(default_factory=_Package)
    name: str = ""  # of the package, if it precedes the package's tests
    broken: set[str] = field(default_factory=set)
    is_compiling: bool = False

    def read(self, number: int, line: str) -> Iterator[LocatedItem]:
        if compiled := _COMPILED.fullmatch(line):
            self.broken.add(compiled[1])
            self.is_compiling = True
        elif self.is_compiling and (position := _POSITION.fullmatch(line)):
            yield locate_item(number, "build", *position.groups())
        elif not (self.is_compiling and line.startswith("\t")):
            self.is_compiling = False
            yield from self._read_test_line(number, line)

    def _read_test_line(self, number: int, line: str) -> Iterator[LocatedItem]:
        if ended := _ENDED.fullmatch(line):
            yield from self._end_package(number, *ended.groups())
        elif line.startswith(_FINE):
            self.package = _Package()
        elif summary := _SUMMARIZED.fullmatch(line):
            yield from self._name_package(summary[1])
            self.package.record_failure(summary[2], number)
        else:
            self.package.read_line(number, line)

    def _end_package(self, number: int, name: str, unbuilt: str | None) -> Iterator[LocatedItem]:
        if not unbuilt:
            yield from self.package.list_failures(name, number + 1)
        elif name not in self.broken:
            yield locate_item(number, "build", name, unbuilt)
        self.package = _Package()

    def _name_package(self, name: str) -> Iterator[LocatedItem]:
        if name != self.name:
            yield from self.package.list_failures(self.name)
            self.package, self.name = _Package(), name


def _find_items(numbered: Iterable[tuple[int, str]]) -> Iterator[LocatedItem]:
    reader = _Reader()
    for number, line in numbered:
        yield from reader.read(number, line)
    yield from reader.package.list_failures(reader.name)


GO = OutputParser(
    ("--- FAIL: ", "=== FAIL: ", "FAIL\t", ".go:"), lambda lines: _find_items(enumerate(lines))
)


_MARKS = ('{"Time":', '{"Action":', '{"ImportPath":')


def _parse_json(lines: Sequence[str]) -> Iterator[LocatedItem]:
    outputs = dict[str, list[tuple[int, str]]]()
    for number, line in enumerate(lines):
        if line.startswith(_MARKS) and (event := _read_event(line)):
            package, text = event
            outputs.setdefault(package, []).append((number, text))
    for output in outputs.values():  # of each package, as their events are interleaved
        yield from _find_items(_join_lines(output))


def _read_event(line: str) -> tuple[str, str] | None:
    """Return the package of an event and its output; None if it has none."""
    event = parse_object(line)
    package, output = event.get("Package", event.get("ImportPath")), event.get("Output")
    if not (isinstance(package, str) and isinstance(output, str)):
        return None
    return package.partition(" ")[0], output  # what is built for a test says so in brackets


def _join_lines(output: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield whole lines: an event may hold a part of one."""
    text = ""
    for number, part in output:
        *lines, text = (text + part).split("\n")
        yield from ((number, line) for line in lines)
    if text:
        yield output[-1][0], text


GO_JSON = OutputParser(_MARKS, _parse_json)
