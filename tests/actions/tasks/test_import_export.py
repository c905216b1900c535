from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cub.actions.tasks.import_export import ImportResult, export_tasks, import_tasks
from cub.actions.tasks.stores import Stores, open_stores
from cub.actions.tasks.transitions import claim_task, close_tasks, park_tasks
from cub.errors import CubError
from cub.project.project import Project
from cub.store.formats.format_registry import parse_tasks
from cub.store.formats.import_memory import forget_import
from cub.store.jsonl import Record, encode_record
from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from tests.conftest import git

DAY = "2026-11-21T09:40:00.123Z"
OVEN: Record = {
    "id": "bake-1",
    "title": "Build the oven",
    "status": "open",
    "priority": 1,
    "issue_type": "task",
    "created_at": "2026-01-01T08:00:00Z",
    "updated_at": "2026-01-01T08:00:00Z",
}
BREAD: Record = {
    **OVEN,
    "id": "bake-2",
    "title": "Bake",
    "dependencies": [{"issue_id": "bake-2", "depends_on_id": "bake-1", "type": "blocks"}],
}


@pytest.fixture
def stores(project: Path) -> Stores:
    return open_stores(Project.load(project), "ida", DAY)


def imported(stores: Stores, *issues: Record, name: str = "beads", **options: Any) -> ImportResult:
    data = "".join(json.dumps(issue) + "\n" for issue in issues).encode()
    return import_tasks(stores, parse_tasks(data, "issues.jsonl", name), "issues.jsonl", **options)


def tasks_file(stores: Stores) -> bytes:
    path = stores.root / TASKS_FILE
    return path.read_bytes() if path.exists() else b""


def edit_task(stores: Stores, key: str, values: dict[str, Any]) -> None:
    with stores.transaction() as transaction:
        transaction.update_task(key, values)


def record(stores: Stores, key: str) -> Record:
    return stores.backend.read_tasks().read_record(key)


def test_new_tasks_are_added_as_they_are(stores: Stores) -> None:
    taken = imported(stores, OVEN, BREAD)
    assert [one["id"] for one in taken.added] == ["bake-1", "bake-2"]
    assert record(stores, "bake-2")["depends_on"] == ["bake-1"]
    assert "rev" not in record(stores, "bake-2")
    assert taken.task_result.warnings == []
    assert not (stores.root / LEDGER_FILE).exists()


def test_the_same_file_again_changes_nothing(stores: Stores) -> None:
    imported(stores, OVEN, BREAD)
    before = tasks_file(stores)
    taken = imported(stores, OVEN, BREAD)
    assert (taken.added, taken.changed, taken.unchanged) == ([], [], 2)
    assert tasks_file(stores) == before


def test_the_same_file_on_two_branches_merges(project: Path, stores: Stores) -> None:
    git(project, "commit", "--allow-empty", "-qm", "start")
    for branch in ("a", "b"):
        git(project, "checkout", "-qb", branch, "main")
        imported(stores, OVEN, BREAD)
        git(project, "add", ".")
        git(project, "commit", "-qm", branch)
    git(project, "merge", "-q", "a")
    assert len(tasks_file(stores).splitlines()) == 2


def test_what_changed_at_the_source_changes_and_nothing_else(stores: Stores) -> None:
    imported(stores, OVEN, BREAD)
    before = record(stores, "bake-1")
    taken = imported(stores, OVEN, {**BREAD, "title": "Bake rye", "labels": ["rye"]})
    assert [one["id"] for one in taken.changed] == ["bake-2"]
    after = record(stores, "bake-2")
    assert (after["title"], after["labels"], after["rev"]) == ("Bake rye", ["rye"], 1)
    assert record(stores, "bake-1") == before


def test_what_went_at_the_source_goes(stores: Stores) -> None:
    child = {"issue_id": "bake-2", "depends_on_id": "bake-1", "type": "parent-child"}
    more = {"assignee": "jon", "labels": ["rye"]}
    imported(stores, OVEN, {**BREAD, **more, "dependencies": [*BREAD["dependencies"], child]})
    imported(stores, {**OVEN, "id": "bake-2", "title": "Bake"})
    after = record(stores, "bake-2")
    assert (after["labels"], after["depends_on"]) == ([], [])
    assert "parent" not in after
    assert "assignee" not in after


def test_a_task_that_was_changed_here_stays_so_while_its_source_says_the_same(
    stores: Stores,
) -> None:
    imported(stores, OVEN)
    close_tasks(stores, ["bake-1"], None)
    taken = imported(stores, OVEN)
    assert (taken.unchanged, taken.task_result.messages) == (1, [])
    assert record(stores, "bake-1")["status"] == "closed"


