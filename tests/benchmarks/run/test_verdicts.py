"""A twelfth of the cells of `python -m tests.benchmarks verdicts`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.benchmarks.run.packages import PACKAGES
from tests.benchmarks.run.verdicts import (
    AGENTS,
    CHECK_SOURCES,
    SECRET,
    Cell,
    Outcome,
    PackageRunner,
    explain_deviation,
)

# Each package, each agent, and each source of the check.
CELLS = (
    ("boltons", "right", "run.checks"),
    ("first", "wrong", "run.checks"),
    ("minimist", "wrong", "run.checks"),
    ("inflection", "comment", "run.checks"),
    ("humanize", "deleted", "run.checks"),
    ("is-callable", "weakened", "run.checks"),
    ("text-unidecode", "junk", "run.checks"),
    ("qs", "right", "task"),
    ("roman", "wrong", "task"),
    ("inflection", "nothing", "task"),
    ("minimist", "deleted", "task"),
    ("more-itertools", "weakened", "task"),
    ("humanize", "comment", "--check"),
    ("boltons", "deleted", "--check"),
    ("qs", "weakened", "--check"),
    ("first", "junk", "--check"),
    ("inflection", "right", "proposed"),
    ("is-callable", "right", "proposed"),
    ("roman", "right", "proposed"),
    ("first", "comment", "proposed"),
)
_BY_NAME = {package.name: package for package in PACKAGES}


def test_every_agent_and_every_way_is_among_the_cells() -> None:
    names, agents, sources = (set(values) for values in zip(*CELLS, strict=True))
    assert (names, agents, sources) == (set(_BY_NAME), set(AGENTS), set(CHECK_SOURCES))


@pytest.mark.parametrize(
    ("agent", "source", "outcome", "explained"),
    [
        ("right", "task", Outcome("closed", "", {"first.py"}), ""),
        ("right", "task", Outcome("closed", "", {"a.py"}), "was closed without the change"),
        ("right", "task", Outcome("open", "x", set()), "was not closed: open, x"),
        ("wrong", "task", Outcome("not begun", "error: x", set()), "was not begun: error: x"),
        ("wrong", "proposed", Outcome("not begun", "error: x", set()), ""),
        ("right", "proposed", Outcome("not begun", "error: x", set()), ""),
        ("right", "proposed", Outcome("not begun", "", set()), "was not begun: "),
        ("comment", "task", Outcome("closed", "", {"first.py"}), "was closed"),
        ("comment", "task", Outcome("checks_failed", "x", set()), ""),
        ("junk", "task", Outcome("closed", "", {"first.py", SECRET}), f"{SECRET} was committed"),
    ],
)
def test_an_outcome_is_held_to_what_the_files_deserve(
    agent: str, source: str, outcome: Outcome, explained: str
) -> None:
    said = explain_deviation(Cell(_BY_NAME["first"], agent, source), outcome)
    assert said.startswith(explained) if explained else said == ""


# nyc 10 makes folders in the home directory itself, which is read-only in a place.
_WRITES_HOME = pytest.mark.xfail(strict=True, reason="its checks make folders in HOME")
_MARKS = {("is-callable", "right", "proposed"): (_WRITES_HOME,)}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "agent", "source"),
    [pytest.param(*cell, marks=_MARKS.get(cell, ())) for cell in CELLS],
)
def test_a_task_is_closed_where_its_code_is_mended(
    tmp_path: Path, name: str, agent: str, source: str
) -> None:
    package, downloads = _BY_NAME[name], Path(os.environ.get("CUB_PACKAGES", os.devnull))
    if not package.is_there(downloads):
        pytest.skip(f"{name} is not in CUB_PACKAGES")
    runner, cell = PackageRunner(downloads, tmp_path), Cell(package, agent, source)
    assert explain_deviation(cell, runner.judge(cell, runner.prepare(package, source))) == ""
