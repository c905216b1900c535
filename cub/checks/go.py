"""What `go test`, `go build` and `go vet` tell, and gotestsum, which shows the same lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cub.checks.go_package import Package
from cub.checks.items import Item
from cub.checks.tool import Found, Tool

_SUMMED = re.compile(r"=== FAIL: (\S+) (\S.*) \(\d+\.\d+s\)")  # gotestsum's
_ENDED = re.compile(r"FAIL\t(\S+)(?:\t\S+| \[(\w+ failed)\])")
_FINE = ("ok  \t", "?   \t")
_COMPILED = re.compile(r"# ([\w.~/-]+)(?: \[[\w.~/-]+\])?")
_POSITION = re.compile(r"(?:vet: )?(\S+\.go:\d+(?::\d+)?): (.*)")


@dataclass(slots=True)
class _Reader:
    """Where in the output it is: in a package's tests, or in what the compiler found."""

    package: Package = field(default_factory=Package)
    name: str = ""  # of the package, where it is told before its tests
    broken: set[str] = field(default_factory=set)
    compiling: bool = False

    def read(self, number: int, line: str) -> Iterator[Found]:
        if compiled := _COMPILED.fullmatch(line):
            self.broken.add(compiled[1])
            self.compiling = True
        elif self.compiling and (position := _POSITION.fullmatch(line)):
            yield Found(number, Item("build", *position.groups()))
        elif not (self.compiling and line.startswith("\t")):
            self.compiling = False
            yield from self._tested(number, line)

    def _tested(self, number: int, line: str) -> Iterator[Found]:
        if ended := _ENDED.fullmatch(line):
            yield from self._ended(number, *ended.groups())
        elif line.startswith(_FINE):
            self.package = Package()
        elif summed := _SUMMED.fullmatch(line):
            yield from self._named(summed[1])
            self.package.failed(summed[2], number)
        else:
            self.package.read(number, line)

    def _ended(self, number: int, name: str, unbuilt: str | None) -> Iterator[Found]:
        if not unbuilt:
            yield from self.package.found(name, number + 1)
        elif name not in self.broken:
            yield Found(number, Item("build", name, unbuilt))
        self.package = Package()

    def _named(self, name: str) -> Iterator[Found]:
        if name != self.name:
            yield from self.package.found(self.name)
            self.package, self.name = Package(), name


def items_of(numbered: Iterable[tuple[int, str]]) -> Iterator[Found]:
    """The items in lines that come with their numbers."""
    reader = _Reader()
    for number, line in numbered:
        yield from reader.read(number, line)
    yield from reader.package.found(reader.name)


def _parse(lines: Sequence[str]) -> Iterator[Found]:
    return items_of(enumerate(lines))


GO = Tool(("--- FAIL: ", "=== FAIL: ", "FAIL\t", ".go:"), _parse)
