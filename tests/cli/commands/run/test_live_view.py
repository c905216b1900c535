"""The live view of a run: the lines above it stay, whatever is drawn at the same time."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import in_terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")

# Threads take turns as often as they can, and the view is drawn all the time.
_SCRIPT = """
import sys
from cub.actions.run.run_status import AttemptRow, RunStatus
from cub.cli.commands.run.live_view import show_live_panel
from cub.processes.command import StopRequest
sys.setswitchinterval(1e-6)
status = RunStatus()
with show_live_panel(status, StopRequest(), seconds=0.0002) as write:
    for number in range(400):
        rows = number % 2 * 6
        status.running = {f"s-{n}": AttemptRow(task=f"s-{n}") for n in range(rows)}
        write(f"line {number}")
"""
_STEP = re.compile(r"\x1b\[(\d*)([A-Z])|\x1b[^a-zA-Z]*[a-zA-Z]|\n|[^\x1b\r\n]+")


def _draw(text: str) -> list[str]:
    """What is on the screen at the end: only moves up and erased lines matter."""
    lines, row = [""], 0
    for step in _STEP.finditer(text):
        if step[0] == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif step[2] == "A":
            row = max(0, row - int(step[1] or 1))
        elif step[2] == "K":
            lines[row] = ""
        elif not step[0].startswith("\x1b"):
            lines[row] += step[0]
    return lines


@pytest.mark.thorough
def test_no_line_is_lost_to_a_view_that_shrinks(tmp_path: Path) -> None:
    screen = in_terminal(cwd=tmp_path, home=tmp_path, program=("-c", _SCRIPT))
    assert screen.code == 0
    shown = [line for line in _draw(screen.text) if line.startswith("line ")]
    assert shown == [f"line {number}" for number in range(400)]
