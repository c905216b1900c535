from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cub.agent.tools.read_file import READ
from cub.cli.terminal_session.terminal_state import TerminalState
from cub.errors import CubError, UsageError
from cub.project.allowed_rules import load_allowed_rules
from tests.cli.terminal_session.conftest import Type
from tests.conftest import git

Capture = pytest.CaptureFixture[str]


def knows(state: TerminalState, name: str) -> bool:
    path = state.prepared.root / name
    return not state.session.toolbox.context.reads.explain_unknown(path, path.read_bytes())


def test_clear_forgets_the_conversation_and_reads_instructions_again(
    state: TerminalState, enter: Type, bakery: Path
) -> None:
    state.work_on("What is it?")
    assert knows(state, "bread.py")
    state.attachments.append("more")
    (bakery / "AGENTS.md").write_text("Speak softly.\n")
    enter("/clear")
    assert (state.session.messages, state.attachments, state.recorder) == ([], [], None)
    assert "Speak softly." in state.session.system
    assert not knows(state, "bread.py")
    assert state.session.toolbox.cache.statistics.entries == 0
    assert state.total.usage.total == 330  # a limit of costs holds for all conversations
    assert not any(state.session.budget.usage)


def test_reload_keeps_the_conversation_and_the_mode(
    state: TerminalState, enter: Type, bakery: Path
) -> None:
    state.work_on("What is it?")
    messages, used = state.session.messages, state.session.budget.usage
    enter("/permissions plan")
    (bakery / "AGENTS.md").write_text("Speak softly.\n")
    enter("/reload")
    assert state.session.messages == messages
    assert (state.session.budget.usage, state.total.usage) == (used, used)
    assert state.session.toolbox.permissions.mode == "plan"
    assert "Speak softly." in state.session.system
    assert not knows(state, "bread.py")


@pytest.mark.parametrize("command", ["/reload", "/clear"])
def test_what_the_checks_said_before_the_session_is_kept(
    state: TerminalState, enter: Type, bakery: Path, command: str
) -> None:
    state.options = replace(state.options, gate="checks", trust=True)
    (bakery / ".cub").mkdir()
    (bakery / ".cub/config.yaml").write_text("run: {checks: ['echo >> runs; test ! -e broken']}\n")
    enter("/clear")
    state.session.toolbox.before_change(state.session.toolbox.context)
    (bakery / "broken").touch()
    enter("/model scripted/replies.yaml")
    enter(command)
    state.work_on("What is it?")
    assert any("The project's checks fail" in one.text for one in state.session.messages)
    assert (bakery / "runs").read_text() == "\n" * 4  # before, and in three rounds


def test_settings_that_are_not_valid_change_nothing(
    state: TerminalState, enter: Type, bakery: Path
) -> None:
    state.work_on("What is it?")
    session = state.session
    (bakery / ".cub").mkdir()
    (bakery / ".cub/config.yaml").write_text("code: {permissions: all}\n")
    for command in ("/clear", "/reload"):
        with pytest.raises(CubError):
            enter(command)
    assert state.session is session
    assert session.messages


def test_models_change_in_the_middle(
    state: TerminalState, enter: Type, bakery: Path, capsys: Capture
) -> None:
    state.work_on("What is it?")
    (bakery / "other.yaml").write_text("conversations: [{replies: [{text: I am new.}]}]\n")
    enter("/model scripted/other.yaml")
    enter("/smallmodel scripted/replies.yaml")
    state.work_on("Who are you?")
    assert "I am new." in capsys.readouterr().out
    assert knows(state, "bread.py")
    enter("/model")
    enter("/smallmodel")
    shown = capsys.readouterr().err
    assert shown == "model scripted/other.yaml\nsmall model scripted/replies.yaml\n"
    with pytest.raises(CubError):
        enter("/model nobody/x")
    assert state.session.model.name == "scripted/other.yaml"


def test_what_was_used_is_shown(state: TerminalState, enter: Type, capsys: Capture) -> None:
    state.work_on("What is it?")
    capsys.readouterr()
    for command in ("/status", "/tokens", "/cache", "/history"):
        enter(command)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    for line in (
        "turns 2", "tokens 330", "cost not known", "permissions ask", "cache read 100", "misses 1",
        "you What is it?", "agent I look. [Read]", "agent It is bread.",
    ):  # fmt: skip
        assert line in lines


