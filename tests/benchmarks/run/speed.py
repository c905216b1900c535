"""`python -m tests.benchmarks run`: runs over trivial tasks; the agent does next to nothing.

What git, the process that holds the agent and the agent cost is in the figures. Agents that cub
knows are played by a shell that prints what the real one printed; that of the Agent Client Protocol
is a small one in Python.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cub.store.store_paths import TASKS_FILE
from tests.benchmarks.map.processes import Cost, Place, cost, memory
from tests.benchmarks.tasks.made import name
from tests.conftest import git

_WORK = 'echo "$CUB_TASK" > "$CUB_TASK.txt"'
_CLIENT = f"cat > /dev/null; {_WORK}"
_RUN = (sys.executable, "-m", "cub", "run", "--trust", "--json", "--harness")
_BAR = 0.25  # seconds of CPU, for each attempt
# How many tasks, without a check, and with one.
_WITHOUT, _WITH = (1, 10, 100, 1_000), (1, 100)
_WATCHED = (100, 1_000)  # runs that go a second time, for their memory
_MINE = {"mine": {"argv": ["/bin/sh", "-c", _CLIENT]}}
_AGENT = """#!/bin/sh
if [ "$1" = --version ]; then echo 99.0.0; exit; fi
{client}
cat "{sample}"
"""
_SAMPLES = {
    "claude": "claude-2.1.330-t0", "codex": "codex-t0", "gemini": "gemini-t0",
    "opencode": "opencode-t0", "aider": "aider-0.86.2-t0",
}  # fmt: skip
_ACP_AGENT = Path(__file__).parents[2] / "harness/acp/misbehaving_agent.py"
_ACP_STEPS = (
    {"do": _WORK},
    {"say": "Done."},
    {"result": {"stopReason": "end_turn", "usage": {"inputTokens": 1000, "outputTokens": 50}}},
)
_AGENT_TASKS = (1, 30)
_SLOW = {"mine": {"argv": ["/bin/sh", "-c", f"{_CLIENT}; sleep 2"]}}
_JOBS_TASKS, _JOBS, _JOBS_BAR = 8, 4, 0.35  # of the time that the tasks take one after another


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
        say("\n| agent | CPU s an attempt |\n| --- | ---: |")
        for agent, harness in _agents(Path(folder).resolve()):
            say(f"| {agent} | {_attempt(Path(folder).resolve(), agent, harness):.3f} |")
        one, several = measure_jobs(Path(folder).resolve())
        say("\n| tasks of 2 s | wall s, --jobs 1 | --jobs 4 | ratio | bar |")
        say("| ---: | ---: | ---: | ---: | ---: |")
        said = f"{one:.2f} | {several:.2f} | {several / one:.2f} | {_JOBS_BAR}"
        say(f"| {_JOBS_TASKS} | {said} |")
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
    command = [*_RUN, "mine", *words]
    for count in counts:
        watched = count in _WATCHED and len(words) == 1
        root = scratch / f"{count}-{len(words)}"
        spent = cost(command, Place(_repository(root, count, _MINE), "", home))
        again = root.with_name(f"{root.name}-watched")
        largest = (
            memory(command, Place(_repository(again, count, _MINE), "", home)).largest
            if watched
            else 0
        )
        yield Row(count, spent, largest / 1e6)


def _agents(scratch: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield stand-ins for the agents of which there are samples, and an agent for ACP."""
    bin_folder, shared = scratch / "bin", os.environ.get("CUB_SHARED")
    bin_folder.mkdir()
    for agent, stem in _SAMPLES.items() if shared else ():
        program, sample = bin_folder / agent, Path(shared or "", "samples", f"{stem}.out")
        program.write_text(_AGENT.format(client=_CLIENT, sample=sample))
        program.chmod(0o755)
        yield agent, {"env": {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}}
    steps = (json.dumps(step) for step in _ACP_STEPS)
    yield "acp-agent", {"acp": [sys.executable, str(_ACP_AGENT), *steps]}


def _attempt(scratch: Path, agent: str, harness: Mapping[str, Any]) -> float:
    """Return the seconds of CPU of each attempt beyond the first one."""
    command = [*_RUN, agent, "--no-checks"]
    roots = [
        _repository(scratch / f"{agent}-{count}", count, {agent: harness}) for count in _AGENT_TASKS
    ]
    one, many = (cost(command, Place(root, "", scratch / "home")).cpu for root in roots)
    return (many - one) / (_AGENT_TASKS[1] - _AGENT_TASKS[0])


def measure_jobs(scratch: Path) -> tuple[float, float]:
    """Return the seconds of a run over tasks that wait, with one job and with several."""
    one, several = (
        cost(
            [*_RUN, "mine", "--no-checks", "--jobs", str(jobs)],
            Place(_repository(scratch / f"jobs-{jobs}", _JOBS_TASKS, _SLOW), "", scratch / "home"),
        ).wall
        for jobs in (1, _JOBS)
    )
    return one, several


def _repository(root: Path, count: int, harnesses: Mapping[str, Any]) -> Path:
    (root / ".cub").mkdir(parents=True)
    git(root, "init", "-q")
    for key, value in (("user.name", "t"), ("user.email", "t@t")):
        git(root, "config", key, value)
    config = {"harnesses": harnesses}
    (root / ".cub" / "config.yaml").write_text(json.dumps(config), encoding="utf-8")
    with (root / TASKS_FILE).open("w", encoding="utf-8") as file:
        for number in range(count):
            task = {"id": name(number), "title": f"Bake loaf {number}", "status": "open"}
            file.write(json.dumps({**task, "created_at": "2026-01-01T08:00:00.000Z"}) + "\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")
    return root
