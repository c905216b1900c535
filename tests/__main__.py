"""`python -m tests`: everything that has to hold, pytest's summary last.

`--thorough` adds what takes longer; `--timed` fails a tier that takes half as much again as it may.
Other arguments are pytest's. docs/reference/testing.md describes the two tiers.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

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
FAST_LIMIT, THOROUGH_LIMIT = 240, 540  # seconds on two cores
_TOLERANCE = 1.5
_OWN_OPTIONS = ("--thorough", "--timed")
# Where there is a file system in memory, temporary files are put there: cub syncs what it writes.
_IN_MEMORY, _ROOM = Path("/dev/shm"), 1 << 30
_NO_TESTS = int(pytest.ExitCode.NO_TESTS_COLLECTED)


def main(arguments: Sequence[str]) -> int:
    """Run every check with the tools beside this Python; return the largest exit code."""
    options = [argument for argument in arguments if argument not in _OWN_OPTIONS]
    if not any(option.startswith("--hypothesis-seed") for option in options):
        options.append(f"--hypothesis-seed={random.randrange(2**32)}")
    if _IN_MEMORY.is_dir() and shutil.disk_usage(_IN_MEMORY).free >= _ROOM:
        os.environ.setdefault("TMPDIR", str(_IN_MEMORY))
    start = time.monotonic()
    if "--thorough" in arguments:
        codes, tests = _run_only_thorough(options)
        options.append("--no-properties")
    else:
        codes, tests = [_run_checks(sys.stdout.fileno())], []
    middle = time.monotonic()
    tests.append(_run((*PYTEST, *options), sys.stdout.fileno()))
    # What was asked for may all be in one of two passes.
    codes += [code for code in tests if code != _NO_TESTS] or tests
    if "--timed" in arguments:
        end = time.monotonic()
        codes.append(_judge_time("the fast tier", end - middle, FAST_LIMIT))
        codes.append(_judge_time("everything", end - start, THOROUGH_LIMIT))
    return max(codes)


def _run_only_thorough(options: Sequence[str]) -> tuple[list[int], list[int]]:
    """Run the checks, and what the fast tier leaves out, beside each other; their exit codes.

    The checks keep one core busy, and read files alone.
    """
    with tempfile.TemporaryFile() as output:
        codes: list[int] = []
        checks = Thread(target=lambda: codes.append(_run_checks(output.fileno())))
        checks.start()
        tests = _run((*PYTEST, "--only-thorough", *options), sys.stdout.fileno())
        checks.join()
        output.seek(0)
        sys.stdout.write(output.read().decode())
        sys.stdout.flush()
    return codes, [tests]


def _run_checks(output: int) -> int:
    return max([_run(command, output) for command in CHECKS])


def _run(command: Sequence[str], output: int) -> int:
    """Run a tool that is installed beside this Python; return its exit code or signal."""
    os.write(output, f"== {' '.join(command)}\n".encode())
    name, *arguments = command
    tool = Path(sys.executable).with_name(name)
    done = subprocess.run([tool, *arguments], cwd=ROOT, stdout=output, stderr=output, check=False)
    return abs(done.returncode)


def _judge_time(what: str, seconds: float, limit: int) -> int:
    """Fail what took half as much again as its limit."""
    if seconds <= _TOLERANCE * limit:
        return 0
    sys.stderr.write(f"error: {what} took {seconds:.0f} s, and may take {limit} s\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
