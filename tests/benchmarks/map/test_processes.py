from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.map.processes import Cost, Place, cost, median, memory

pytest.importorskip("resource", reason="the kernel's figures are those of Unix")

HELD = 60_000_000
HOLD = f"held = b'x' * {HELD}\n"
CHILD = f"import subprocess, sys\n{HOLD}subprocess.run([sys.executable, '-c', {HOLD!r}])\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, "given", tmp_path)


def test_the_command_reads_what_it_is_given(place: Place) -> None:
    code = "import pathlib, sys\npathlib.Path('out').write_text(sys.stdin.read())\n"
    found = cost([sys.executable, "-c", code], place)
    assert (place.root / "out").read_text() == "given"
    assert found.cpu > 0
    assert found.wall > 0


def test_a_failure_is_no_measurement(place: Place) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        cost([sys.executable, "-c", "raise SystemExit(1)"], place)


@pytest.mark.thorough
def test_the_peak_is_that_of_the_largest_process(place: Place) -> None:
    assert HELD < memory([sys.executable, "-c", CHILD], place).largest < 2 * HELD


def test_the_net_cost_and_the_median_are_taken_figure_by_figure() -> None:
    costs = [Cost(3, 10), Cost(1, 30), Cost(2, 20)]
    assert median(costs).less(Cost(1, 5)) == Cost(1, 15)
