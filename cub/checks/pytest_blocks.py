"""A traceback of pytest: whose it is, where it began and what was raised."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_PHASE = re.compile(r"ERROR (?:at \w+ of|collecting) (.+)")
_PLACE = re.compile(r'(?:  File "(?P<native>[^"]+)", line \d+|(?P<path>[^\s:][^:]*\.py):\d+: ?).*')
_EXCEPTION = re.compile(r"(?![\d.])[\w.]*(?:Error|Exception|Warning|Failed|Exit|Interrupt)\b.*")


@dataclass(slots=True)
class Block:
    """A traceback under its title, in the part of failures or of errors."""

    line: int
    kind: str
    title: str
    lines: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The test's name without its file, or the file that could not be collected."""
        phase = _PHASE.fullmatch(self.title)
        return phase[1] if phase else self.title

    def where(self, root: str) -> str:
        """The test's id, as well as the traceback tells it."""
        if self.title.startswith("ERROR collecting "):
            return self.label
        paths = [path.removeprefix(root + "/") for path in self._paths()]
        path = next(filter(_is_test, paths), paths[0] if paths else "")
        name, bracket, rest = self.label.partition("[")
        name = name.replace(".", "::") + bracket + rest
        return f"{path}::{name}" if path else name

    def message(self, told: str) -> str:
        """The exception's first line; `told` is what the summary says, which may be cut short."""
        raised = list(self._raised())
        start = told.removesuffix("...")
        texts = [text for block in reversed(raised) for text in block] + self.lines
        if told and (whole := next((text for text in texts if text.startswith(start)), "")):
            return whole
        if told and start == told:
            return told
        last = raised[-1] if raised else list(filter(_EXCEPTION.match, self.lines))[-1:]
        return next(filter(_EXCEPTION.match, last), "") or (last[0] if last else self._first())

    def _first(self) -> str:
        words = (line for line in self.lines if line.strip() and not line.startswith("[gw"))
        return next(words, "")

    def _paths(self) -> Iterator[str]:
        for line in self.lines:
            if place := _PLACE.fullmatch(line):
                yield place["native"] or place["path"]

    def _raised(self) -> Iterator[list[str]]:
        """What is marked with an E, in pieces: one for each exception of a chain."""
        piece = list[str]()
        for line in [*self.lines, ""]:
            if line.startswith("E   "):
                piece.append(line[4:].strip())
            elif piece:
                yield piece
                piece = []


def _is_test(path: str) -> bool:
    name = posixpath.basename(path.replace("\\", "/"))
    return name.startswith("test_") or name.endswith("_test.py")
