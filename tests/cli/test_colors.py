from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.terminal import in_terminal
from tests.conftest import Cub

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")

COMMANDS = ["init --diff", "status", "update"]


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
    assert [screen for screen in screens if "\x1b" in screen.text] == []
    assert all(screen.text for screen in screens)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_gets_none_whatever_the_environment(cub: Cub, command: str) -> None:
    result = cub(*command.split(), NO_COLOR="", TERM="xterm", FORCE_COLOR="")
    assert "\x1b" not in result.out + result.err
