"""`python -m tests.benchmarks run`: runs over trivial tasks; the client does next to nothing.

What git, the process that holds the client and the client cost is in the figures.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from cub.store.place import TASKS
from tests.benchmarks.map.processes import Cost, Place, cost, memory
from tests.benchmarks.tasks.made import name
from tests.conftest import git

COUNTS = (1, 10, 100, 1_000)
_CLIENT = 'cat > /dev/null; echo "$CUB_TASK" > "$CUB_TASK.txt"'
_RUN = (sys.executable, "-m", "cub", "run", "--harness", "mine", "--trust", "--json")
_BAR = 0.15  # seconds of CPU, for each attempt


class Row(NamedTuple):
    """A run over so many tasks: what it cost, and the memory of its largest process."""

    tasks: int
    cost: Cost
    megabytes: float


def main(say: Callable[[str], None]) -> None:
    """Measure, and say the table."""
    say(f"Python {sys.version.split()[0]}\n")
    say("| tasks | checks | CPU s | wall s | CPU s an attempt | MB |")
    say("| ---: | --- | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for check in ((), ("--check", "true")):
            first: Row | None = None
            for row in _rows(Path(folder).resolve(), check):
                first = first or row
                each = (row.cost.cpu - first.cost.cpu) / (row.tasks - 1) if row.tasks > 1 else 0.0
                figures = f"{row.cost.cpu:.2f} | {row.cost.wall:.2f} | {each:.3f}"
                say(f"| {row.tasks:,} | {len(check) // 2} | {figures} | {row.megabytes:.0f} |")
    say(f"\nAn attempt is what each task costs beyond the first one; bar: {_BAR} s.")


def _rows(scratch: Path, check: tuple[str, ...]) -> Iterator[Row]:
    home = scratch / "home"
    home.mkdir(exist_ok=True)
    for count in COUNTS:
        words = [*_RUN, *(check or ("--no-checks",))]
        places = [
            Place(_repository(scratch / f"{count}-{len(check)}-{n}", count), "", home)
            for n in range(2)
        ]
        spent = cost(words, places[0])
        largest = memory(words, places[1]).largest if count > 1 else 0.0
        yield Row(count, spent, largest / 1e6)


def _repository(root: Path, count: int) -> Path:
    (root / ".cub").mkdir(parents=True)
    git(root, "init", "-q")
    for key, value in (("user.name", "t"), ("user.email", "t@t")):
        git(root, "config", key, value)
    config = {"harnesses": {"mine": {"argv": ["/bin/sh", "-c", _CLIENT]}}}
    (root / ".cub" / "config.yaml").write_text(json.dumps(config), encoding="utf-8")
    with (root / TASKS).open("w", encoding="utf-8") as file:
        for number in range(count):
            task = {"id": name(number), "title": f"Bake loaf {number}", "status": "open"}
            file.write(json.dumps({**task, "created_at": "2026-01-01T08:00:00.000Z"}) + "\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")
    return root
