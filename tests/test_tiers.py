"""What `python -m tests` leaves out, and how long it may take."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import FastTierTimer

_ROOT = Path(__file__).parents[1]
# One of the fast tier, one of the thorough tier, one with a real agent, and a property.
_TESTS = """
import time
import pytest
from hypothesis import given, strategies as st

def test_fast(): time.sleep(0.02)

@pytest.mark.thorough
def test_thorough(): pass

@pytest.mark.agents
def test_agent(): pass

@given(st.integers())
def test_property(number): pass
"""


def run_pytest(folder: Path, *options: str) -> tuple[int, str]:
    """Run these tests with this repository's conftest.py; the exit code and the output."""
    (folder / "test_tiers.py").write_text(_TESTS)
    plugin, config = ("-p", "tests.conftest"), ("-c", str(_ROOT / "pyproject.toml"))
    words = [*plugin, *config, "--rootdir", str(folder), "-p", "no:cacheprovider", "-q", *options]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "test_tiers.py"],
        cwd=folder,
        env={"PYTHONPATH": str(_ROOT), "PATH": "", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_the_fast_tier_leaves_out_what_is_marked(tmp_path: Path) -> None:
    code, said = run_pytest(tmp_path)
    assert (code, "2 passed, 2 deselected" in said) == (0, True), said


def test_real_agents_run_if_they_are_asked_for(tmp_path: Path) -> None:
    code, said = run_pytest(tmp_path, "-m", "agents")
    assert (code, "1 passed, 3 deselected" in said) == (0, True), said


@pytest.mark.parametrize(("limit", "code"), [("0.01", 1), ("3600", 0)])
def test_a_fast_tier_that_takes_too_long_fails_a_run_of_everything(
    tmp_path: Path, limit: str, code: int
) -> None:
    found, said = run_pytest(tmp_path, "--thorough", "--fast-limit", limit)
    assert (found, "3 passed, 1 deselected" in said) == (code, True), said
    assert ("error: the fast tier took" in said) == (code == 1)


def test_only_what_the_fast_tier_has_counts_for_each_worker() -> None:
    timer = FastTierTimer(limit=60, workers=2)
    for marker in ("", "parametrize", "thorough", "hypothesis", "agents"):
        where = ("test_a.py", 1, "test_a")
        timer.pytest_runtest_logreport(
            pytest.TestReport("a", where, {marker: 1}, "passed", None, "call", duration=3.0)
        )
    assert timer.seconds == 3.0