@pytest.mark.parametrize("status", ["open", "in_progress"])
def test_no_import_opens_what_is_closed(stores: Stores, status: str) -> None:
    imported(stores, OVEN)
    close_tasks(stores, ["bake-1"], "no_change")
    taken = imported(stores, {**OVEN, "title": "Build it", "status": status})
    after = record(stores, "bake-1")
    assert (after["title"], after["status"]) == ("Build it", "closed")
    assert after["close_reason"] == "no_change"
    says = [] if status == "open" else ["bake-1 stays closed; the file says in_progress."]
    assert taken.task_result.messages == says


def test_what_somebody_works_on_here_is_not_taken_back(stores: Stores) -> None:
    imported(stores, OVEN)
    claim_task(stores, "bake-1")
    imported(stores, {**OVEN, "title": "Build it"})
    after = record(stores, "bake-1")
    assert (after["title"], after["status"]) == ("Build it", "in_progress")
    assert (after["assignee"], "lease" in after) == ("ida", True)


def test_what_was_set_aside_here_stays_so_and_is_told_if_the_source_says_otherwise(
    stores: Stores,
) -> None:
    imported(stores, OVEN)
    park_tasks(stores, ["bake-1"])
    assert imported(stores, {**OVEN, "title": "Build it"}).task_result.messages == []
    taken = imported(stores, {**OVEN, "title": "Build it", "status": "in_progress"})
    assert record(stores, "bake-1")["status"] == "parked"
    assert taken.task_result.messages == ["bake-1 stays parked; the file says in_progress."]
    assert [(one.task, one.fields) for one in taken.conflicts] == [("bake-1", ["status"])]


def test_what_the_source_set_aside_is_free_again_with_it(stores: Stores) -> None:
    imported(stores, {**OVEN, "status": "deferred"})
    assert imported(stores, OVEN).task_result.messages == []
    assert record(stores, "bake-1")["status"] == "open"


def test_what_the_source_closed_is_not_opened_by_it(stores: Stores) -> None:
    imported(stores, {**OVEN, "status": "closed"})
    taken = imported(stores, OVEN)
    assert record(stores, "bake-1")["status"] == "closed"
    assert taken.task_result.messages == ["bake-1 stays closed; the file says open."]


def test_a_second_import_takes_what_changed_there_and_keeps_what_changed_here(
    stores: Stores,
) -> None:
    imported(stores, {**OVEN, "labels": ["brick", "hot"], "assignee": "jon"})
    edits = {"title": "Build both ovens", "labels": ["brick", "hot", "big"], "assignee": None}
    edit_task(stores, "bake-1", edits)
    theirs = {**OVEN, "labels": ["hot", "new"], "assignee": "jon", "priority": 0, "design": "Round"}
    shown = imported(stores, theirs, dry_run=True)
    taken = imported(stores, theirs)
    after = record(stores, "bake-1")
    assert (after["title"], after["priority"], after["design"]) == ("Build both ovens", 0, "Round")
    assert (sorted(after["labels"]), "assignee" in after) == (["big", "hot", "new"], False)
    assert (taken.conflicts, taken.task_result.messages) == ([], [])
    assert shown.changed == taken.changed
    before = tasks_file(stores)
    assert imported(stores, theirs).unchanged == 1
    assert tasks_file(stores) == before


def test_a_conflict_keeps_the_value_of_this_project_and_is_told_once(stores: Stores) -> None:
    imported(stores, OVEN)
    edit_task(stores, "bake-1", {"title": "Build both ovens"})
    theirs = {**OVEN, "title": "Build it", "description": "Of brick."}
    shown = imported(stores, theirs, dry_run=True)
    taken = imported(stores, theirs)
    told = ["bake-1 keeps title as changed here; the file has changed it differently."]
    assert shown.task_result.messages == taken.task_result.messages == told
    assert [(one.task, one.fields) for one in taken.conflicts] == [("bake-1", ["title"])]
    after = record(stores, "bake-1")
    assert (after["title"], after["description"]) == ("Build both ovens", "Of brick.")
    again = imported(stores, theirs)
    assert (again.unchanged, again.conflicts) == (1, [])
    newer = imported(stores, {**theirs, "title": "Build both ovens"})
    assert (newer.unchanged, newer.conflicts) == (1, [])


def test_a_field_that_the_source_deletes_goes_unless_it_was_changed_here(stores: Stores) -> None:
    more = {"design": "Round", "estimated_minutes": 30, "description": "Of brick."}
    imported(stores, {**OVEN, **more})
    edit_task(stores, "bake-1", {"description": "Of clay."})
    taken = imported(stores, OVEN)
    after = record(stores, "bake-1")
    assert not {"design", "estimated_minutes"} & after.keys()
    assert after["description"] == "Of clay."
    assert [one.fields for one in taken.conflicts] == [["description"]]


