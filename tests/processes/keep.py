"""Runs the shell line of argv[2] as cub does, with argv[1] as its `last`, and passes on what
it says."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from cub.processes.command import make_shell_command
from cub.processes.runner import RunningCommand

if __name__ == "__main__":
    _, last, text = sys.argv
    with RunningCommand(
        make_shell_command(text, Path.cwd(), os.environ), end_time_file=Path(last)
    ) as running:
        for piece in running.iter_output():
            os.write(1, piece.data)
