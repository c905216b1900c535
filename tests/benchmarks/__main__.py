"""`python -m tests.benchmarks`: what commands cost as whole processes; prints a Markdown table.

`python -m tests.benchmarks map` measures the project map instead: see tests/benchmarks/map.
`python -m tests.benchmarks tasks` measures tasks, ledger and prompts, `run` a run's own cost,
`large` files of extreme size or form, `context` the commands of `cub context`, `agent` the built-in
agent. `verdicts` measures nothing: it runs agents that are right and wrong on real packages.

Each command runs RUNS times after a warm-up, in turn with what it is compared to, so that a
machine whose speed drifts drifts for both; the figures are medians. CPU is user and system
time of the process and its children, as the kernel counts it.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from cub.actions.review.review import review_range
from cub.git import CommitRange, ObjectReader
from tests.benchmarks import EMPTY, history
from tests.benchmarks.agent.speed import main as of_agent
from tests.benchmarks.context.speed import main as of_contexts
from tests.benchmarks.large import main as of_large_files
from tests.benchmarks.map.run import main as of_maps
from tests.benchmarks.run.speed import main as of_runs
from tests.benchmarks.run.verdicts import main as of_verdicts
from tests.benchmarks.tasks.speed import main as of_tasks
from tests.conftest import environment, git

RUNS = 9
PARAGRAPH = (
    "## Building\n\nRun `make` before you commit; it takes *about* a minute on a laptop, and the\n"
    "first run takes longer. See [the guide](docs/guide.md) for what each target does.\n\n"
    "- `make test` runs the unit tests\n- `make lint` runs the linters\n\n"
    "```sh\nmake test lint\n```\n\n"
)

# It looks for all problems, and reports those that end with 0 in a project without an agent.
_DOCTOR = [sys.executable, "-m", "cub", "doctor", "--select", "D6"]


class Cost(NamedTuple):
    """Seconds of CPU and of wall time of one run."""

    cpu: float
    wall: float


class Row(NamedTuple):
    """A line of the table."""

    name: str
    cost: Cost
    bar: str


def _run(command: list[str], cwd: Path, home: Path) -> Cost:
    before, start = _used(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=cwd, env=environment(home), capture_output=True, check=True)
    wall = time.perf_counter() - start
    return Cost(_used(resource.RUSAGE_CHILDREN) - before, wall)


def _used(*whose: int) -> float:
    """Seconds of CPU so far."""
    found = [resource.getrusage(who) for who in whose]
    return sum(usage.ru_utime + usage.ru_stime for usage in found)


def _median(costs: list[Cost]) -> Cost:
    return Cost(statistics.median(c.cpu for c in costs), statistics.median(c.wall for c in costs))


def _pair(ours: list[str], theirs: list[str], cwd: Path, home: Path) -> tuple[Cost, Cost, float]:
    """Both medians, and the median of the ratios of CPU, pair by pair."""
    _run(ours, cwd, home)
    _run(theirs, cwd, home)
    pairs = [(_run(ours, cwd, home), _run(theirs, cwd, home)) for _ in range(RUNS)]
    ratio = statistics.median(a.cpu / b.cpu for a, b in pairs)
    return _median([a for a, _ in pairs]), _median([b for _, b in pairs]), ratio


def _alone(command: list[str], cwd: Path, home: Path, prepare: Callable[[], object]) -> Cost:
    costs = []
    for _ in range(RUNS + 1):
        prepare()
        costs.append(_run(command, cwd, home))
    return _median(costs[1:])


def _repository(folder: Path, text: str) -> Path:
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "AGENTS.md").write_text(text)
    return folder


def _rows(scratch: Path) -> list[Row]:
    home = scratch / "home"
    home.mkdir()
    cub, python = [sys.executable, "-m", "cub"], sys.executable
    small = _repository(scratch / "small", "# Rules\n")
    _run([*cub, "init"], small, home)
    version = _pair([*cub, "--version"], [python, "-c", "import typer"], small, home)
    idle = _pair([*cub, "update"], [python, "-c", EMPTY], small, home)
    rows = [
        Row("`python -c 'import typer'`", version[1], ""),
        Row("`cub --version`", version[0], f"{version[2]:.2f} times the above (bar: 1.3)"),
        Row("an empty typer command", idle[1], ""),
        Row("`cub update`, nothing to do", idle[0], f"{idle[2]:.2f} times the above (bar: 2)"),
        Row("`cub doctor`", _alone(_DOCTOR, small, home, lambda: None), "bar: 0.6 s of CPU"),
    ]
    for size, bar in ((150_000, "bar: 0.4 s"), (1_000_000, "linear")):
        rows.append(_big(scratch, size, bar, home))
    rows += [row for count in (1, 200) for row in _many(scratch, count, home)]
    return rows + _reviews(scratch, home)


def _big(scratch: Path, size: int, bar: str, home: Path) -> Row:
    """A section is refreshed in the middle of a file of `size` bytes."""
    half = PARAGRAPH * (size // len(PARAGRAPH) // 2)
    root = _repository(scratch / str(size), half)
    command = [sys.executable, "-m", "cub"]
    _run([*command, "init"], root, home)
    file = root / "AGENTS.md"
    stale = file.read_text().replace("SECTION v1", "SECTION v0") + "\n" + half
    cost = _alone([*command, "update"], root, home, lambda: file.write_text(stale))
    return Row(f"`cub update`, a section in {size / 1e6:g} MB", cost, bar)


def _many(scratch: Path, count: int, home: Path) -> list[Row]:
    """One command looks at `count` small projects."""
    folder = scratch / f"many-{count}"
    folder.mkdir()
    first = _repository(folder / "p0", "# Rules\n")
    cub = [sys.executable, "-m", "cub"]
    _run([*cub, "init"], first, home)
    names = [f"p{n}" for n in range(count)]
    for name in names[1:]:
        shutil.copytree(first, folder / name)
    costs = {
        words: _alone([*cub, *words.split(), *names], folder, home, lambda: None)
        for words in ("status", "update --check")
    }
    return [Row(f"`cub {w} DIR…`, projects: {count}", costs[w], "") for w in costs]


def _reviews(scratch: Path, home: Path) -> list[Row]:
    """Each commit of a history on its own, with a git of its own; and one as a whole process."""
    root = scratch / "history"
    templates = history.next_version(scratch / "templates")
    pairs = history.build(root, templates)
    ours = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    costs = []
    for base, head in [pairs[-1], *pairs]:
        before, start = _used(*ours), time.perf_counter()
        with ObjectReader(root) as objects:
            found = review_range(
                objects, CommitRange(base, head, "", ""), root=root, templates=templates
            )
        costs.append(Cost(_used(*ours) - before, time.perf_counter() - start))
        assert not found.has_hand_edits, head
    costs = sorted(costs[1:])
    base = f"{pairs[0][0]}..{pairs[0][0]}"
    whole = [sys.executable, "-m", "cub", "diff", base]
    count = f"{len(costs):,} commits"
    return [
        Row("`cub diff A..A`: the start", _alone(whole, root, home, lambda: None), ""),
        Row(f"a review beyond the start, median of {count}", _median(costs), "bar: 0.05 s"),
        Row(f"the dearest of {count}", costs[-1], "bar: 0.05 s"),
    ]


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


def main() -> None:
    """Measure, and print the table."""
    if sys.argv[1:2] == ["map"]:
        of_maps(sys.argv[2:], _say)
        return
    if sys.argv[1:2] == ["tasks"]:
        of_tasks(_say)
        return
    if sys.argv[1:2] == ["large"]:
        of_large_files(_say)
        return
    if sys.argv[1:2] == ["run"]:
        of_runs(_say)
        return
    if sys.argv[1:2] == ["verdicts"]:
        sys.exit(of_verdicts(sys.argv[2:], _say))
    if sys.argv[1:2] == ["agent"]:
        of_agent(_say)
        return
    if sys.argv[1:2] == ["context"]:
        of_contexts(_say)
        return
    _say(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, median of {RUNS} runs\n")
    _say("| command | CPU s | wall s | |")
    _say("| --- | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory() as scratch:
        for row in _rows(Path(scratch).resolve()):
            _say(f"| {row.name} | {row.cost.cpu:.3f} | {row.cost.wall:.3f} | {row.bar} |")


if __name__ == "__main__":
    main()
