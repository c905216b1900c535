"""A run on a terminal, live: what tasks, checks and agents say neither moves it nor colors it."""

from __future__ import annotations

import sys

import pytest

from tests.actions.run.shop import Shop
from tests.cli.hostile import HOSTILE, left_over, without_drawing
from tests.cli.terminal import in_terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")

_SAID = HOSTILE.replace("\ud800", "").replace("\r", "")
_CHECK = "printf 'FAILED a.py::x - \\033]0;owned\\007\\033[2J\\n'; exit 1 #\x1b[2J\u202e"
_CLIENT = "cat > /dev/null; echo new > new.txt; printf '\\033]0;owned\\007\\033[2J done\\n'"
# Events and a standing as a file of somebody else's may have them, in the live view.
_SCRIPT = """
from cub.actions.run.run_status import AttemptRow as Row, RunStatus as Standing
from cub.cli.commands.run.event_lines import format_event_lines as lines_of
from cub.cli.commands.run.live_view import show_live_panel as panel
from cub.processes.command import StopRequest as Stop
from tests.cli.hostile import HOSTILE as x
said = dict(task=x, title=x, harness=x, doing=x, said=x)
events = [
    dict(ev="task_state", task=x, status=x, why=x),
    dict(ev="notice", text=x), dict(ev="check_end", base=False, dur_s=1, exit=None, cmd=x),
    dict(ev="attempt_end", ok=False, dur_s=1, fail={"class": x, "reason": x}, git={"patch": x}),
    dict(ev="run_end", tasks={x: 1}, tok={"in": 0, "out": 0, "cache_write": 0}, usd=0, why=x,
         end=x, ok=False, hint=x, attempts=0),
]
with panel(Standing(current=Row(**said), outcomes={x: 1}), Stop()) as write:
    for event in events:
        for line in lines_of(event):
            write(line)
"""


@pytest.mark.parametrize("colors", [{}, {"NO_COLOR": "1"}], ids=["colors", "no colors"])
def test_a_live_run_shows_nothing_raw(bakery: Shop, colors: dict[str, str]) -> None:
    bakery.client(_CLIENT)
    bakery.task(title=f"Bake {_SAID}", checks=[_CHECK], labels=[_SAID])
    bakery.task("s-2", title=f"Rest {_SAID}", status="parked")
    bakery.commit()
    home = bakery.root.parent / "home"
    words = ("run", "--harness", "mine", "--trust", "--once")
    screen = in_terminal(*words, cwd=bakery.root, home=home, **colors)
    assert "\\x1b]0;owned\\x07" in screen.text
    assert left_over(without_drawing(screen.text)) == set()


@pytest.mark.parametrize("colors", [{}, {"NO_COLOR": "1"}], ids=["colors", "no colors"])
def test_the_live_view_shows_no_status_or_outcome_raw(bakery: Shop, colors: dict[str, str]) -> None:
    home = bakery.root.parent / "home"
    screen = in_terminal(cwd=bakery.root, home=home, program=("-c", _SCRIPT), **colors)
    assert screen.code == 0
    assert "\\x1b]0;owned" in screen.text
    assert left_over(without_drawing(screen.text)) == set()
