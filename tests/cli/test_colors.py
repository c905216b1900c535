from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import in_terminal, remove_progress
from tests.conftest import Cub

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")

COMMANDS = ["init --diff", "status", "update"]
SAME = ["--help", "task --help", "config show", "status", "init", "update", "task list", "nope"]
STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_terminal_gets_colors(project: Path, home: Path, command: str) -> None:
    screen = in_terminal(*command.split(), cwd=project, home=home)
    assert "\x1b[" in screen.text


@pytest.mark.parametrize("command", COMMANDS)
def test_who_wants_no_colors_gets_none(project: Path, home: Path, command: str) -> None:
    screens = [
        in_terminal("--no-color", *command.split(), cwd=project, home=home),
        in_terminal(*command.split(), cwd=project, home=home, NO_COLOR="1"),
        in_terminal(*command.split(), cwd=project, home=home, TERM="dumb"),
    ]
    assert [screen for screen in screens if "\x1b" in remove_progress(screen.text)] == []
    assert all(screen.text for screen in screens)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_gets_none_whatever_the_environment(cub: Cub, command: str) -> None:
    result = cub(*command.split(), NO_COLOR="", TERM="xterm", FORCE_COLOR="")
    assert "\x1b" not in result.out + result.err


def test_no_color_changes_colors_and_nothing_else(project: Path, home: Path) -> None:
    seen = []
    for wanted in ({}, {"NO_COLOR": "1"}, {"NO_COLOR": ""}):
        screens = [in_terminal(*line.split(), cwd=project, home=home, **wanted) for line in SAME]
        seen.append("".join(screen.text for screen in screens))
        cub = project / ".cub"
        assert cub.is_dir()
        shutil.rmtree(cub)
        for name in ("AGENTS.md", "CLAUDE.md"):
            (project / name).unlink()
    colored, _, empty = seen
    assert STYLE.search(remove_progress(colored))
    assert STYLE.search(remove_progress(empty))
    assert len({remove_progress(STYLE.sub("", text)) for text in seen}) == 1


@pytest.mark.parametrize("name", ["FORCE_COLOR", "CLICOLOR_FORCE"])
def test_colors_can_be_forced_into_a_pipe_unless_there_are_to_be_none(cub: Cub, name: str) -> None:
    forced = cub("status", NO_COLOR="", **{name: "1"}).out
    plain = cub("status", NO_COLOR="1", **{name: "1"}).out
    assert STYLE.search(forced)
    assert STYLE.sub("", forced) == plain
