"""`python -m tests.benchmarks tasks`: commands as whole processes, and their memory."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks import EMPTY
from tests.benchmarks.map.processes import Cost, Place, cost, median, memory
from tests.benchmarks.tasks import made
from tests.conftest import git

RUNS = 5
_CUB = [sys.executable, "-m", "cub"]


class Row(NamedTuple):
    """A command, what it costs, its memory above an empty command's, and what it is held to."""

    command: str
    cost: Cost
    megabytes: float
    bar: str


def main(say: Callable[[str], None]) -> None:
    """Measure, and say the table."""
    say(f"Python {sys.version.split()[0]}, median of {RUNS} runs\n")
    say("| command | CPU s | wall s | MB above empty | |")
    say("| --- | ---: | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for row in _rows(Path(folder).resolve()):
            figures = f"{row.cost.cpu:.2f} | {row.cost.wall:.2f} | {row.megabytes:.0f}"
            say(f"| {row.command} | {figures} | {row.bar} |")


def _rows(scratch: Path) -> Iterator[Row]:
    home = scratch / "home"
    home.mkdir()
    empty = memory([sys.executable, "-c", EMPTY], Place(scratch, "", home)).largest
    for count, bar in ((10_000, "0.3 s"), (100_000, "1.5 s")):
        root = _repository(scratch / f"tasks-{count}")
        size = made.tasks(root, count).stat().st_size
        place = Place(root, "", home)
        note = f"{size / 1e6:.1f} MB; bar: {bar}, {3 * size / 1e6:.0f} MB"
        yield _row("task ready", f"`cub task ready`, {count:,} tasks", place, empty, note)
        for words in ("task ready --json", "task list", f"task show {made.name(7)}", "task stats"):
            yield _row(words, f"`cub {words}`, {count:,}", place, empty, "")
        edit = f"task edit {made.name(7)} -m x"
        yield _row(edit, f"`cub {edit}`, {count:,}", place, empty, "")
    root = _repository(scratch / "ledger")
    made.tasks(root, 1_000)
    size = made.ledger(root, 1_000_000).stat().st_size
    place = Place(root, "", home)
    for key, what in ((made.name(999), "a task of every 50,000 lines"), (made.name(7), "another")):
        note = f"{size / 1e6:.0f} MB; bar: 0.5 s"
        yield _row(f"prompt {key}", f"`cub prompt`, 1,000,000 lines, {what}", place, empty, note)
    words = "ledger show bakery-first"
    yield _row(words, "`cub ledger show`, of the first line alone", place, empty, "")


def _row(words: str, name: str, place: Place, empty: float, note: str) -> Row:
    command = [*_CUB, *words.split()]
    cost(command, place)
    costs = [cost(command, place) for _ in range(RUNS)]
    above = memory(command, place).largest - empty
    return Row(name, median(costs), above / 1e6, note)


def _repository(root: Path) -> Path:
    root.mkdir()
    git(root, "init", "-q")
    return root
