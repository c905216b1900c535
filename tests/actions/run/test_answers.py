"""What only a person can answer: the task is set aside, and the answer reaches the next prompt."""

from __future__ import annotations

import pytest

from cub.actions.tasks.task_edits import edit_task
from cub.actions.tasks.task_fields import TaskFields
from cub.actions.tasks.task_queries import read_task_details
from cub.actions.tasks.transitions import reopen_tasks
from cub.cli.commands.run.event_lines import format_event_lines
from cub.cli.commands.task.show import print_task_page
from tests.actions.run.shop import Shop

_KEY = "I need the name of the oven"
_STUCK = f"echo '<stuck>{_KEY}</stuck>'"
_ASK = "echo 'I see two.'; echo 'Which oven should I use?'"


def _page(shop: Shop, capsys: pytest.CaptureFixture[str]) -> str:
    print_task_page(read_task_details(shop.stores, "s-1"))
    return capsys.readouterr().out


def test_a_task_whose_agent_is_stuck_is_set_aside_with_its_question(
    bakery: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    bakery.configure(run={"max_attempts": 9})
    done = bakery.run_agent(_STUCK)
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
    bakery.run_agent(_STUCK)
    answer = "\n".join(f"It is the oven number {n}," for n in range(1, 9)) + "\nas ever."
    edit_task(bakery.stores, "s-1", TaskFields(), note=answer)
    reopen_tasks(bakery.stores, ["s-1"])
    done = bakery.run_agent("echo x > made")
    assert done.outcomes == ["ok"]
    prompt = bakery.read_prompt(done)
    notes = prompt[prompt.index("Notes:") : prompt.index("## PREVIOUS ATTEMPT")]
    assert f"it waits for an answer: {_KEY}" in notes
    assert all(f"It is the oven number {n}," in notes for n in range(1, 9))
    assert "as ever." in notes


def test_a_question_is_answered_once_by_the_run_and_then_by_a_person(bakery: Shop) -> None:
    bakery.configure(run={"max_attempts": 9})
    done = bakery.run_agent(_ASK)
    assert done.outcomes == ["asked_question"] * 2
    first, second = done.of("task_state")
    assert (first["status"], "question" in first) == ("retry", False)
    assert (second["status"], second["question"]) == ("parked", "Which oven should I use?")
    assert "questions are not answered during a run" in bakery.read_prompt(done)
    assert "questions are not answered" not in bakery.read_prompt(done, 0)


def test_secrets_of_a_question_do_not_come_into_the_notes(bakery: Shop) -> None:
    secret = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    done = bakery.run_agent(f"echo '<stuck>{secret} has expired</stuck>'")
    assert bakery.record()["notes"].endswith("it waits for an answer: [masked] has expired")
    assert done.of("task_state")[0]["question"] == "[masked] has expired"
