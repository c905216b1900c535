"""Carries out the plan over every kind of file in a project, as a script in that at argv[1]."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from tests.files.disks import stopping
from tests.files.worlds import change


def run_plan(root: Path, number: int = 0, name: str = "") -> None:
    """Change the project at `root`, 16 bytes at a time.

    The process sends itself the signal of that name just before the step of that number.
    """
    stops = {number: lambda _: signal.raise_signal(signal.Signals[name])} if name else {}
    change(root, disk=stopping(stops, chunk=16))


if __name__ == "__main__":
    run_plan(Path(sys.argv[1]))
