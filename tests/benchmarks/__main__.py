"""`python -m tests.benchmarks`: what commands cost as whole processes; prints a Markdown table.

`python -m tests.benchmarks map` measures the project map instead: see tests/benchmarks/map.
`python -m tests.benchmarks tasks` measures tasks, ledger and prompts, `run` a run's own cost,
`large` files of extreme size or form, `context` the commands of `cub context`, `agent` the built-in
agent, `cache` what its cuts of old results cost, `peers` the agent beside others, and
`peers scenarios` what all of them do in difficult cases. `verdicts` measures nothing: it runs
agents that are right and wrong on real packages.

Each command runs RUNS times after a warm-up, in turn with what it is compared to, so that a
machine whose speed drifts drifts for both; the figures are medians. CPU is user and system
time of the process and its children, as the kernel counts it.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cub.actions.review.review import review_range
from cub.git.commit_tree import CommitRange
from cub.git.objects import ObjectReader
from cub.prompt.templates import TemplateSet
from tests.benchmarks import EMPTY, history
from tests.benchmarks.agent.cache import main as of_cache
from tests.benchmarks.agent.peers import main as of_peers
from tests.benchmarks.agent.scenarios import main as of_scenarios
from tests.benchmarks.agent.speed import main as of_agent
from tests.benchmarks.context.speed import main as of_contexts
from tests.benchmarks.large import PROSE
from tests.benchmarks.large import main as of_large_files
from tests.benchmarks.map.processes import Cost, Place, cost, measure, median
from tests.benchmarks.map.run import main as of_maps
from tests.benchmarks.run.speed import main as of_runs
from tests.benchmarks.run.verdicts import main as of_verdicts
from tests.benchmarks.tasks.speed import main as of_tasks
from tests.conftest import git

RUNS = 9
_CUB = [sys.executable, "-m", "cub"]
_PARTS = {
    "tasks": of_tasks,
    "large": of_large_files,
    "run": of_runs,
    "agent": of_agent,
    "peers": of_peers,
    "cache": of_cache,
    "context": of_contexts,
}
# It looks for all problems, and reports those that end with 0 in a project without an agent.
_DOCTOR = [*_CUB, "doctor", "--select", "D6"]


class Row(NamedTuple):
    """A line of the table."""

    name: str
    cost: Cost
    bar: str


def _pair(ours: list[str], theirs: list[str], place: Place) -> tuple[Cost, Cost, float]:
    """Both medians, and the median of the ratios of CPU, pair by pair."""
    pairs = [(cost(ours, place), cost(theirs, place)) for _ in range(RUNS + 1)][1:]
    ratio = statistics.median(a.cpu / b.cpu for a, b in pairs)
    return median([a for a, _ in pairs]), median([b for _, b in pairs]), ratio


def _alone(command: list[str], place: Place, prepare: Callable[[], object] = lambda: None) -> Cost:
    costs = []
    for _ in range(RUNS + 1):
        prepare()
        costs.append(cost(command, place))
    return median(costs[1:])


def _repository(folder: Path, text: str) -> Path:
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "AGENTS.md").write_text(text)
    return folder


def _rows(scratch: Path) -> list[Row]:
    home = scratch / "home"
    home.mkdir()
    python = sys.executable
    small = Place(_repository(scratch / "small", "# Rules\n"), "", home)
    cost([*_CUB, "init"], small)
    version = _pair([*_CUB, "--version"], [python, "-c", "import typer"], small)
    idle = _pair([*_CUB, "update"], [python, "-c", EMPTY], small)
    rows = [
        Row("`python -c 'import typer'`", version[1], ""),
        Row("`cub --version`", version[0], f"{version[2]:.2f} times the above (bar: 1.3)"),
        Row("an empty typer command", idle[1], ""),
        Row("`cub update`, nothing to do", idle[0], f"{idle[2]:.2f} times the above (bar: 2)"),
        Row("`cub doctor`", _alone(_DOCTOR, small), "bar: 0.6 s of CPU"),
    ]
    rows += [
        _big(scratch, size, bar, home)
        for size, bar in ((150_000, "bar: 0.4 s"), (1_000_000, "linear"))
    ]
    return rows + _reviews(scratch, home)


def _big(scratch: Path, size: int, bar: str, home: Path) -> Row:
    """A section is refreshed in the middle of a file of `size` bytes."""
    half = PROSE * (size // len(PROSE) // 2)
    place = Place(_repository(scratch / str(size), half), "", home)
    cost([*_CUB, "init"], place)
    file = place.root / "AGENTS.md"
    stale = file.read_text().replace("SECTION v1", "SECTION v0") + "\n" + half
    spent = _alone([*_CUB, "update"], place, lambda: file.write_text(stale))
    return Row(f"`cub update`, a section in {size / 1e6:g} MB", spent, bar)


def _reviews(scratch: Path, home: Path) -> list[Row]:
    """Each commit of a history on its own, with a git of its own; and one as a whole process."""
    root = scratch / "history"
    templates = history.next_version(scratch / "templates")
    pairs = history.build(root, templates)
    _review(root, templates, *pairs[-1])  # a warm-up
    costs = sorted(measure(partial(_review, root, templates, *ends)) for ends in pairs)
    base = f"{pairs[0][0]}..{pairs[0][0]}"
    count = f"{len(costs):,} commits"
    return [
        Row("`cub diff A..A`: the start", _alone([*_CUB, "diff", base], Place(root, "", home)), ""),
        Row(f"a review beyond the start, median of {count}", median(costs), "bar: 0.05 s"),
        Row(f"the dearest of {count}", costs[-1], "bar: 0.05 s"),
    ]


def _review(root: Path, templates: TemplateSet, base: str, head: str) -> None:
    with ObjectReader(root) as objects:
        ends = CommitRange(base, head, "", "")
        found = review_range(objects, ends, root=root, templates=templates)
    assert not found.has_hand_edits, head


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


def main() -> None:
    """Measure what the first word names, or else commands, and print the table."""
    part, words = "".join(sys.argv[1:2]), sys.argv[2:]
    if part == "peers" and words:
        of_scenarios(words[1:], _say)
    elif part == "map":
        of_maps(words, _say)
    elif part == "verdicts":
        sys.exit(of_verdicts(words, _say))
    elif part:
        _PARTS[part](_say)
    else:
        _measure_commands()


def _measure_commands() -> None:
    _say(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, median of {RUNS} runs\n")
    _say("| command | CPU s | wall s | |")
    _say("| --- | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory() as scratch:
        for row in _rows(Path(scratch).resolve()):
            _say(f"| {row.name} | {row.cost.cpu:.3f} | {row.cost.wall:.3f} | {row.bar} |")


if __name__ == "__main__":
    main()
