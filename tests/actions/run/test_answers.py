"""What only a person can answer: the task is set aside, and the answer reaches the next prompt."""

from __future__ import annotations

import pytest

from cub.actions.tasks.stores import Stores, open_stores
from cub.actions.tasks.task_edits import edit_task
from cub.actions.tasks.task_fields import TaskFields
from cub.actions.tasks.task_queries import read_task_details
from cub.actions.tasks.transitions import reopen_tasks
from cub.cli.commands.run.event_lines import format_event_lines
from cub.cli.commands.task.show import print_task_page
from cub.project.project import Project
from tests.actions.run.shop import Done, Shop

_KEY = "I need the name of the oven"
_STUCK = f"echo '<stuck>{_KEY}</stuck>'"
_ASK = "echo 'I see two.'; echo 'Which oven should I use?'"


def _stores(shop: Shop) -> Stores:
    return open_stores(Project.load(shop.root), "ida")


def _page(shop: Shop, capsys: pytest.CaptureFixture[str]) -> str:
    print_task_page(read_task_details(_stores(shop), "s-1"))
    return capsys.readouterr().out


def _prompt(shop: Shop, done: Done, which: int = -1) -> str:
    log = str(done.of("attempt_end")[which]["log"])
    return (shop.root / log / "prompt.md").read_text()


def test_a_task_whose_agent_is_stuck_is_set_aside_with_its_question(
    bakery: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    bakery.configure(run={"max_attempts": 9})
    done = bakery.run_agent(_STUCK, no_checks=True)
    assert (done.outcomes, bakery.status(), done.end["parked"]) == (["stuck"], "parked", ["s-1"])
    (state,) = done.of("task_state")
    assert (state["question"], state["why"]) == (_KEY, f"it waits for an answer: {_KEY}")
    said = "\n".join(format_event_lines(state))
    assert "s-1 is parked: it waits for an answer" in said
    assert "`cub task edit s-1 --note TEXT`, then `cub task reopen s-1`" in said
    page = _page(bakery, capsys)
    assert _KEY in page
    assert "`cub task reopen s-1`" in page


def test_the_answer_and_the_question_are_in_the_next_prompt(bakery: Shop) -> None:
    bakery.run_agent(_STUCK, no_checks=True)
    answer = "\n".join(f"It is the oven number {n}," for n in range(1, 9)) + "\nas ever."
    edit_task(_stores(bakery), "s-1", TaskFields(), note=answer)
    reopen_tasks(_stores(bakery), ["s-1"])
    done = bakery.run_agent("echo x > made", no_checks=True)
    assert done.outcomes == ["ok"]
    prompt = _prompt(bakery, done)
    notes = prompt[prompt.index("Notes:") : prompt.index("## PREVIOUS ATTEMPT")]
    assert f"it waits for an answer: {_KEY}" in notes
    assert all(f"It is the oven number {n}," in notes for n in range(1, 9))
    assert "as ever." in notes


def test_a_question_is_answered_once_by_the_run_and_then_by_a_person(bakery: Shop) -> None:
    bakery.configure(run={"max_attempts": 9})
    bakery.configure(run={"max_attempts": 9})
    done = bakery.run_agent(_ASK, no_checks=True)
    assert done.outcomes == ["asked_question"] * 2
    first, second = done.of("task_state")
    assert (first["status"], "question" in first) == ("retry", False)
    assert (second["status"], second["question"]) == ("parked", "Which oven should I use?")
    assert "questions are not answered during a run" in _prompt(bakery, done)
    assert "questions are not answered" not in _prompt(bakery, done, 0)


def test_secrets_of_a_question_do_not_come_into_the_notes(bakery: Shop) -> None:
    secret = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    done = bakery.run_agent(f"echo '<stuck>{secret} has expired</stuck>'", no_checks=True)
    assert bakery.record()["notes"].endswith("it waits for an answer: [masked] has expired")
    assert done.of("task_state")[0]["question"] == "[masked] has expired"
