"""Deleting tasks: what keeps from it, what follows them, and the way back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cub.actions.doctor.project_problems import find_store_problems
from cub.actions.ledger_report import archive_old_events, read_task_history
from cub.actions.tasks.import_export import export_tasks, import_tasks
from cub.actions.tasks.task_edits import (
    add_task,
    delete_tasks,
    edit_task,
    select_deletable_tasks,
    set_dependencies,
)
from cub.actions.tasks.task_fields import MAX_TEXT, TaskFields
from cub.actions.tasks.task_queries import (
    count_tasks,
    list_ready_tasks,
    list_tasks,
    read_task_details,
)
from cub.actions.tasks.transitions import claim_task, close_tasks, park_tasks, reopen_tasks
from cub.errors import CubError, UsageError
from cub.store.formats.format_registry import EXPORT_FORMATS, parse_tasks
from cub.store.store_paths import TASKS_FILE
from cub.store.task_ids import ALPHABET
from tests.actions.tasks.bakery import added, epic, events, ids, opened, record, statuses, stored
from tests.conftest import tree
from tests.store.records import day

ALL: dict[str, Any] = {
    "type": "feature",
    "priority": "P0",
    "labels": ["oven,bread", "oven"],
    "accept": ["It is brown", " ", "It is brown"],
    "checks": ["make bread"],
    "description": "Slowly.\nAt night.",
}


def test_a_new_task_has_what_was_said_and_what_goes_without_saying(project: Path) -> None:
    key = added(project, "  Bake  ")
    assert record(project, key) == {
        "id": key, "rev": 1, "title": "Bake", "status": "open", "priority": 2,
        "issue_type": "task", "description": "", "acceptance_criteria": [], "depends_on": [],
        "labels": [], "created_at": day(1), "updated_at": day(1),
    }  # fmt: skip
    full = record(project, added(project, "Bake", **ALL))
    assert (full["issue_type"], full["priority"]) == ("feature", 0)
    assert (full["labels"], full["checks"]) == (["bread", "oven"], ["make bread"])
    assert full["acceptance_criteria"] == ["It is brown"]
    assert full["description"] == "Slowly.\nAt night."
    assert events(project) == []


def test_ids_are_short_and_those_of_parts_go_on_counting(project: Path) -> None:
    key = epic(project)
    prefix, _, letters = key.rpartition("-")
    assert (prefix, len(letters)) == ("project", 5)
    assert set(letters) <= set(ALPHABET)
    assert [added(project, parent=letters) for _ in range(2)] == [f"{key}.1", f"{key}.2"]
    assert epic(project, parent=f"{key}.2") == f"{key}.2.1"
    assert added(project).startswith("project-")


def test_two_tasks_of_one_title_and_time_have_two_ids(project: Path, tmp_path: Path) -> None:
    assert added(project) != added(project)
    other = tmp_path / "other" / "project"
    other.mkdir(parents=True)
    assert added(other.resolve()) not in opened(project).backend.read_tasks()


def test_the_first_task_brings_what_git_needs(project: Path) -> None:
    added(project)
    assert {*tree(project)} == {".cub/tasks.jsonl", ".cub/.gitignore", ".cub/.gitattributes"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"title": ""}, "the title is empty"),
        ({"title": "\t \n"}, "the title is empty"),
        ({"title": "a\nb"}, "a title must be one line"),
        ({"title": "a\u2028b"}, "a title must be one line"),
        ({"title": "x" * 501}, "at most 500 characters"),
        ({"type": "bugg"}, "unknown type 'bugg'"),
        ({"priority": "5"}, "unknown priority '5'"),
        ({"priority": ""}, "unknown priority ''"),
        ({"description": "é" * (MAX_TEXT // 2) + "x"}, "the description has 65,537 bytes"),
        ({"accept": ["x" * 1_000_000]}, "an acceptance criterion has 1,000,000 bytes"),
        ({"checks": ["x" * 1_000_000]}, "a check has 1,000,000 bytes"),
    ],
)
def test_what_no_task_can_say_is_refused(
    project: Path, fields: dict[str, Any], message: str
) -> None:
    key = added(project)
    before = stored(project)
    with pytest.raises(UsageError, match=message):
        add_task(opened(project), TaskFields(**{"title": "Bake", **fields}))
    with pytest.raises(UsageError, match=message):
        edit_task(opened(project), key, TaskFields(**fields))
    assert stored(project) == before


def test_a_refused_first_task_leaves_no_trace(project: Path) -> None:
    for fields in ({"title": ""}, {"parent": "k3f9a"}, {"depends_on": ["k3f9a"]}):
        with pytest.raises(CubError):
            added(project, **fields)
    assert tree(project) == {}


def test_an_edit_changes_what_is_given_and_leaves_the_rest(project: Path) -> None:
    key = added(project, **ALL)
    before = record(project, key)
    edit_task(
        opened(project, on=2), key, TaskFields(priority="4", labels=["shop"]), unlabel=["oven"]
    )
    after = record(project, key)
    assert (after["priority"], after["labels"]) == (4, ["bread", "shop"])
    assert (after["rev"], after["updated_at"]) == (2, day(2))
    assert after["stamps"] == {"labels": {"oven": day(2), "shop": day(2)}, "priority": day(2)}
    apart = {"priority", "labels", "rev", "updated_at", "stamps"}
    assert {k: v for k, v in after.items() if k not in apart} == {
        k: v for k, v in before.items() if k not in apart
    }


def test_lists_are_replaced_and_texts_can_go(project: Path) -> None:
    key = added(project, **ALL)
    edit_task(opened(project), key, TaskFields(accept=["Hot"], checks=[], description=""))
    after = record(project, key)
    assert (after["acceptance_criteria"], after["checks"], after["description"]) == (
        ["Hot"],
        [],
        "",
    )


def test_an_edit_that_changes_nothing_writes_nothing_and_says_so(project: Path) -> None:
    key = added(project)
    before = stored(project)
    outcome = edit_task(opened(project), key, TaskFields(title=" Bake "), note="  ")
    assert (outcome.messages, stored(project)) == ([f"No change to {key}."], before)


def test_notes_are_added_with_their_time_and_author(project: Path) -> None:
    key = added(project)
    for on, note in ((2, "It smokes\n"), (3, "Fixed")):
        edit_task(opened(project, on), key, TaskFields(), note=note)
    first, second = record(project, key)["notes"].splitlines()
    assert (first, second) == ("2026-01-02T00:00Z ida: It smokes", "2026-01-03T00:00Z ida: Fixed")
    with pytest.raises(UsageError, match="a note has"):
        edit_task(opened(project), key, TaskFields(), note="x" * 1_000_000)


def test_a_task_waits_for_others_and_no_longer(project: Path) -> None:
    key, flour, oven = added(project), added(project, "Flour"), added(project, "Oven")
    set_dependencies(opened(project), key, [f"{flour},{oven}"])
    assert record(project, key)["depends_on"] == sorted([flour, oven])
    assert set_dependencies(opened(project), key, [oven]).messages == [f"No change to {key}."]
    set_dependencies(opened(project), key, [oven], remove=True)
    assert record(project, key)["depends_on"] == [flour]
    assert set_dependencies(opened(project), key, [oven], remove=True).messages == [
        f"No change to {key}."
    ]
    with pytest.raises(CubError, match="there is no task 'sugar'"):
        set_dependencies(opened(project), key, ["sugar"], remove=True)


def test_a_circle_is_refused_and_shown(project: Path) -> None:
    first = added(project)
    second = added(project, depends_on=[first])
    third = added(project, depends_on=[second])
    before = stored(project)
    with pytest.raises(CubError) as error:
        set_dependencies(opened(project), first, [third])
    circle = f"{first} → {third} → {second} → {first}"
    assert error.value.message == f"{first} would wait for itself: {circle}"
    with pytest.raises(CubError, match="would wait for itself"):
        set_dependencies(opened(project), first, [first])
    assert stored(project) == before


def test_nobody_is_a_part_of_itself(project: Path) -> None:
    top = epic(project)
    low = epic(project, parent=epic(project, parent=top))
    for parent in (top, low):
        with pytest.raises(CubError, match="would be its own ancestor: "):
            edit_task(opened(project), top, TaskFields(parent=parent))
    edit_task(opened(project), low, TaskFields(parent=""))
    assert "parent" not in record(project, low)


def test_no_part_waits_for_its_own_epic(project: Path) -> None:
    top = epic(project)
    low = epic(project, parent=top)
    part = added(project, parent=low)
    flour = added(project, depends_on=[top])
    before = stored(project)
    with pytest.raises(CubError, match=f"{part} would wait for itself: {part} → {top} → {low} → "):
        set_dependencies(opened(project), part, [top])
    with pytest.raises(CubError, match=f"{part} → {flour} → {top} → {low} → {part}$"):
        set_dependencies(opened(project), part, [flour])
    with pytest.raises(CubError, match=f"{low}.2 → {low} → {low}.2$"):
        added(project, parent=low, depends_on=[low])
    with pytest.raises(
        CubError, match=f"{flour} would wait for itself: {flour} → {top} → {flour}$"
    ):
        edit_task(opened(project), flour, TaskFields(parent=top))
    assert stored(project) == before
    set_dependencies(opened(project), top, [part])


def test_a_part_reopens_the_closed_epics_above_it(project: Path) -> None:
    top = epic(project)
    low = epic(project, parent=top)
    part, other = added(project, parent=low), added(project)
    close_tasks(opened(project), [part], None)
    assert statuses(project, top, low) == ["closed", "closed"]
    outcome = add_task(opened(project), TaskFields("More", parent=low))
    assert outcome.messages == [f"Reopened the epic {low}.", f"Reopened the epic {top}."]
    assert statuses(project, top, low) == ["open", "open"]
    close_tasks(opened(project), [outcome.tasks[0]["id"]], None)
    edit_task(opened(project), other, TaskFields(parent=low))
    assert statuses(project, top, low, other) == ["open", "open", "open"]


def test_a_closed_part_reopens_nothing(project: Path) -> None:
    top, other = epic(project), added(project)
    close_tasks(opened(project), [top, other], None)
    edit_task(opened(project), other, TaskFields(parent=top))
    assert statuses(project, top, other) == ["closed", "closed"]


def gone(root: Path, *keys: str, on: int = 2, recursive: bool = False, force: bool = False) -> None:
    delete_tasks(opened(root, on), keys, recursive=recursive, force=force)


def test_a_deleted_task_is_in_no_answer_and_the_ledger_tells_of_it(project: Path) -> None:
    key, other = added(project, "Bake"), added(project, "Knead")
    outcome = delete_tasks(opened(project, on=3), [key], "Nobody eats it")
    assert ids(outcome) == [key]
    assert outcome.tasks[0]["deleted_at"] == day(3)
    (event,) = events(project)
    assert {name: event[name] for name in ("ev", "ts", "task", "status", "by", "note")} == {
        "ev": "task_state", "ts": day(3), "task": key, "status": "deleted", "by": "ida",
        "note": "Nobody eats it",
    }  # fmt: skip
    found = list_tasks(opened(project), ("all",))
    assert ([row.id for row in found.summaries], found.hidden_count) == ([other], 0)
    assert [row.id for row in list_ready_tasks(opened(project)).summaries] == [other]
    counted = count_tasks(opened(project))
    assert (counted.statuses, counted.ready) == ({"open": 1}, 1)
    with pytest.raises(CubError, match=f"{key} was deleted on 2026-01-03") as error:
        read_task_details(opened(project), key)
    assert error.value.hint == f"`cub task reopen {key}` brings it back"
    told = read_task_history(opened(project), key)
    assert (told.task or {})["title"] == "Bake"
    assert [one["status"] for one in told.events] == ["deleted"]
    assert list(find_store_problems(opened(project))) == []


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
    close_tasks(opened(project), [other], None)
    gone(project, key, other)
    assert list_tasks(opened(project)).summaries == []
    found = list_tasks(opened(project), ("deleted",))
    assert {row.id for row in found.summaries} == {key, other}
    assert {one["id"] for one in found.iter_records()} == {key, other}


@pytest.mark.parametrize("status", ["open", "closed", "parked", "in_progress"])
def test_reopening_brings_it_back_as_an_open_task(project: Path, status: str) -> None:
    key = added(project, "Bake", labels=["oven"])
    stores = opened(project)
    if status == "closed":
        close_tasks(stores, [key], "wontfix")
    elif status == "parked":
        park_tasks(stores, [key])
    elif status == "in_progress":
        claim_task(stores, key)
    gone(project, key, on=3)
    outcome = reopen_tasks(opened(project, on=4), [key])
    assert (ids(outcome), outcome.messages) == ([key], [])
    back = record(project, key)
    assert (back["status"], back["title"], back["labels"]) == ("open", "Bake", ["oven"])
    assert not {"deleted_at", "lease", "assignee", "close_reason"} & back.keys()
    assert ("reopened_at" in back) == (status == "closed")
    assert events(project)[-1]["status"] == "open"
    assert claim_task(opened(project, on=5), key).tasks[0]["status"] == "in_progress"


def test_the_part_that_is_back_reopens_its_epic_or_tells_of_a_deleted_one(project: Path) -> None:
    top = epic(project)
    one, two = added(project, parent=top), added(project, parent=top)
    gone(project, one)
    close_tasks(opened(project), [two], None)
    assert statuses(project, top) == ["closed"]
    assert reopen_tasks(opened(project, on=4), [one]).messages == [f"Reopened the epic {top}."]
    gone(project, top, on=5, recursive=True)
    (warning,) = reopen_tasks(opened(project, on=6), [one]).warnings
    assert warning.message == f"{one} is part of {top}, which was deleted"
    assert warning.hint == f"run `cub task reopen {top}` to restore it"


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
        claim_task,
        lambda stores, key: close_tasks(stores, [key], None),
        lambda stores, key: park_tasks(stores, [key]),
        lambda stores, key: edit_task(stores, key, TaskFields(title="x")),
        lambda stores, key: list_tasks(stores, epic=key),
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
    close_tasks(opened(project), [part], None)
    before = stored(project)
    with pytest.raises(CubError, match=f"{low} cannot be deleted") as error:
        gone(project, low)
    assert error.value.details == (f"{part} is part of {low}",)
    assert error.value.hint.startswith("pass `--recursive` to also delete the subtasks")
    assert stored(project) == before
    assert select_deletable_tasks(opened(project).backend.read_tasks(), [top], recursive=True) == [
        top,
        low,
        part,
    ]
    gone(project, top, recursive=True)
    assert list_tasks(opened(project), ("all",)).summaries == []


def test_who_waits_keeps_from_deleting_unless_forced(project: Path) -> None:
    key = added(project, "Knead")
    waiting, done = added(project, depends_on=[key]), added(project, depends_on=[key])
    close_tasks(opened(project), [done], None)
    before = stored(project)
    with pytest.raises(CubError, match=f"{key} cannot be deleted") as error:
        gone(project, key)
    assert error.value.details == (f"{waiting} waits for {key}",)
    assert error.value.hint.startswith("pass `--force` to remove")
    assert stored(project) == before
    outcome = delete_tasks(opened(project, on=3), [key], force=True)
    assert outcome.messages == [f"{waiting} no longer waits for {key}."]
    assert (record(project, waiting)["depends_on"], record(project, done)["depends_on"]) == (
        [],
        [key],
    )
    assert [row.id for row in list_ready_tasks(opened(project)).summaries] == [waiting]


def test_who_waits_may_go_along(project: Path) -> None:
    key = added(project)
    waiting = added(project, depends_on=[key])
    gone(project, key, waiting)
    assert list_tasks(opened(project), ("all",)).summaries == []


def test_all_that_keeps_from_it_is_told_at_once(project: Path) -> None:
    key = added(project)
    parts = [added(project, parent=key) for _ in range(12)]
    added(project, depends_on=[key])
    with pytest.raises(CubError) as error:
        gone(project, key)
    assert len(error.value.details) == 11
    assert error.value.details[0] == f"{parts[0]} is part of {key}"
    assert error.value.details[-1] == "and 3 more"
    assert "--recursive" in error.value.hint
    assert "--force" in error.value.hint


def test_what_somebody_works_on_is_not_deleted(project: Path) -> None:
    key = added(project)
    claim_task(opened(project, who="bob"), key)
    with pytest.raises(CubError, match=f"{key} is claimed by bob") as error:
        gone(project, key, force=True)
    assert error.value.hint == f"run `cub task reopen {key}` to release it"
    gone(project, key, on=9)  # the lease is over


def test_my_own_claim_keeps_me_from_nothing(project: Path) -> None:
    key = added(project)
    claim_task(opened(project), key)
    gone(project, key)


def test_an_epic_closes_when_its_last_open_part_goes(project: Path) -> None:
    top = epic(project)
    one, two = added(project, parent=top), added(project, parent=top)
    close_tasks(opened(project), [one], None)
    assert delete_tasks(opened(project), [two]).messages == [
        f"Closed the epic {top}: all of its tasks are done."
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
    data = (project / TASKS_FILE).read_bytes()
    gone(project, key, force=True)
    line = next(one for one in data.splitlines() if f'"{waiting}"'.encode() in one[:40])
    later = line.replace(b'"updated_at"', b'"parent":"%s","updated_at"' % key.encode())
    lines = [one for one in stored(project)[TASKS_FILE].splitlines() if waiting.encode() not in one]
    (project / TASKS_FILE).write_bytes(b"\n".join([*lines, later]) + b"\n")
    assert [row.id for row in list_ready_tasks(opened(project)).summaries] == [part]
    told = [(one.code, one.message, one.fix) for one in find_store_problems(opened(project))]
    assert told == [
        (
            "D604",
            f"{waiting} depends on {key}, which was deleted",
            f"cub task dep remove {waiting} {key}",
        ),
        (
            "D605",
            f"the parent of {waiting} is {key}, which was deleted",
            f'cub task edit {waiting} --parent ""',
        ),
    ]
    set_dependencies(opened(project), waiting, [key], remove=True)
    assert record(project, waiting)["depends_on"] == []


def test_nothing_new_waits_for_a_deleted_task(project: Path) -> None:
    key, other = added(project), added(project)
    gone(project, key)
    with pytest.raises(CubError, match="was deleted"):
        set_dependencies(opened(project), other, [key])
    with pytest.raises(CubError, match="was deleted"):
        added(project, parent=key)


@pytest.mark.parametrize("format_", ["jsonl", "beads", "prd"])
def test_an_export_has_no_deleted_task_and_an_import_brings_none_back(
    project: Path, format_: str
) -> None:
    key, other = added(project, "Bake"), added(project, "Knead")
    data = export_tasks(opened(project), "jsonl").data
    if format_ == "beads":
        data = "".join(f'{{"_type": "issue", "id": "{one}"}}\n' for one in (key, other)).encode()
    if format_ == "prd":
        data = json.dumps([{"id": key, "passes": True}, {"id": other}]).encode()
    gone(project, key)
    for name in EXPORT_FORMATS:
        assert key.encode() not in export_tasks(opened(project), name)[0]
    line = opened(project).backend.read_tasks().read_line(key)
    for dry_run in (True, False):
        taken = import_tasks(opened(project), parse_tasks(data, "x", format_), "x", dry_run=dry_run)
        assert taken.task_result.messages == [f"{key} stays deleted."]
        assert taken.added == []
    tasks = opened(project).backend.read_tasks()
    assert ([*tasks.summaries], [*tasks.deleted_summaries], tasks.read_line(key)) == (
        [other],
        [key],
        line,
    )


def test_deleted_lines_of_another_project_are_not_taken_in(project: Path) -> None:
    key = added(project)
    gone(project, key)
    data = stored(project)[TASKS_FILE]
    (project / TASKS_FILE).unlink()
    taken = import_tasks(opened(project), parse_tasks(data, "x", "jsonl"), "x")
    assert (taken.added, taken.unchanged) == ([], 0)


def test_what_happened_to_a_deleted_task_may_be_archived(project: Path) -> None:
    key = added(project)
    gone(project, key)
    assert archive_old_events(opened(project), "2026-02-01").moved_count == 1
