"""What pytest tells: its short summary, the tracebacks, the list of `-v`."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cub.checks.items import Item
from cub.checks.pytest_blocks import Block
from cub.checks.pytest_parts import title_of
from cub.checks.pytest_stops import STOPS, stopped
from cub.checks.tool import Found, Tool

_KINDS = {"FAILED": "test", "ERROR": "error"}
_MODES = {"FAILURES": "test", "ERRORS": "error", "short test summary info": "summary"}
_SUBTEST = re.compile(r"SUBFAIL(?:ED)?(?P<name>[\[( ].*?[\])]) (?P<rest>[^\s\])][^\])]*?::.*)")


@dataclass(slots=True)
class _Run:
    """One run of pytest; a log may have several."""

    root: str = ""
    blocks: list[Block] = field(default_factory=list)
    summary: list[tuple[int, str]] = field(default_factory=list)
    listed: list[Found] = field(default_factory=list)

    def found(self) -> list[Found]:
        """The summary's items with the messages of the tracebacks, or theirs where it is silent."""
        blocks = dict[tuple[str, str], deque[Block]]()
        for block in self.blocks:
            blocks.setdefault((block.kind, block.label), deque()).append(block)
        told = [one for line, text in self.summary for one in _told(line, text, blocks)]
        kinds = {one.item.kind for one in told}
        rest = [
            Found(block.line, Item(block.kind, block.where(self.root), block.message("")))
            for block in self.blocks
            if block.kind not in kinds
        ]
        return told + rest or self.listed


def _told(line: int, text: str, blocks: dict[tuple[str, str], deque[Block]]) -> Iterator[Found]:
    word, _, rest = text.partition(" ")
    subtest = _SUBTEST.fullmatch(text)
    if subtest:
        word, rest = "FAILED", subtest["rest"]
    if word not in _KINDS or not rest or rest[0] == " ":
        return
    where, message = _parted(rest)
    label = _label(where)
    if subtest:
        where, label = (f"{name} {subtest['name'].strip()}" for name in (where, label))
    path = where.partition("::")[0]  # what crashed has no other title
    block = blocks.get((_KINDS[word], label)) or blocks.get((_KINDS[word], path))
    message = block.popleft().message(message) if block else message
    yield Found(line, Item(_KINDS[word], where, message))


def _parted(text: str) -> tuple[str, str]:
    """The test's name and the message: " - " may stand in a parameter, too."""
    at = first = text.find(" - ")
    while at >= 0:
        name = text[:at].partition("::")[2]
        if "[" not in name or name.endswith("]"):
            return text[:at], text[at + 3 :]
        at = text.find(" - ", at + 1)
    return (text[:first], text[first + 3 :]) if first >= 0 else (text, "")


def _label(where: str) -> str:
    """The name as it heads the test's traceback."""
    path, _, name = where.partition("::")
    name, bracket, parameters = name.partition("[")
    return name.replace("::", ".") + bracket + parameters if name else path


def _parse(lines: Sequence[str]) -> Iterator[Found]:
    run, mode = _Run(), ""
    for number, line in enumerate(lines):
        if (title := title_of(line, "=")) is not None:
            if title == "test session starts" or (mode == "summary" and title in _MODES):
                yield from run.found()
                run = _Run()
            mode = _MODES.get(title, "")
        elif mode == "summary":
            run.summary.append((number, line))
        elif mode and (title := title_of(line, "_")) is not None:
            run.blocks.append(Block(number, mode, title))
        elif mode and run.blocks:
            run.blocks[-1].lines.append(line)
        elif line.startswith("rootdir: "):
            run.root = line[9:].partition(", ")[0]
        else:
            run.listed += _listed(number, line)
    yield from run.found()


def _listed(number: int, line: str) -> Iterator[Found]:
    """A line of `-v`, alone or of a worker's."""
    if not line.endswith("%]") and "%] " not in line:
        return
    for word, kind in _KINDS.items():
        before, _, after = line.rpartition(f" {word} ")
        name = after if before.endswith("%]") else before
        if "::" in name and (name is after or after.strip().startswith("[")):
            yield Found(number, Item(kind, name, ""))


def _all(lines: Sequence[str]) -> list[Found]:
    return [*stopped(lines), *_parse(lines)]


PYTEST = Tool(
    (
        "= test session starts =",
        "= FAILURES =",
        "= ERRORS =",
        "= short test summary info =",
        *STOPS,
    ),
    _all,
)
