"""What is taken over of a copy of the tasks that an attempt had, and what is not."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cub.actions.tasks.attempt_edits import (
    AttemptEdits,
    apply_attempt_edits,
    collect_attempt_edits,
    read_attempt_edits,
)
from cub.actions.tasks.task_edits import edit_task
from cub.actions.tasks.task_fields import TaskFields
from cub.store.jsonl import Record
from cub.store.store_paths import TASKS_FILE
from tests.actions.tasks.bakery import opened, record, statuses
from tests.cli.stories import write

_OWN: Record = {
    "id": "s-1", "rev": 3, "title": "Bake", "status": "in_progress", "priority": 2,
    "labels": ["oven", "old"], "checks": ["test -f bread"], "notes": "first",
    "lease": {"run": "r-1"}, "created_at": "2025-11-01T08:00:00.000Z",
}  # fmt: skip
_OTHER: Record = {**_OWN, "id": "s-2", "status": "parked", "checks": [], "lease": None}
_NEW: Record = {"id": "s-9", "title": "Sell", "created_at": "2025-11-01T09:00:00.000Z"}


def lines(*records: Record) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in records)


_BEFORE = lines(_OWN, _OTHER)


def take_over(root: Path, *after: Record, garbage: bytes = b"") -> list[str]:
    """Take over what an attempt at s-1 made of two tasks; the messages."""
    return apply(root, collect_attempt_edits(_BEFORE, lines(*after) + garbage, "s-1"))


def apply(root: Path, edits: AttemptEdits) -> list[str]:
    with opened(root).transaction() as transaction:
        return apply_attempt_edits(transaction, edits)


@pytest.fixture
def bakery(project: Path) -> Path:
    write(project, TASKS_FILE, _BEFORE)
    return project


def own(**fields: Any) -> Record:
    return {**_OWN, "rev": 4, **fields}


def test_what_an_attempt_did_not_change_is_no_edit() -> None:
    assert collect_attempt_edits(_BEFORE, _BEFORE, "s-1") == AttemptEdits()


def test_a_new_task_is_open_and_nobodys_with_the_id_that_was_printed(bakery: Path) -> None:
    forged = {
        **_NEW, "status": "closed", "close_reason": "done", "lease": {"run": "x"}, "rev": 99,
        "assignee": "me", "checks": ["true"], "labels": ["b", "a"], "priority": 0, "evil": 1,
        "stamps": {"title": "9999-01-01"}, "notes": "found on the way", "parent": "s-2",
        "depends_on": ["s-1", "gone"],
    }  # fmt: skip
    assert take_over(bakery, _OWN, _OTHER, forged) == []
    new = record(bakery, "s-9")
    assert {key: new[key] for key in ("title", "status", "priority", "checks", "labels")} == {
        "title": "Sell", "status": "open", "priority": 0, "checks": ["true"], "labels": ["a", "b"],
    }  # fmt: skip
    assert (new["notes"], new["parent"], new["depends_on"]) == ("found on the way", "s-2", ["s-1"])
    assert (new["created_at"], new["rev"] < 9) == (_NEW["created_at"], True)
    assert not {"lease", "assignee", "close_reason", "evil"}.intersection(new)
    assert "9999" not in json.dumps(new)


def test_new_tasks_may_wait_for_each_other_but_in_no_cycle(bakery: Path) -> None:
    one = {**_NEW, "id": "s-8", "depends_on": ["s-9"]}
    (message,) = take_over(bakery, _OWN, _OTHER, one, {**_NEW, "depends_on": ["s-8"]})
    assert "s-9 would wait for itself" in message
    assert (record(bakery, "s-8")["depends_on"], record(bakery, "s-9")["depends_on"]) == (
        ["s-9"],
        [],
    )


def test_once_more_adds_nothing(bakery: Path) -> None:
    """As after a kill: the next run takes over again."""
    for _ in range(2):
        assert take_over(bakery, own(notes="first\nsecond", labels=["new"]), _OTHER, _NEW) == []
        kept = (bakery / TASKS_FILE).read_bytes()
    assert len(opened(bakery).backend.read_tasks()) == 3
    assert record(bakery, "s-1")["notes"] == "first\nsecond"
    assert take_over(bakery, own(notes="first\nsecond", labels=["new"]), _OTHER, _NEW) == []
    assert (bakery / TASKS_FILE).read_bytes() == kept


def test_of_two_new_tasks_with_one_id_the_second_gets_another_one(bakery: Path) -> None:
    take_over(bakery, _OWN, _OTHER, {**_NEW, "title": "Of another attempt"})
    waits = own(depends_on=["s-9"])
    (message,) = take_over(bakery, waits, _OTHER, _NEW)
    assert take_over(bakery, waits, _OTHER, _NEW) == [message]
    new = message.removeprefix("the new task s-9 is ")
    assert (record(bakery, "s-9")["title"], record(bakery, new)["title"]) == (
        "Of another attempt",
        "Sell",
    )
    assert record(bakery, "s-1")["depends_on"] == [new]


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "../s-9"}, {"id": "x" * 200}, {"title": ""}, {"title": 7}, {"title": "a\nb"},
        {"title": "x" * 501}, {"issue_type": "cake"}, {"priority": 9}, {"checks": [" "]},
        {"description": "x" * 70_000}, {"notes": "x" * 70_000},
    ],
)  # fmt: skip
def test_a_task_that_no_command_would_add_is_told_and_left_out(
    bakery: Path, fields: Record
) -> None:
    (message,) = take_over(bakery, _OWN, _OTHER, {**_NEW, **fields})
    assert "taken over" in message
    if "notes" not in fields:
        assert statuses(bakery, "s-1", "s-2") == ["in_progress", "parked"]
        assert len(opened(bakery).backend.read_tasks()) == 2


def test_the_own_task_gets_what_was_edited_and_keeps_its_state_and_checks(bakery: Path) -> None:
    edited = own(
        title="Bake well", notes="first\nsecond", labels=["new", "oven"], status="closed",
        close_reason="done", checks=["true"], lease=None, deleted_at=None, rev=77,
    )  # fmt: skip
    edits = collect_attempt_edits(_BEFORE, lines(edited, _OTHER), "s-1")
    assert edits.request == {"task": "s-1", "reason": "done", "note": "second"}
    assert apply(bakery, edits) == ["the attempt changed the checks of s-1: not taken over"]
    now = record(bakery, "s-1")
    assert (now["title"], now["notes"], now["labels"]) == (
        "Bake well",
        "first\nsecond",
        ["new", "oven"],
    )
    assert {key: now[key] for key in ("status", "checks", "lease")} == {
        key: _OWN[key] for key in ("status", "checks", "lease")
    }


def test_what_a_person_edited_meanwhile_stays(bakery: Path) -> None:
    edit_task(opened(bakery), "s-1", TaskFields("Theirs", labels=["more"]), note="theirs")
    take_over(bakery, own(title="Mine", notes="first\nmine", labels=["oven"], priority=0), _OTHER)
    now = record(bakery, "s-1")
    assert (now["title"], now["labels"], now["priority"]) == ("Theirs", ["more", "oven"], 0)
    first, theirs, mine = now["notes"].splitlines()
    assert (first, theirs.endswith("theirs"), mine) == ("first", True, "mine")


def test_what_became_of_other_tasks_is_told_and_not_taken_over(bakery: Path) -> None:
    kept = (bakery / TASKS_FILE).read_bytes()
    told = ["the attempt changed s-2 in its copy of the tasks: not taken over"]
    for fields in ({"status": "closed"}, {"title": "x", "rev": 4}, {"deleted_at": "2025-11-02"}):
        assert take_over(bakery, _OWN, {**_OTHER, **fields}) == told
    gone = {**_OWN, "deleted_at": "2025-11-02", "rev": 4}
    assert take_over(bakery, gone, _OTHER) == [told[0].replace("s-2", "s-1")]
    assert (bakery / TASKS_FILE).read_bytes() == kept


@pytest.mark.parametrize(
    ("after", "garbage"),
    [
        ([], b""),
        ([_OTHER], b""),
        ([_OWN, {**_OTHER, "rev": 2, "title": "As committed"}], b""),
        ([_OWN, _OTHER], b'{"id": 7\n\377\0[]\n<<<<<<< x\n[1]\n{"title": "no id"}'),
    ],
)
def test_lines_that_are_gone_old_or_broken_say_nothing(
    bakery: Path, after: list[Record], garbage: bytes
) -> None:
    kept = (bakery / TASKS_FILE).read_bytes()
    assert take_over(bakery, *after, garbage=garbage) == []
    assert (bakery / TASKS_FILE).read_bytes() == kept


def _replace(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


def _link_folder(path: Path) -> None:
    path.unlink()
    path.parent.rmdir()
    other = path.parent.with_name("other")
    write(other, path.name, lines(_OWN, _OTHER, _NEW))
    path.parent.symlink_to(other)


@pytest.mark.parametrize(
    "put",
    [
        partial(_replace, make=os.mkfifo),
        partial(_replace, make=Path.mkdir),
        partial(_replace, make=lambda path: path.symlink_to("/dev/zero")),
        lambda path: os.truncate(path, 1 << 30),
        _link_folder,
    ],
)
def test_another_thing_in_the_place_of_the_copy_is_told(
    bakery: Path, put: Callable[[Path], object]
) -> None:
    put(bakery / TASKS_FILE)
    edits = read_attempt_edits(bakery, _BEFORE, "s-1")
    what = "the attempt replaced .cub/tasks.jsonl: tasks that it added are not taken over"
    assert edits == AttemptEdits(messages=(what,))


def test_a_copy_is_read_and_one_that_is_gone_has_no_edits(bakery: Path) -> None:
    write(bakery, TASKS_FILE, lines(_OWN, _OTHER, _NEW))
    assert [new["id"] for new in read_attempt_edits(bakery, _BEFORE, "s-1").added] == ["s-9"]
    (bakery / TASKS_FILE).unlink()
    assert read_attempt_edits(bakery, _BEFORE, "s-1") == AttemptEdits()


def test_after_a_kill_the_store_of_now_stands_for_the_one_of_before(bakery: Path) -> None:
    """What a person has edited since is newer than the copy."""
    edit_task(opened(bakery), "s-1", TaskFields("Theirs"))
    now = (bakery / TASKS_FILE).read_bytes()
    edits = collect_attempt_edits(now, lines(_OWN, _OTHER, _NEW), "s-1")
    assert apply(bakery, edits) == []
    assert (record(bakery, "s-1")["title"], statuses(bakery, "s-9")) == ("Theirs", ["open"])


def test_very_many_new_tasks_are_cut(bakery: Path) -> None:
    many = [{**_NEW, "id": f"s-{number}"} for number in range(10, 600)]
    assert take_over(bakery, _OWN, _OTHER, *many) == [
        "the attempt added 590 tasks: only 500 are taken over"
    ]
    assert len(opened(bakery).backend.read_tasks()) == 502


def test_ids_and_times_may_be_no_text(bakery: Path) -> None:
    """Half of a surrogate pair, twice with one id: reading any such store ended with a bug."""
    odd = [{**_NEW, "created_at": time} for time in ("\ud800", "\ud801", 7)]
    take_over(bakery, _OWN, _OTHER, *odd)
    assert len(opened(bakery).backend.read_tasks()) == 4
