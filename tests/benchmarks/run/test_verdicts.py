from __future__ import annotations

import pytest

from tests.benchmarks.run.packages import PACKAGES
from tests.benchmarks.run.verdicts import (
    SECRET,
    Cell,
    Outcome,
    explain_deviation,
)

_BY_NAME = {package.name: package for package in PACKAGES}


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