def test_a_task_of_an_earlier_cub_remembers_its_source_from_now_on(stores: Stores) -> None:
    closed = {**OVEN, "status": "closed", "close_reason": "It stands"}
    imported(stores, closed)
    old = record(stores, "bake-1")
    del old["last_import"], old["origin"]["fields"]
    (stores.root / TASKS_FILE).write_bytes(encode_record(old) + b"\n")
    edit_task(stores, "bake-1", {"title": "Mine"})
    assert len(imported(stores, closed).changed) == 1
    after = record(stores, "bake-1")
    assert after["origin"]["fields"] == {"close_reason": "It stands"}
    assert after["title"] == "Mine"
    imported(stores, {**closed, "priority": 0})
    assert (record(stores, "bake-1")["title"], record(stores, "bake-1")["priority"]) == ("Mine", 0)


def test_an_older_copy_of_the_source_takes_nothing_back(stores: Stores) -> None:
    imported(stores, {**OVEN, "title": "New", "updated_at": "2026-01-03T08:00:00Z"})
    assert imported(stores, {**OVEN, "updated_at": "2026-01-02T08:00:00Z"}).unchanged == 1
    assert record(stores, "bake-1")["title"] == "New"


def test_what_is_lost_of_a_source_is_in_its_origin_after_edits_and_an_export(
    stores: Stores, tmp_path: Path
) -> None:
    imported(stores, {**OVEN, "status": "closed", "close_reason": "It stands", "x_y": [1]})
    edit_task(stores, "bake-1", {"title": "Both"})
    data = export_tasks(stores, "jsonl").data
    (tmp_path / "other").mkdir()
    other = open_stores(Project.load(tmp_path / "other"), "ida", DAY)
    import_tasks(other, parse_tasks(data, "tasks.jsonl"), "tasks.jsonl")
    assert export_tasks(other, "jsonl").data == data
    assert record(other, "bake-1")["origin"]["fields"] == {"close_reason": "It stands"}
    assert record(other, "bake-1")["x_y"] == [1]


@pytest.mark.parametrize("name", ["beads", "jsonl"])
def test_an_id_on_two_lines_without_dates_stops_the_import(stores: Stores, name: str) -> None:
    one = {"id": "a", "title": "A", "status": "open"}
    with pytest.raises(CubError) as raised:
        imported(stores, one, BREAD, {**one, "title": "B"}, name=name)
    assert raised.value.where == "issues.jsonl:3"
    what = "line 1 also has the ID a, with other values, and no date says which are newer"
    assert raised.value.message == what
    assert not (stores.root / TASKS_FILE).exists()


@pytest.mark.parametrize("name", ["beads", "jsonl"])
def test_an_id_on_two_dated_lines_is_one_task_and_is_told(stores: Stores, name: str) -> None:
    newer = {**OVEN, "title": "Both", "updated_at": "2026-01-03T08:00:00Z"}
    taken = imported(stores, newer, BREAD, OVEN, name=name)
    assert record(stores, "bake-1")["title"] == "Both"
    warning = taken.task_result.warnings[-1].message
    assert warning == "lines 1 and 3 have the ID bake-1: the newest values of both are imported"


def test_two_issues_with_one_id_stop_the_import_and_two_tasks_get_two_ids(stores: Stores) -> None:
    other = {**OVEN, "title": "Other", "created_at": "2026-01-02T08:00:00Z"}
    with pytest.raises(CubError, match="line 1 also has the ID bake-1, and was created at another"):
        imported(stores, OVEN, other)
    taken = imported(stores, OVEN, other, name="jsonl")
    assert len(taken.added) == 2
    what = f"lines 1 and 2 have the ID bake-1: one of the tasks is now {taken.added[1]['id']}"
    assert taken.task_result.warnings[-1].message == what


def test_a_task_that_no_line_can_hold_is_refused(stores: Stores) -> None:
    deep = json.loads("[" * 250 + "]" * 250)
    data = json.dumps([{"id": "a", "passes": False, "x": deep}]).encode()
    with pytest.raises(CubError, match="a is nested too deep"):
        import_tasks(stores, parse_tasks(data, "prd.json"), "prd.json")


def test_what_only_the_source_worked_on_is_free_again_with_it(stores: Stores) -> None:
    imported(stores, {**OVEN, "status": "in_progress", "assignee": "jon"})
    imported(stores, OVEN)
    after = record(stores, "bake-1")
    assert (after["status"], "assignee" in after) == ("open", False)


