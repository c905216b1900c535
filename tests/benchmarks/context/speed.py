"""`python -m tests.benchmarks context`: commands of `cub context`, beside what they are held to.

Each row is a whole `cub context` with some commands; its seconds are net of one without any.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cub.processes.orphans import kill_by_environment
from tests.benchmarks.map.processes import Place, cost, median, memory
from tests.conftest import git

RUNS = 5
_CUB = (sys.executable, "-m", "cub", "context", "--trust", "--prompt", "Fix it.")
_STUBBORN = "trap '' INT TERM; sleep 60; sleep 60"
_MEGABYTES = 100


class Case(NamedTuple):
    """Commands that run side by side, and how many seconds they may take."""

    name: str
    lines: Sequence[str]
    bar: float | None


_CASES = (
    Case("`true`", ("true",), None),
    Case("8 of `sleep 0.5`, side by side", ("sleep 0.5",) * 8, 0.6),
    Case("a job in the background, `sleep 60 &`", ("sleep 60 & echo done",), None),
    Case("1 s, and a grandchild on the pipe", ("sleep 60 & sleep 60",), 1.5),
    Case("1 s, and `sleep 60 \\| cat`", ("sleep 60 | cat",), 1.5),
    Case("1 s, and TERM trapped", (_STUBBORN,), 1.5),
    Case("1 s, and TERM trapped in another session", (f'setsid sh -c "{_STUBBORN}"',), 1.5),
    Case("1 s, and both of these", (f'setsid sh -c "{_STUBBORN}" & {_STUBBORN}',), 1.5),
    Case("50 MB of output", ("head -c 50000000 /dev/zero | tr '\\0' x",), None),
)


class Row(NamedTuple):
    """What a case takes: seconds net, megabytes of the largest process, and processes left."""

    cpu: float
    wall: float
    megabytes: float
    left: int


def main(say: Callable[[str], None]) -> None:
    """Measure, and say the table."""
    say(f"Python {sys.version.split()[0]}, median of {RUNS} runs, bar of memory: {_MEGABYTES} MB\n")
    say("| commands | s | bar | CPU s | MB | processes left |")
    say("| --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for case, row in _rows(Path(folder).resolve()):
            bar = "" if case.bar is None else f"{case.bar:g}"
            figures = f"{row.wall:.3f} | {bar} | {row.cpu:.3f} | {row.megabytes:.0f} | {row.left}"
            say(f"| {case.name} | {figures} |")


def _rows(scratch: Path) -> Iterator[tuple[Case, Row]]:
    home = scratch / "home"
    home.mkdir()
    empty = Place(_repository(scratch / "empty", ()), "", home)
    for number, case in enumerate(_CASES):
        place = Place(_repository(scratch / str(number), case.lines), "", home)
        cost(_CUB, place)
        # In turn, so that a machine whose speed drifts drifts for both.
        costs = [(cost(_CUB, place), cost(_CUB, empty)) for _ in range(RUNS)]
        nets = [one.less(none) for one, none in costs]
        megabytes = memory(_CUB, place).largest / 1e6
        left = kill_by_environment(("HOME", str(home)))  # no other process has this one
        yield case, Row(*median(nets), megabytes, left)


def _repository(root: Path, lines: Sequence[str]) -> Path:
    (root / ".cub").mkdir(parents=True)
    git(root, "init", "-q")
    commands = [{"name": line, "command": line, "timeout": "1s"} for line in lines]
    config = json.dumps({"context_commands": commands, "context_parallel": len(lines) or 1})
    (root / ".cub" / "config.yaml").write_text(config, encoding="utf-8")
    return root
