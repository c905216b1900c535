from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.tasks.task_edits import edit_task
from cub.actions.tasks.task_fields import TaskFields
from cub.actions.tasks.transitions import claim_task, close_tasks, park_tasks, reopen_tasks
from cub.errors import CubError
from cub.store.store_paths import TASKS_FILE
from tests.actions.tasks.bakery import (
    added,
    epic,
    events,
    ids,
    opened,
    record,
    statuses,
    stored,
)
from tests.store.records import day


def test_a_closed_task_says_how_and_when(project: Path) -> None:
    key = added(project)
    close_tasks(opened(project, on=2), [key], None, " Brown ")
    found = record(project, key)
    assert (found["status"], found["close_reason"], found["closed_at"]) == (
        "closed",
        "done",
        day(2),
    )
    assert found["notes"] == "2026-01-02T00:00Z ida: Brown"
    (event,) = events(project)
    assert {k: event[k] for k in ("ev", "ts", "task", "status", "by", "reason", "note")} == {
        "ev": "task_state", "ts": day(2), "task": key, "status": "closed", "by": "ida",
        "reason": "done", "note": "Brown",
    }  # fmt: skip


def test_closing_again_changes_nothing_but_with_another_reason(project: Path) -> None:
    key, other = added(project), added(project)
    close_tasks(opened(project), [key], None)
    before = stored(project)
    for reason in (None, "done"):
        assert close_tasks(opened(project), [key], reason).messages == [
            f"{key} is already closed (done)."
        ]
    assert stored(project) == before
    both = close_tasks(opened(project, on=3), [key, other, key], None)
    assert (ids(both), both.silent_ids) == ([key, other], {key})
    close_tasks(opened(project), [key], "wontfix")
    assert record(project, key)["close_reason"] == "wontfix"


def test_an_unknown_task_among_others_changes_none(project: Path) -> None:
    key = added(project)
    before = stored(project)
    with pytest.raises(CubError, match="there is no task 'zzz'"):
        close_tasks(opened(project), [key, "zzz"], None)
    with pytest.raises(CubError, match="there is no task 'zzz'"):
        park_tasks(opened(project), [key, "zzz"])
    assert stored(project) == before


def test_epics_close_with_their_last_task_up_to_the_top(project: Path) -> None:
    top = epic(project)
    middle = epic(project, parent=top)
    low = epic(project, parent=middle)
    one, two = added(project, parent=low), added(project, parent=low)
    assert close_tasks(opened(project), [one], None).messages == []
    outcome = close_tasks(opened(project), [two], "no_change")
    assert outcome.messages == [
        f"Closed the epic {key}: all of its tasks are done." for key in (low, middle, top)
    ]
    assert statuses(project, top, middle, low) == ["closed"] * 3
    assert record(project, top)["close_reason"] == "done"
    assert [event["task"] for event in events(project)] == [one, two, low, middle, top]
    assert (ids(outcome), outcome.silent_ids) == ([two, low, middle, top], {low, middle, top})


@pytest.mark.parametrize("reason", ["wontfix", "duplicate"])
def test_an_epic_with_an_undone_task_is_left_to_a_person(project: Path, reason: str) -> None:
    top = epic(project)
    one, two = added(project, parent=top), added(project, parent=top)
    close_tasks(opened(project), [one], reason)
    (said,) = close_tasks(opened(project), [two], None).messages
    assert said.startswith(f"All tasks of the epic {top} are closed, one of them not done. ")
    assert statuses(project, top) == ["open"]
    close_tasks(opened(project), [one], "done")
    assert statuses(project, top) == ["closed"]


def test_an_epic_that_waits_for_others_stays_open(project: Path) -> None:
    top = epic(project)
    low, part = epic(project, parent=top), added(project, parent=top)
    close_tasks(opened(project), [added(project, parent=low)], None)
    assert statuses(project, top, low) == ["open", "closed"]
    close_tasks(opened(project), [part], None)
    assert statuses(project, top) == ["closed"]


def test_a_task_that_is_no_epic_is_not_closed_by_its_parts(project: Path) -> None:
    key = added(project)
    assert close_tasks(opened(project), [added(project, parent=key)], None).messages == []
    assert statuses(project, key) == ["open"]


def test_closing_an_epic_tells_what_is_open_below(project: Path) -> None:
    top = epic(project)
    parts = [added(project, parent=top) for _ in range(4)]
    (warning,) = close_tasks(opened(project), [top], None).warnings
    few = ", ".join(parts[:3])
    assert warning.message == f"{top} is closed, but has open subtasks: {few}, …"


def test_reopening_a_part_reopens_the_epics_that_closed_with_it(project: Path) -> None:
    top = epic(project)
    low = epic(project, parent=top)
    part = added(project, parent=low)
    close_tasks(opened(project, on=2), [part], None)
    outcome = reopen_tasks(opened(project, on=3), [part])
    assert statuses(project, top, low, part) == ["open"] * 3
    assert outcome.messages == [f"Reopened the epic {low}.", f"Reopened the epic {top}."]
    found = record(project, low)
    assert (found["reopened_at"], "closed_at" in found) == (day(3), False)
    assert "close_reason" not in found
    assert reopen_tasks(opened(project), [part]).messages == [f"{part} is already open."]


def test_a_parked_task_stays_until_it_is_reopened(project: Path) -> None:
    key = added(project)
    claim_task(opened(project), key)
    park_tasks(opened(project), [key], "The oven is cold")
    assert "lease" not in record(project, key)
    with pytest.raises(CubError, match=f"{key} is parked") as error:
        claim_task(opened(project), key)
    assert error.value.hint == f"run `cub task reopen {key}` first"
    assert park_tasks(opened(project), [key]).messages == [f"{key} is already parked."]
    reopen_tasks(opened(project), [key])
    assert statuses(project, key) == ["open"]
    close_tasks(opened(project), [key], None)
    with pytest.raises(CubError, match=f"{key} is closed"):
        park_tasks(opened(project), [key])


def test_what_is_foreign_is_kept_by_every_change(project: Path) -> None:
    key = added(project)
    line = (project / TASKS_FILE).read_bytes().rstrip(b"}\n") + b',"oven":{"hot":[1.50]}}\n'
    (project / TASKS_FILE).write_bytes(line)
    claim_task(opened(project), key)
    close_tasks(opened(project), [key], None)
    edit_task(opened(project), key, TaskFields(title="New"))
    assert record(project, key)["oven"] == {"hot": [1.5]}


def test_an_unknown_status_is_told_and_reopening_ends_it(project: Path) -> None:
    key = added(project)
    data = (project / TASKS_FILE).read_bytes()
    (project / TASKS_FILE).write_bytes(data.replace(b'"open"', b'"blocked?"'))
    with pytest.raises(CubError, match=r"has the unknown status 'blocked\?'") as error:
        claim_task(opened(project), key)
    assert error.value.hint == f"run `cub task reopen {key}` to reopen it"
    reopen_tasks(opened(project), [key])
    assert statuses(project, key) == ["open"]
