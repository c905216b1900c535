"""Runs the shell line of argv[1] as cub does, and passes on what it says."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from cub.processes.command import make_shell_command
from cub.processes.runner import RunningCommand

if __name__ == "__main__":
    with RunningCommand(make_shell_command(sys.argv[1], Path.cwd(), os.environ)) as running:
        for piece in running.iter_output():
            os.write(1, piece.data)