def test_what_was_closed_at_the_source_is_closed_and_the_ledger_told(stores: Stores) -> None:
    imported(stores, OVEN)
    claim_task(stores, "bake-1")
    closed = {"status": "closed", "closed_at": DAY, "close_reason": "It stands"}
    imported(stores, {**OVEN, **closed})
    after = record(stores, "bake-1")
    assert (after["status"], after["close_reason"], after["closed_at"]) == ("closed", "done", DAY)
    assert "lease" not in after
    (event,) = list(stores.ledger.iter_task_events("bake-1", ("task_state",)))[:1]
    assert (event["status"], event["by"], event["note"]) == ("closed", "ida", "import")


def test_an_older_line_of_a_known_task_changes_nothing(stores: Stores) -> None:
    dates = {"created_at": "2026-01-01T08:00:00Z", "updated_at": "2026-01-02T08:00:00Z"}
    old = {"id": "a", "title": "Old", "status": "open", "priority": 2, **dates}
    imported(stores, old, name="jsonl")
    newer = {**old, "title": "New", "updated_at": "2026-01-03T08:00:00Z"}
    assert len(imported(stores, newer, name="jsonl").changed) == 1
    assert imported(stores, newer, name="jsonl").unchanged == 1
    assert imported(stores, old, name="jsonl").unchanged == 1
    assert record(stores, "a")["title"] == "New"


def test_a_line_without_dates_changes_what_differs(stores: Stores) -> None:
    imported(stores, {"id": "a", "title": "A", "dependsOn": []}, name="jsonl")
    line = {"id": "a", "title": "B", "dependsOn": []}
    assert len(imported(stores, line, name="jsonl").changed) == 1
    before = tasks_file(stores)
    assert imported(stores, line, name="jsonl").unchanged == 1
    assert tasks_file(stores) == before


def test_a_dry_run_tells_and_writes_nothing(stores: Stores) -> None:
    imported(stores, OVEN)
    before = tasks_file(stores)
    taken = imported(stores, {**OVEN, "title": "New"}, BREAD, dry_run=True)
    assert (len(taken.added), len(taken.changed)) == (1, 1)
    assert tasks_file(stores) == before


def test_what_is_waited_for_may_be_missing_and_is_told(stores: Stores) -> None:
    taken = imported(stores, BREAD)
    (warning,) = taken.task_result.warnings
    assert warning.message == "bake-2 depends on bake-1, which does not exist"
    assert record(stores, "bake-2")["depends_on"] == ["bake-1"]


def test_warnings_are_of_imported_tasks_alone(stores: Stores) -> None:
    imported(stores, BREAD)
    assert imported(stores, {**OVEN, "id": "other"}).task_result.warnings == []


def test_doubled_ids_are_told(stores: Stores) -> None:
    data = b'{"tasks": [{"id": 1, "title": "a"}, {"id": 1, "title": "b"}]}'
    taken = import_tasks(stores, parse_tasks(data, "tasks.json"), "tasks.json")
    assert [one["id"] for one in taken.added] == ["1", "1-2"]
    told = "tasks 1 and 2 of the file have the ID 1: the second one is now 1-2"
    assert taken.task_result.warnings[0].message == told


def test_a_line_that_is_none_stops_the_import_before_it_begins(stores: Stores) -> None:
    data = json.dumps(OVEN).encode() + b'\n{"id": \n{"title": "nobody"}\n'
    with pytest.raises(CubError) as raised:
        import_tasks(stores, parse_tasks(data, "issues.jsonl"), "issues.jsonl")
    assert raised.value.where == "issues.jsonl:2"
    assert raised.value.details == ("issues.jsonl:3: not an issue: it has no id",)
    assert "nothing was imported" in raised.value.hint
    assert not (stores.root / TASKS_FILE).exists()


def test_an_export_can_be_imported_elsewhere(stores: Stores, tmp_path: Path) -> None:
    imported(stores, OVEN, BREAD)
    close_tasks(stores, ["bake-1"], None)
    data, total, warnings = export_tasks(stores, "jsonl")
    assert (total, warnings) == (2, [])
    lines = tasks_file(stores).splitlines()
    assert data.splitlines() == [encode_record(forget_import(json.loads(one))) for one in lines]
    (tmp_path / "other").mkdir()
    other = open_stores(Project.load(tmp_path / "other"), "ida", DAY)
    import_tasks(other, parse_tasks(data, "tasks.jsonl"), "tasks.jsonl")
    for key in ("title", "status", "close_reason", "depends_on"):
        assert record(other, "bake-1").get(key) == record(stores, "bake-1").get(key)
    assert export_tasks(stores, "markdown").data.startswith(b"# Tasks\n")
