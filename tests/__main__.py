"""`python -m tests`: everything that has to hold, pytest's summary last.

`--thorough` adds what takes longer; other arguments are pytest's. docs/reference/testing.md
describes the two tiers.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from typing import IO

import pytest

ROOT = Path(__file__).parents[1]
CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "--quiet", "."),
    ("mypy",),
    ("lint-imports", "--no-logo"),
)
# Idle workers take over tests of busy ones, so that all cores have work to the end.
PYTEST = ("pytest", "-q", "-n", "logical", "--dist", "worksteal")
# Seconds on two cores; CI fails at half as much again.
FAST_LIMIT, THOROUGH_LIMIT = 240, 540
_TOLERANCE = 1.5
_NO_TESTS = int(pytest.ExitCode.NO_TESTS_COLLECTED)


def main(arguments: Sequence[str]) -> int:
    """Run every check with the tools beside this Python; the exit code of the last bad one."""
    options = [argument for argument in arguments if argument != "--thorough"]
    if not any(option.startswith("--hypothesis-seed") for option in options):
        options.append(f"--hypothesis-seed={random.randrange(2**32)}")
    if "--thorough" in arguments:
        return _run_thorough(options)
    return max(_run_checks(sys.stdout.fileno()), _run_pytest(options, FAST_LIMIT))


def _run_thorough(options: Sequence[str]) -> int:
    """Run what the fast tier leaves out, and then the fast tier without its properties.

    So each test runs once, and CI sees how long the fast tier takes. The checks run beside the
    first tests: they keep one core busy, and read files alone.
    """
    start, codes = time.monotonic(), [0]
    with tempfile.TemporaryFile() as output:
        checks = Thread(target=lambda: codes.append(_run_checks(output.fileno())))
        checks.start()
        first = _run_pytest(["--only-thorough", *options], THOROUGH_LIMIT)
        checks.join()
        _show(output)
    second = _run_pytest(["--no-properties", *options], FAST_LIMIT)
    if _NO_TESTS in (first, second) and first != second:  # what was asked for is in one of them
        codes.append(first + second - _NO_TESTS)
    else:
        codes += [first, second]
    codes.append(_judge_time("both tiers", time.monotonic() - start, THOROUGH_LIMIT))
    return max(codes)


def _run_checks(output: int) -> int:
    codes = [_run(command, output) for command in CHECKS]
    return max(codes)


def _run_pytest(options: Sequence[str], limit: int) -> int:
    start = time.monotonic()
    code = _run((*PYTEST, *options), sys.stdout.fileno())
    return code or _judge_time("this tier", time.monotonic() - start, limit)


def _run(command: Sequence[str], output: int) -> int:
    """Run a tool that is installed beside this Python; its exit code."""
    os.write(output, f"== {' '.join(command)}\n".encode())
    name, *arguments = command
    tool = Path(sys.executable).with_name(name)
    done = subprocess.run([tool, *arguments], cwd=ROOT, stdout=output, stderr=output, check=False)
    return abs(done.returncode)


def _show(output: IO[bytes]) -> None:
    output.seek(0)
    sys.stdout.write(output.read().decode())
    sys.stdout.flush()


def _judge_time(what: str, seconds: float, limit: int) -> int:
    """Fail in CI where the tests take much longer than they should; a person's machine may."""
    if "CI" not in os.environ or seconds <= _TOLERANCE * limit:
        return 0
    sys.stderr.write(f"error: {what} took {seconds:.0f} s, {_TOLERANCE} times its {limit} s\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
