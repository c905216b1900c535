"""Deleting tasks: what keeps from it, what follows them, and the way back."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.history import archive, story
from cub.actions.tasks.add import depend, edit
from cub.actions.tasks.delete import deletable, delete
from cub.actions.tasks.doctor import examine
from cub.actions.tasks.draft import Draft
from cub.actions.tasks.exchange import export, take
from cub.actions.tasks.queries import Filter, listed, shown, startable, stats
from cub.actions.tasks.status import claim, close, park, reopen
from cub.errors import CubError
from cub.store.formats import read_tasks
from cub.store.place import TASKS
from tests.actions.tasks.bakery import added, epic, events, ids, opened, record, statuses, stored
from tests.store.records import day


def gone(root: Path, *keys: str, on: int = 2, recursive: bool = False, force: bool = False) -> None:
    delete(opened(root, on), keys, recursive=recursive, force=force)


def test_a_deleted_task_is_in_no_answer_and_the_ledger_tells_of_it(project: Path) -> None:
    key, other = added(project, "Bake"), added(project, "Knead")
    outcome = delete(opened(project, on=3), [key], "Nobody eats it")
    assert ids(outcome) == [key]
    assert outcome.tasks[0]["deleted_at"] == day(3)
    (event,) = events(project)
    assert {name: event[name] for name in ("ev", "ts", "task", "status", "by", "note")} == {
        "ev": "task_state", "ts": day(3), "task": key, "status": "deleted", "by": "ida",
        "note": "Nobody eats it",
    }  # fmt: skip
    found = listed(opened(project), Filter(("all",)))
    assert ([row.id for row in found.rows], found.hidden) == ([other], 0)
    assert [row.id for row in startable(opened(project)).rows] == [other]
    counted = stats(opened(project))
    assert (counted.statuses, counted.ready) == ({"open": 1}, 1)
    with pytest.raises(CubError, match=f"{key} was deleted on 2026-01-03") as error:
        shown(opened(project), key)
    assert error.value.hint == f"`cub task reopen {key}` brings it back"
    told = story(opened(project), key)
    assert (told.task or {})["title"] == "Bake"
    assert [one["status"] for one in told.events] == ["deleted"]
    assert examine(opened(project)) == []


def test_what_was_written_stays_in_the_file(project: Path) -> None:
    key = added(project, description="Slowly", labels=["oven"])
    before = record(project, key)
    gone(project, key)
    now = record(project, key)
    assert {name: now[name] for name in before if name not in ("rev", "updated_at")} == {
        name: before[name] for name in before if name not in ("rev", "updated_at")
    }


def test_only_who_asks_for_deleted_tasks_sees_them(project: Path) -> None:
    key, other = added(project), added(project)
    close(opened(project), [other], None)
    gone(project, key, other)
    assert listed(opened(project), Filter()).rows == []
    found = listed(opened(project), Filter(("deleted",)))
    assert {row.id for row in found.rows} == {key, other}
    assert {one["id"] for one in found.records()} == {key, other}


@pytest.mark.parametrize("status", ["open", "closed", "parked", "in_progress"])
def test_reopening_brings_it_back_as_an_open_task(project: Path, status: str) -> None:
    key = added(project, "Bake", labels=["oven"])
    stores = opened(project)
    if status == "closed":
        close(stores, [key], "wontfix")
    elif status == "parked":
        park(stores, [key])
    elif status == "in_progress":
        claim(stores, key)
    gone(project, key, on=3)
    outcome = reopen(opened(project, on=4), [key])
    assert (ids(outcome), outcome.said) == ([key], [])
    back = record(project, key)
    assert (back["status"], back["title"], back["labels"]) == ("open", "Bake", ["oven"])
    assert not {"deleted_at", "lease", "assignee", "close_reason"} & back.keys()
    assert ("reopened_at" in back) == (status == "closed")
    assert events(project)[-1]["status"] == "open"
    assert claim(opened(project, on=5), key).tasks[0]["status"] == "in_progress"


def test_the_part_that_is_back_reopens_its_epic_or_tells_of_a_deleted_one(project: Path) -> None:
    top = epic(project)
    one, two = added(project, parent=top), added(project, parent=top)
    gone(project, one)
    close(opened(project), [two], None)
    assert statuses(project, top) == ["closed"]
    assert reopen(opened(project, on=4), [one]).said == [f"The epic {top} is open again."]
    gone(project, top, on=5, recursive=True)
    (warning,) = reopen(opened(project, on=6), [one]).warnings
    assert warning.message == f"{one} is a part of {top}, which was deleted"
    assert warning.hint == f"`cub task reopen {top}` brings it back"


def test_deleting_twice_and_what_nobody_knows_are_errors(project: Path) -> None:
    key = added(project)
    gone(project, key)
    before = stored(project)
    for wrong, said in ((key, "was deleted"), ("zzz", "there is no task 'zzz'")):
        with pytest.raises(CubError, match=said):
            gone(project, wrong)
    assert stored(project) == before


@pytest.mark.parametrize(
    "how",
    [
        claim,
        lambda stores, key: close(stores, [key], None),
        lambda stores, key: park(stores, [key]),
        lambda stores, key: edit(stores, key, Draft(title="x")),
        lambda stores, key: listed(stores, Filter(epic=key)),
    ],
    ids=["claim", "close", "park", "edit", "epic"],
)
def test_nothing_else_is_done_to_a_deleted_task(project: Path, how: object) -> None:
    key = added(project)
    gone(project, key)
    before = stored(project)
    with pytest.raises(CubError, match="was deleted"):
        how(opened(project), key)  # type: ignore[operator]
    assert stored(project) == before


def test_parts_keep_from_deleting_unless_they_go_too(project: Path) -> None:
    top = epic(project)
    low = epic(project, parent=top)
    part = added(project, parent=low)
    close(opened(project), [part], None)
    before = stored(project)
    with pytest.raises(CubError, match=f"{low} can't be deleted") as error:
        gone(project, low)
    assert error.value.details == (f"{part} is a part of {low}",)
    assert error.value.hint.startswith("--recursive deletes the parts, too")
    assert stored(project) == before
    assert deletable(opened(project).backend.read(), [top], recursive=True) == [top, low, part]
    gone(project, top, recursive=True)
    assert listed(opened(project), Filter(("all",))).rows == []


def test_who_waits_keeps_from_deleting_unless_forced(project: Path) -> None:
    key = added(project, "Knead")
    waiting, done = added(project, depends_on=[key]), added(project, depends_on=[key])
    close(opened(project), [done], None)
    before = stored(project)
    with pytest.raises(CubError, match=f"{key} can't be deleted") as error:
        gone(project, key)
    assert error.value.details == (f"{waiting} waits for {key}",)
    assert error.value.hint.startswith("--force lets nothing wait")
    assert stored(project) == before
    outcome = delete(opened(project, on=3), [key], force=True)
    assert outcome.said == [f"{waiting} waits no longer for {key}."]
    assert (record(project, waiting)["depends_on"], record(project, done)["depends_on"]) == (
        [],
        [key],
    )
    assert [row.id for row in startable(opened(project)).rows] == [waiting]


def test_who_waits_may_go_along(project: Path) -> None:
    key = added(project)
    waiting = added(project, depends_on=[key])
    gone(project, key, waiting)
    assert listed(opened(project), Filter(("all",))).rows == []


def test_all_that_keeps_from_it_is_told_at_once(project: Path) -> None:
    key = added(project)
    parts = [added(project, parent=key) for _ in range(12)]
    added(project, depends_on=[key])
    with pytest.raises(CubError) as error:
        gone(project, key)
    assert len(error.value.details) == 11
    assert error.value.details[0] == f"{parts[0]} is a part of {key}"
    assert error.value.details[-1] == "and 3 more"
    assert "--recursive" in error.value.hint
    assert "--force" in error.value.hint


def test_what_somebody_works_on_is_not_deleted(project: Path) -> None:
    key = added(project)
    claim(opened(project, who="bob"), key)
    with pytest.raises(CubError, match=f"{key} is claimed by bob") as error:
        gone(project, key, force=True)
    assert error.value.hint == f"`cub task reopen {key}` gives it back"
    gone(project, key, on=9)  # the lease is over


def test_my_own_claim_keeps_me_from_nothing(project: Path) -> None:
    key = added(project)
    claim(opened(project), key)
    gone(project, key)


def test_an_epic_closes_when_its_last_open_part_goes(project: Path) -> None:
    top = epic(project)
    one, two = added(project, parent=top), added(project, parent=top)
    close(opened(project), [one], None)
    assert delete(opened(project), [two]).said == [
        f"The epic {top} is closed: all of its tasks are done."
    ]
    gone(project, one, on=4)
    assert statuses(project, top) == ["closed"]
    empty = epic(project)
    gone(project, added(project, parent=empty))
    assert statuses(project, empty) == ["open"]


def test_the_id_is_not_given_again(project: Path) -> None:
    top = epic(project)
    last = [added(project, parent=top) for _ in range(2)][1]
    gone(project, last)
    assert added(project, parent=top) == f"{top}.3"


def test_a_dependency_that_was_deleted_elsewhere_is_told_as_such(project: Path) -> None:
    key, part = added(project), added(project)
    waiting = added(project, depends_on=[key])
    data = (project / TASKS).read_bytes()
    gone(project, key, force=True)
    line = next(one for one in data.splitlines() if f'"{waiting}"'.encode() in one[:40])
    later = line.replace(b'"updated_at"', b'"parent":"%s","updated_at"' % key.encode())
    lines = [one for one in stored(project)[TASKS].splitlines() if waiting.encode() not in one]
    (project / TASKS).write_bytes(b"\n".join([*lines, later]) + b"\n")
    assert [row.id for row in startable(opened(project)).rows] == [part]
    told = [(one.kind, one.message, one.hint) for one in examine(opened(project))]
    assert told == [
        (
            "dangling",
            f"{waiting} waits for {key}, which was deleted",
            f"`cub task dep remove {waiting} {key}`",
        ),
        (
            "dangling",
            f"{waiting} is a part of {key}, which was deleted",
            f'`cub task edit {waiting} --parent ""`',
        ),
    ]
    depend(opened(project), waiting, [key], remove=True)
    assert record(project, waiting)["depends_on"] == []


def test_nothing_new_waits_for_a_deleted_task(project: Path) -> None:
    key, other = added(project), added(project)
    gone(project, key)
    with pytest.raises(CubError, match="was deleted"):
        depend(opened(project), other, [key])
    with pytest.raises(CubError, match="was deleted"):
        added(project, parent=key)


@pytest.mark.parametrize("format_", ["jsonl", "beads", "prd"])
def test_an_export_has_no_deleted_task_and_an_import_brings_none_back(
    project: Path, format_: str
) -> None:
    key, other = added(project, "Bake"), added(project, "Knead")
    data = export(opened(project), format_).data
    gone(project, key)
    assert key.encode() not in export(opened(project), format_)[0]
    line = opened(project).backend.read().line(key)
    for dry_run in (True, False):
        taken = take(opened(project), read_tasks(data, "x", format_), "x", dry_run=dry_run)
        assert taken.outcome.said == [f"{key} stays deleted."]
        assert taken.added == []
    tasks = opened(project).backend.read()
    assert ([*tasks.briefs], [*tasks.deleted], tasks.line(key)) == ([other], [key], line)


def test_deleted_lines_of_another_project_are_not_taken_in(project: Path) -> None:
    key = added(project)
    gone(project, key)
    data = stored(project)[TASKS]
    (project / TASKS).unlink()
    taken = take(opened(project), read_tasks(data, "x", "jsonl"), "x")
    assert (taken.added, taken.unchanged) == ([], 0)


def test_what_happened_to_a_deleted_task_may_be_archived(project: Path) -> None:
    key = added(project)
    gone(project, key)
    assert archive(opened(project), "2026-02-01").moved == 1
