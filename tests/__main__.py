"""`python -m tests`: everything that has to hold, pytest's summary last.

`--thorough` adds what takes longer. Other arguments are pytest's. docs/dev/testing.md describes the
two tiers.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

ROOT = Path(__file__).parents[1]
CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "--quiet", "."),
    ("lint-imports", "--no-logo"),
)
TYPES = ("mypy",)
# Idle workers take over tests of busy ones, so that all cores have work to the end.
PYTEST = ("pytest", "-q", "-n", "logical", "--dist", "worksteal")
# Where there is a file system in memory, temporary files are put there: cub syncs what it writes.
_IN_MEMORY, _ROOM = Path("/dev/shm"), 1 << 30


def main(arguments: Sequence[str]) -> int:
    """Run every check with the tools beside this Python; return the largest exit code."""
    options = [*arguments]
    if not any(option.startswith("--hypothesis-seed") for option in options):
        # In CI, a failure comes from the change, not from new examples.
        seed = 0 if os.environ.get("CI") else random.randrange(2**32)
        options.append(f"--hypothesis-seed={seed}")
    if _IN_MEMORY.is_dir() and shutil.disk_usage(_IN_MEMORY).free >= _ROOM:
        os.environ.setdefault("TMPDIR", str(_IN_MEMORY))
    codes = [_run(check) for check in CHECKS]
    if {"--thorough"}.issuperset(arguments):
        codes += _run_beside(TYPES, (*PYTEST, *options))
    else:  # a part of the tests may be over sooner, and its summary is to come last
        codes += [_run(TYPES), _run((*PYTEST, *options))]
    return max(codes)


def _run_beside(check: Sequence[str], command: Sequence[str]) -> list[int]:
    """Run a check that keeps one core busy for a while beside a command that takes longer.

    What it prints comes in one piece as soon as it is over: the last words are the command's.
    """
    codes: list[int] = []

    def run_check() -> None:
        with tempfile.TemporaryFile() as output:
            codes.append(_run(check, output.fileno()))
            output.seek(0)
            os.write(sys.stdout.fileno(), b"\n" + output.read())

    thread = Thread(target=run_check)
    thread.start()
    code = _run(command)
    thread.join()
    return [*codes, code]


def _run(command: Sequence[str], output: int | None = None) -> int:
    """Run a tool that is installed beside this Python; return its exit code or signal."""
    output = sys.stdout.fileno() if output is None else output
    os.write(output, f"== {' '.join(command)}\n".encode())
    name, *arguments = command
    tool = Path(sys.executable).with_name(name)
    done = subprocess.run([tool, *arguments], cwd=ROOT, stdout=output, stderr=output, check=False)
    return abs(done.returncode)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
