from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cub.agent.session_store import find_session_store
from cub.cli.terminal_session.terminal_state import TerminalState
from cub.errors import CubError, UsageError
from tests.cli.terminal_session.conftest import Type

Capture = pytest.CaptureFixture[str]
Answer = Callable[[str], None]


def test_a_session_is_saved_after_each_prompt_and_resumed(
    state: TerminalState, enter: Type, bakery: Path, capsys: Capture
) -> None:
    state.work_on("What is it?")
    assert state.recorder
    first, messages = state.recorder.session_id, state.session.messages
    assert find_session_store(bakery).read(first).messages == messages
    enter("/clear")
    state.work_on("And this?")
    state.attachments.append("more")
    enter(f"/resume {first[:6]}")
    assert state.session.messages == messages
    assert (state.recorder.session_id, state.attachments) == (first, [])
    enter(f"/resume {first}")
    assert "This is that session." in capsys.readouterr().err
    state.work_on("Go on.")
    assert len(find_session_store(bakery).read(first).messages) > len(messages)


def test_a_session_that_is_not_there_changes_nothing(state: TerminalState, enter: Type) -> None:
    state.work_on("What is it?")
    session, recorder = state.session, state.recorder
    with pytest.raises(CubError, match="there is no session"):
        enter("/resume nothing")
    assert (state.session, state.recorder) == (session, recorder)


def test_sessions_are_listed_and_deleted_after_a_yes(
    state: TerminalState, enter: Type, answer: Answer, capsys: Capture
) -> None:
    enter("/sessions")
    assert "No sessions of this project yet." in capsys.readouterr().err
    state.work_on("What is it?")
    assert state.recorder
    key = state.recorder.session_id
    with pytest.raises(UsageError, match="while it runs"):
        enter(f"/delete-session {key}")
    enter("/clear")
    enter("/sessions")
    assert "What is it?" in capsys.readouterr().out
    answer("n\n")
    enter(f"/delete-session {key}")
    assert find_session_store(state.prepared.root).find_last_id() == key
    answer("y\n")
    enter(f"/delete-session {key}")
    with pytest.raises(CubError):
        find_session_store(state.prepared.root).find_last_id()
    with pytest.raises(CubError):
        enter("/delete-session")


def test_save_says_how_the_session_is_resumed(
    state: TerminalState, enter: Type, capsys: Capture
) -> None:
    with pytest.raises(UsageError):
        enter("/save")
    state.work_on("What is it?")
    assert state.recorder
    enter("/save")
    assert f"`cub code --resume {state.recorder.session_id}`" in capsys.readouterr().err


def test_export_writes_a_new_file_without_secrets(
    state: TerminalState, enter: Type, bakery: Path
) -> None:
    with pytest.raises(UsageError):
        enter("/export")
    state.attachments.append("TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345")
    state.work_on("What is it?")
    enter("/export notes.md")
    text = (bakery / "notes.md").read_text()
    assert text.startswith("# What is it?\n")
    assert "It is bread." in text
    assert "ghp_0123456789" not in text
    with pytest.raises(CubError, match="already there"):
        enter("/export notes.md")
    assert (bakery / "notes.md").read_text() == text
    enter("/export")
    assert state.recorder
    assert (bakery / f"session-{state.recorder.session_id}.md").exists()
