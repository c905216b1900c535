"""The tests of one Go package: which failed, and what they said last."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from cub.checks.items import Item
from cub.checks.tool import Found

_END = re.compile(r" *--- (PASS|FAIL|SKIP): (\S+) \(\d+\.\d+s\)")
_BEGIN = re.compile(r"=== (?:RUN|CONT|NAME|PAUSE) +(\S+)")
_LOGGED = re.compile(r"\s+\S+\.go:\d+: ?(.*)")
_ASSERTED = re.compile(r"\s+Error:\s+(\S.*)")  # testify's, some lines below
_CRASH = re.compile(r"((?:panic|fatal error): .+?)(?: \[recovered.*)?")
_EXIT = ("exit status ", "signal: ")
_DEEPEST = 200  # characters of a name in which its parents are looked for


@dataclass(slots=True)
class Package:
    """What is known of the package whose output is read."""

    tests: dict[str, int] = field(default_factory=dict)  # the failed ones and their lines
    notes: dict[str, str] = field(default_factory=dict)
    current: str = ""
    crash: str = ""
    exit: str = ""

    def read(self, number: int, line: str) -> None:
        """Follow which test runs, and which failed."""
        if end := _END.fullmatch(line):
            if end[1] == "FAIL":
                self.failed(end[2], number)
            self.current = end[2]
        elif begin := _BEGIN.fullmatch(line):
            self.current = begin[1]
        else:
            self._log(line)

    def failed(self, test: str, number: int) -> None:
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

    def found(self, name: str, line: int = 0) -> Iterator[Found]:
        """The failed tests, but those that only hold failed ones; or why none was run."""
        parents = {test[:at] for test in self.tests for at in _slashes(test)}
        for test, number in self.tests.items():
            if test not in parents or test in self.notes:
                where = f"{name}.{test}" if name else test
                yield Found(number, Item("test", where, self.notes.get(test, "")))
        explained = self.tests and (not self.crash or self.crash in self.notes.values())
        if name and line and not explained:
            yield Found(line, Item("error", name, self.crash or self.exit))


def _slashes(test: str) -> list[int]:
    return [at for at, sign in enumerate(test[:_DEEPEST]) if sign == "/"]
