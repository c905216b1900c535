"""`python -m tests.benchmarks run`: runs over trivial tasks; the client does next to nothing.

What git, the process that holds the client and the client cost is in the figures.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cub.store.store_paths import TASKS_FILE
from tests.benchmarks.map.processes import Cost, Place, cost, memory
from tests.benchmarks.tasks.made import name
from tests.conftest import git

_CLIENT = 'cat > /dev/null; echo "$CUB_TASK" > "$CUB_TASK.txt"'
_RUN = (sys.executable, "-m", "cub", "run", "--harness", "mine", "--trust", "--json")
_BAR = 0.25  # seconds of CPU, for each attempt
# How many tasks, without a check, and with one.
_WITHOUT, _WITH = (1, 10, 100, 1_000), (1, 100)
_WATCHED = (100, 1_000)  # runs that go a second time, for their memory


class Row(NamedTuple):
    """A run over so many tasks: what it cost, and the memory of its largest process."""

    tasks: int
    cost: Cost
    megabytes: float


def main(say: Callable[[str], None]) -> None:
    """Measure, and say the table."""
    say(f"Python {sys.version.split()[0]}\n")
    say("| tasks | checks | CPU s | wall s | CPU s an attempt | MB |")
    say("| ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for counts, words in ((_WITHOUT, ("--no-checks",)), (_WITH, ("--check", "true"))):
            first: Row | None = None
            for row in _rows(Path(folder).resolve(), counts, words):
                first = first or row
                say(_said(row, first, len(words) - 1))
    say(f"\nAn attempt is what each task costs beyond the first one; bar: {_BAR} s.")


def _said(row: Row, first: Row, checks: int) -> str:
    more = row.tasks - first.tasks
    each = f"{(row.cost.cpu - first.cost.cpu) / more:.3f}" if more else ""
    largest = f"{row.megabytes:.0f}" if row.megabytes else ""
    spent = f"{row.cost.cpu:.2f} | {row.cost.wall:.2f}"
    return f"| {row.tasks:,} | {checks} | {spent} | {each} | {largest} |"


def _rows(scratch: Path, counts: Sequence[int], words: Sequence[str]) -> Iterator[Row]:
    home = scratch / "home"
    home.mkdir(exist_ok=True)
    command = [*_RUN, *words]
    for count in counts:
        watched = count in _WATCHED and len(words) == 1
        root = scratch / f"{count}-{len(words)}"
        spent = cost(command, Place(_repository(root, count), "", home))
        again = root.with_name(f"{root.name}-watched")
        largest = (
            memory(command, Place(_repository(again, count), "", home)).largest if watched else 0
        )
        yield Row(count, spent, largest / 1e6)


def _repository(root: Path, count: int) -> Path:
    (root / ".cub").mkdir(parents=True)
    git(root, "init", "-q")
    for key, value in (("user.name", "t"), ("user.email", "t@t")):
        git(root, "config", key, value)
    config = {"harnesses": {"mine": {"argv": ["/bin/sh", "-c", _CLIENT]}}}
    (root / ".cub" / "config.yaml").write_text(json.dumps(config), encoding="utf-8")
    with (root / TASKS_FILE).open("w", encoding="utf-8") as file:
        for number in range(count):
            task = {"id": name(number), "title": f"Bake loaf {number}", "status": "open"}
            file.write(json.dumps({**task, "created_at": "2026-01-01T08:00:00.000Z"}) + "\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")
    return root
