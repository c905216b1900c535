"""What tests depend on of the process that starts pytest: nothing, and none runs for ever."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forked import STOP_SIGNALS

_ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")

# It starts the rest of its arguments with these signals ignored, or without stdin.
_IGNORE = (
    "import os, signal, sys\n"
    f"for name in {STOP_SIGNALS}: signal.signal(getattr(signal, name), signal.SIG_IGN)\n"
    "os.execv(sys.argv[1], sys.argv[1:])\n"
)
_CLOSE = "import os, sys; os.close(0); os.execv(sys.argv[1], sys.argv[1:])"

_CHILD = (
    "import signal; "
    f"print([n for n in {STOP_SIGNALS} if signal.getsignal(getattr(signal, n)) is signal.SIG_IGN])"
)
_TESTS = f"""
import os, signal, subprocess, sys
from hypothesis import given, strategies as st

def test_signals():
    child = [sys.executable, "-I", "-S", "-c", {_CHILD!r}]
    assert subprocess.run(child, capture_output=True, text=True).stdout == "[]\\n"
    for name in {STOP_SIGNALS}:
        os.kill(os.getpid(), getattr(signal, name))

def test_stdin():
    os.fstat(0)
    assert subprocess.run(["cat"], capture_output=True).returncode == 0

@given(st.just(0))
def test_endless(number):
    subprocess.run([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=os.pipe()[0])
"""
# Modules that start processes, send signals, and read stdin.
_MODULES = (
    "tests/cli/commands/run/test_run_command.py",
    "tests/cli/test_interrupt.py",
    "tests/cli/test_parallel.py",
    "tests/cli/test_purge.py",
    "tests/files/test_lock.py",
    "tests/processes/test_process_tree.py",
    "tests/processes/test_surroundings.py",
    "tests/test_command_line.py",
)


def run_pytest(folder: Path, before: str, *words: str, limit: float) -> tuple[int, str]:
    """Run pytest with this repository's settings after a program; the exit code and the output."""
    options = ["-c", str(_ROOT / "pyproject.toml"), "--rootdir", str(folder), "-q"]
    options += ["-p", "no:cacheprovider", *(["-p", "tests.conftest"] if folder != _ROOT else [])]
    done = subprocess.run(
        [sys.executable, "-c", before, sys.executable, "-m", "pytest", *options, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=limit,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("workers", ["0", pytest.param("1", marks=pytest.mark.thorough)])
@pytest.mark.parametrize(("before", "test"), [(_IGNORE, "test_signals"), (_CLOSE, "test_stdin")])
def test_tests_have_signals_and_a_stdin_of_their_own(
    tmp_path: Path, before: str, test: str, workers: str
) -> None:
    (tmp_path / "test_it.py").write_text(_TESTS)
    code, said = run_pytest(tmp_path, before, "-n", workers, f"test_it.py::{test}", limit=60)
    assert code == 0, said


@pytest.mark.thorough
@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_test_that_does_not_end_is_ended_and_shown(tmp_path: Path, workers: str) -> None:
    (tmp_path / "test_it.py").write_text(_TESTS)
    limits = ("-o", "timeout=3", "-o", "faulthandler_timeout=1")
    words = ("-n", workers, *limits, "test_it.py::test_endless")
    code, said = run_pytest(tmp_path, _CLOSE, *words, limit=60)
    assert code == 1
    assert f'"{tmp_path / "test_it.py"}", line 17 in test_endless' in said


@pytest.mark.thorough
@pytest.mark.timeout(600)
@pytest.mark.parametrize("before", [_IGNORE, _CLOSE])
def test_modules_pass_whatever_starts_them(before: str) -> None:
    code, said = run_pytest(_ROOT, before, *_MODULES, limit=590)
    assert code == 0, said
