"""What `python -m tests` leaves out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[1]
# One of the fast tier, one of the thorough tier, one with a real agent, and a property.
_TESTS = """
import pytest
from hypothesis import given, strategies as st

def test_fast(): pass

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


def test_the_thorough_tier_has_all_but_real_agents(tmp_path: Path) -> None:
    code, said = run_pytest(tmp_path, "--thorough")
    assert (code, "3 passed, 1 deselected" in said) == (0, True), said