def test_retry_takes_the_last_prompt_back(state: TerminalState, enter: Type) -> None:
    with pytest.raises(UsageError):
        enter("/retry")
    state.work_on("What is it?")
    state.attachments.append("<file>")
    state.work_on("And then?")
    count = len(state.session.messages)
    prompt = enter("/retry")
    assert prompt == "And then?\n\n<file>"
    assert len(state.session.messages) == count - 2
    state.work_on(prompt)
    assert len(state.session.messages) == count
    assert state.session.messages[-1].text == "Once more."


def test_a_short_conversation_is_compacted_by_force_alone(
    state: TerminalState, enter: Type, capsys: Capture
) -> None:
    enter("/compact --force")
    assert "a summary keeps the last 6 messages" in capsys.readouterr().err
    for prompt in ("One.", "Two.", "Three."):
        state.work_on(prompt)
    enter("/compact")
    assert "/compact --force summarizes it anyway" in capsys.readouterr().err
    enter("/compact --force")
    assert "summarized: " in capsys.readouterr().err
    assert "<summary>" in state.session.messages[0].text
    with pytest.raises(UsageError):
        enter("/compact now")


def test_rules_are_added_saved_and_removed(
    state: TerminalState, enter: Type, capsys: Capture
) -> None:
    root = state.prepared.root
    enter("/permissions accept-edits")
    enter("/permissions mode plan")
    enter("/permissions allow Bash(ls *)")
    enter("/permissions deny Read(.env)")
    assert load_allowed_rules(root) == ["Bash(ls *)"]
    capsys.readouterr()
    enter("/permissions")
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        ["mode", "plan"], ["allow", "Bash(ls", "*)", "saved"], ["deny", "Read(.env)"],
    ]  # fmt: skip
    assert state.session.toolbox.context.hides_file(root / ".env")
    enter("/permissions remove Bash(ls *)")
    enter("/permissions remove Read(.env)")
    assert load_allowed_rules(root) == []
    assert not state.session.toolbox.context.hides_file(root / ".env")


@pytest.mark.parametrize(
    ("words", "message"),
    [("mode all", "unknown mode"), ("allow", "missing RULE"), ("allow Bsh(ls)", "unknown tool"),
     ("remove Bash", "there is no rule"), ("what ever", "unknown change"),
     ("mode", "missing MODE")],
)  # fmt: skip
def test_a_change_of_permissions_that_makes_no_sense_is_refused(
    enter: Type, words: str, message: str
) -> None:
    with pytest.raises(CubError, match=message):
        enter(f"/permissions {words}")


def test_shift_tab_goes_through_the_modes_but_bypass(state: TerminalState, enter: Type) -> None:
    permissions, seen = state.session.toolbox.permissions, list[str]()
    for _ in range(4):
        state.change_mode()
        seen.append(permissions.mode)
    assert seen == ["accept-edits", "plan", "ask", "accept-edits"]
    enter("/permissions bypass")
    state.change_mode()
    assert permissions.mode == "ask"


def test_undo_stashes_after_a_yes_and_loses_nothing(
    state: TerminalState, enter: Type, bakery: Path, answer: Callable[[str], None], capsys: Capture
) -> None:
    enter("/undo")
    assert "There are no uncommitted changes." in capsys.readouterr().err
    (bakery / "bread.py").write_text("PRICE = 2\n")
    (bakery / "new é.py").write_text("x\n")
    (bakery / ".cub").mkdir()
    (bakery / ".cub/tasks.jsonl").write_text("{}\n")
    READ.bind({"file_path": "bread.py"})(state.session.toolbox.context)
    answer("n\n")
    enter("/undo")
    assert (bakery / "bread.py").read_text() == "PRICE = 2\n"
    assert knows(state, "bread.py")
    answer("y\n")
    enter("/undo")
    assert "?? new é.py" in capsys.readouterr().err.replace('"', "")
    assert (bakery / "bread.py").read_text() == "PRICE = 1\n"
    assert not (bakery / "new é.py").exists()
    assert (bakery / ".cub/tasks.jsonl").exists()
    assert not knows(state, "bread.py")
    assert "I undid all uncommitted changes" in state.attachments[0]
    git(bakery, "stash", "pop", "-q")
    assert (bakery / "bread.py").read_text() == "PRICE = 2\n"
    assert (bakery / "new é.py").read_text() == "x\n"


def test_quit_ends_the_session(state: TerminalState, enter: Type) -> None:
    enter("/quit")
    assert state.is_ending
