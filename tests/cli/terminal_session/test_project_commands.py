from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cub.actions.tasks.stores import open_stores
from cub.cli.terminal_session.project_commands import list_task_ids
from cub.cli.terminal_session.terminal_state import TerminalState
from cub.errors import CubError, UsageError
from cub.project.project import Project
from tests.cli.terminal_session.conftest import Type
from tests.conftest import Cub

Capture = pytest.CaptureFixture[str]
Answer = Callable[[str], None]


def add_task(cub: Cub, *words: str) -> str:
    done = cub("task", "add", "Bake more bread", *words)
    assert done.code == 0
    return done.out.strip()


def test_tasks_are_listed(state: TerminalState, enter: Type, cub: Cub, capsys: Capture) -> None:
    enter("/tasks")
    assert "No open tasks." in capsys.readouterr().err
    key = add_task(cub)
    enter("/tasks")
    assert "Bake more bread" in capsys.readouterr().out
    assert list_task_ids(state) == [key]


def test_a_task_is_claimed_and_its_checks_decide(
    state: TerminalState, enter: Type, bakery: Path, cub: Cub, capsys: Capture
) -> None:
    key = add_task(cub, "--check", "grep -q 2 bread.py")
    enter(f"/task {key}")
    printed = capsys.readouterr()
    shown = printed.err
    assert f"Claimed {key}" in printed.out
    assert "check `grep -q 2 bread.py` failed" in shown
    assert f"{key} is in progress." in shown
    assert "Bake more bread" in state.prompts[0]
    assert "These fail:\n\n`grep -q 2 bread.py`" in state.attachments[0]
    tasks = open_stores(Project.load(bakery), "me").backend.read_tasks()
    assert tasks[key].status == "in_progress"
    enter("/sessions")
    assert f"/task {key}: Bake more bread" in capsys.readouterr().out
    for words in ("", " nothing"):
        with pytest.raises(CubError):
            enter(f"/task{words}")


def test_checks_of_the_project_run_after_a_yes_and_the_model_gets_what_fails(
    state: TerminalState, enter: Type, bakery: Path, answer: Answer, capsys: Capture
) -> None:
    with pytest.raises(CubError, match="there are no checks"):
        enter("/checks")
    (bakery / ".cub").mkdir()
    (bakery / ".cub/config.yaml").write_text("run: {checks: ['true', 'echo E1 broken; false']}\n")
    enter("/reload")
    answer("n\n")
    with pytest.raises(CubError, match="no check ran"):
        enter("/checks")
    capsys.readouterr()
    answer("y\n")
    enter("/checks")
    shown = capsys.readouterr().err
    assert "check `true` passed\n" in shown
    assert "check `echo E1 broken; false` failed" in shown
    assert len(state.attachments) == 1
    assert "E1 broken" in state.attachments[0]


def test_the_map_is_shown_or_attached(state: TerminalState, enter: Type, capsys: Capture) -> None:
    enter("/map")
    assert "bread.py" in capsys.readouterr().out
    assert state.attachments == []
    enter("/map add")
    assert "bread.py" in state.attachments[0]
    with pytest.raises(UsageError):
        enter("/map all")


def test_the_parts_of_the_context_are_shown_with_their_sources(
    state: TerminalState, enter: Type, bakery: Path, capsys: Capture
) -> None:
    (bakery / "AGENTS.md").write_text("Speak softly. " * 100)
    enter("/reload")
    state.work_on("What is it?")
    state.attachments.append("more " * 50)
    capsys.readouterr()
    enter("/context")
    rows = {}
    for line in capsys.readouterr().out.splitlines()[1:]:
        part, tokens, source = (cell.strip() for cell in line.split("  ") if cell.strip())
        rows[part] = int(tokens.replace(",", "")), source
    assert rows["instructions"][1] == "AGENTS.md"
    assert rows["instructions"][0] > 200
    assert rows["results"][0] > 0
    assert rows["attached"][0] in range(30, 70)
    assert {*rows} == {
        "system prompt", "instructions", "tools", "prompts", "replies", "calls", "results",
        "attached", "in all, as measured",
    }  # fmt: skip


def test_what_failed_before_a_task_is_known_also_after_a_stop(
    state: TerminalState, enter: Type, bakery: Path, cub: Cub, answer: Answer, capsys: Capture
) -> None:
    key = add_task(cub)
    line = "sleep 0.3; echo 'FAILED test_a.py::old - assert old'; false"
    (bakery / ".cub/config.yaml").write_text(f'run: {{checks: ["{line}"]}}\n')
    enter("/reload")
    state.surroundings.stop.request()  # an earlier prompt was stopped
    answer("y\n")
    enter(f"/task {key}")
    shown = capsys.readouterr().err
    assert f"check `{line}`: 1 known failure, no new one" in shown
    assert state.attachments == []
