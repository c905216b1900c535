"""A session at the terminal, whose commands are called by tests in this process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from textwrap import dedent

import pytest

from cub.actions.code_session import SessionSurroundings, prepare_session
from cub.actions.command_options import CodeOptions
from cub.actions.tasks.stores import open_stores
from cub.agent.session_budget import SessionBudget
from cub.cli.session_view import SessionView
from cub.cli.terminal_session.command_table import find_command
from cub.cli.terminal_session.input_completion import UsageCounts
from cub.cli.terminal_session.terminal_state import TerminalState
from cub.processes.command import StopRequest
from cub.project.project import Project
from tests.conftest import environment, git

REPLIES = """\
    conversations:
      - replies:
          - text: I look.
            calls: [{Read: {file_path: bread.py}}]
            usage: {input: 100, output: 10}
          - text: It is bread.
            usage: {input: 200, output: 20, cache_read: 100}
          - text: Again.
          - text: Once more.
"""
Type = Callable[[str], str | None]


@pytest.fixture
def bakery(project: Path) -> Path:
    """A project with one commit."""
    (project / "bread.py").write_text("PRICE = 1\n")
    (project / "replies.yaml").write_text(dedent(REPLIES))
    git(project, "add", ".")
    git(project, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "x")
    git(project, "config", "user.name", "A")
    git(project, "config", "user.email", "a@example.org")
    return project


@pytest.fixture
def state(bakery: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TerminalState]:
    """A session that has just been opened."""
    monkeypatch.setenv("HOME", str(home))
    stop = StopRequest()
    stores = open_stores(Project.load(bakery), "me")
    options = CodeOptions(model="scripted/replies.yaml")
    surroundings = SessionSurroundings(
        bakery, environment(home), stop, date(2026, 1, 2), is_interactive=True, has_terminal=True
    )
    prepared, total = prepare_session(stores, options, surroundings), SessionBudget()
    prepared.session.budget.parent = total
    view = SessionView(streams_text=True, is_debug=False)
    state = TerminalState(stores, options, surroundings, prepared, view, UsageCounts(None), total)
    yield state
    state.close()
    stop.close()


@pytest.fixture
def enter(state: TerminalState) -> Type:
    """Carry out a command, and return the prompt that it makes."""

    def run(text: str) -> str | None:
        found = find_command(text)
        assert found is not None
        return found[0].carry_out(state, found[1])

    return run


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Give what a person types at the next questions."""
    return lambda text: monkeypatch.setattr(sys, "stdin", io.StringIO(text))
