from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from cub.errors import CubError
from cub.store.beads_backend import BeadsBackend
from cub.store.jsonl import Record
from cub.store.task_ids import match_id
from tests.conftest import Cub
from tests.store import fake_bd

ISSUES: list[Record] = [
    {"id": "bd-1", "title": "Bread", "status": "open", "priority": 1, "issue_type": "epic"},
    {
        "id": "bd-1.1",
        "title": "Knead",
        "status": "closed",
        "priority": 0,
        "issue_type": "task",
        "close_reason": "Smooth at last",
        "dependencies": [{"issue_id": "bd-1.1", "depends_on_id": "bd-1", "type": "parent-child"}],
    },
    {
        "id": "bd-1.2",
        "title": "Bake",
        "status": "open",
        "priority": 2,
        "issue_type": "task",
        "labels": ["oven"],
        "acceptance_criteria": "- Brown\n- Hollow",
        "dependencies": [
            {"issue_id": "bd-1.2", "depends_on_id": "bd-1", "type": "parent-child"},
            {"issue_id": "bd-1.2", "depends_on_id": "bd-1.1", "type": "blocks"},
            {"issue_id": "bd-1.2", "depends_on_id": "bd-9", "type": "related"},
        ],
    },
]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the double is a script with a #! line")


@pytest.fixture
def beads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BeadsBackend:
    """A backend on the double, which is the only `bd` on PATH."""
    root = (tmp_path / "bakery").resolve()
    (root / ".beads").mkdir(parents=True)
    keep(root, ISSUES)
    monkeypatch.setenv("PATH", f"{install(tmp_path)}{os.pathsep}{os.environ['PATH']}")
    return BeadsBackend(root)


def install(folder: Path) -> Path:
    script = folder / "bin" / "bd"
    script.parent.mkdir()
    source = Path(fake_bd.__file__).read_text(encoding="utf-8")
    script.write_text(f"#!{sys.executable} -IS\n{source}", encoding="utf-8")
    script.chmod(0o755)
    return script.parent


def keep(root: Path, issues: list[Record]) -> None:
    (root / fake_bd.FILE).write_text(json.dumps({issue["id"]: issue for issue in issues}))


def calls(backend: BeadsBackend) -> list[str]:
    """What was called to change something."""
    lines = (backend.root / fake_bd.CALLS).read_text().splitlines()
    found = [" ".join(json.loads(line)) for line in lines]
    return [one.removesuffix(" --json") for one in found if one != "export"]


def put(backend: BeadsBackend, key: str, **values: Any) -> None:
    with backend.transaction() as change:
        before = (
            change.tasks.read_record(key) if key in change.tasks else {"id": key, "status": "open"}
        )
        after = {**before, **values}
        change.put_record({name: value for name, value in after.items() if value is not None})


def put_and_find(backend: BeadsBackend) -> None:
    with backend.transaction() as change:
        change.put_record({**change.tasks.read_record("bd-1"), "title": "Cake"})
        match_id("nobody", change.tasks.summaries)


def test_issues_are_read_as_tasks(beads: BeadsBackend) -> None:
    tasks = beads.read_tasks()
    assert list(tasks.summaries) == ["bd-1", "bd-1.1", "bd-1.2"]
    bake = tasks.read_record("bd-1.2")
    assert (bake["parent"], bake["depends_on"], bake["labels"]) == ("bd-1", ["bd-1.1"], ["oven"])
    assert bake["acceptance_criteria"] == ["Brown", "Hollow"]
    assert tasks["bd-1.1"].is_done
    assert "origin" not in bake


def test_a_change_of_nothing_calls_nothing(beads: BeadsBackend) -> None:
    put(beads, "bd-1.2", rev=7, lease={"host": "here"}, stamps={})
    with beads.transaction() as change:
        change.save_repairs()
    assert calls(beads) == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"title": "-Bake it"}, ["update bd-1.2 --title=-Bake it"]),
        ({"priority": 0, "notes": "x"}, ["update bd-1.2 --priority=0 --notes=x"]),
        ({"acceptance_criteria": ["a", "b"]}, ["update bd-1.2 --acceptance=- a\n- b"]),
        ({"acceptance_criteria": []}, ["update bd-1.2 --acceptance="]),
        (
            {"status": "in_progress", "assignee": "ida"},
            ["update bd-1.2 --assignee=ida --status=in_progress"],
        ),
        ({"status": "parked"}, ["update bd-1.2 --status=deferred"]),
        ({"status": "retry"}, []),
        ({"status": "closed", "close_reason": "no_change"}, ["close bd-1.2 --reason=no_change"]),
        ({"status": "closed"}, ["close bd-1.2 --reason=done"]),
        ({"labels": ["rye"]}, ["label remove bd-1.2 oven", "label add bd-1.2 rye"]),
        (
            {"depends_on": ["bd-1"], "parent": None},
            [
                "dep remove bd-1.2 bd-1.1",
                "dep remove bd-1.2 bd-1",
                "dep add bd-1.2 bd-1 --type=blocks",
            ],
        ),
    ],
)
def test_each_difference_is_a_call(
    beads: BeadsBackend, values: dict[str, Any], expected: list[str]
) -> None:
    put(beads, "bd-1.2", **values)
    assert calls(beads) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"status": "open", "close_reason": None}, ["reopen bd-1.1"]),
        (
            {"status": "in_progress", "close_reason": None, "assignee": "jon"},
            ["reopen bd-1.1", "update bd-1.1 --assignee=jon --status=in_progress"],
        ),
        ({"close_reason": "duplicate"}, ["reopen bd-1.1", "close bd-1.1 --reason=duplicate"]),
    ],
)
def test_what_is_closed_is_reopened_first(
    beads: BeadsBackend, values: dict[str, Any], expected: list[str]
) -> None:
    put(beads, "bd-1.1", **values)
    assert calls(beads) == expected
    assert beads.read_tasks()["bd-1.1"].status == values.get("status", "closed")


def test_new_tasks_keep_their_ids_and_come_back_as_they_were_put(beads: BeadsBackend) -> None:
    new = {
        "id": "shop-7k2px",
        "title": "Paint the door",
        "status": "open",
        "priority": 3,
        "issue_type": "feature",
        "description": "Blue.\nTwice.",
        "acceptance_criteria": ["It is blue"],
        "depends_on": ["bd-1.2"],
        "parent": "bd-1",
        "labels": ["door"],
    }
    put(beads, "shop-7k2px", **new)
    back = beads.read_tasks().read_record("shop-7k2px")
    assert {key: back[key] for key in new} == new


def test_closed_chains_and_epics_can_be_added_at_once(beads: BeadsBackend) -> None:
    closed = {"status": "closed", "close_reason": "done"}
    with beads.transaction() as change:
        change.put_record(
            {"id": "a.2", "title": "2", "parent": "a", "depends_on": ["a.1"], **closed}
        )
        change.put_record({"id": "a.1", "title": "1", "parent": "a", **closed})
        change.put_record({"id": "a", "title": "A", "issue_type": "epic", **closed})
    tasks = beads.read_tasks()
    assert [tasks[key].is_done for key in ("a", "a.1", "a.2")] == [True, True, True]
    assert (tasks["a.2"].parent, tasks["a.2"].depends_on) == ("a", ("a.1",))


def test_a_block_that_raises_calls_nothing(beads: BeadsBackend) -> None:
    with pytest.raises(CubError, match="no task"):
        put_and_find(beads)
    assert calls(beads) == []


def test_checks_of_a_task_are_refused_before_any_call(beads: BeadsBackend) -> None:
    with pytest.raises(CubError, match=r"no checks of a task, as bd-1\.2 has"):
        put(beads, "bd-1.2", checks=["make bread"], title="Cake")
    assert calls(beads) == []


@pytest.mark.parametrize("variable", ["BD_BREAKS", "BD_SILENT"])
def test_the_words_of_a_call_that_fails_are_shown(
    beads: BeadsBackend, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "close")
    with pytest.raises(CubError) as raised:
        put(beads, "bd-1.2", status="closed")
    said = "the database is on fire" if variable == "BD_BREAKS" else "Error closing bd-1.2: it is"
    assert raised.value.message.startswith(f"`bd close bd-1.2` failed: {said}")
    assert raised.value.hint


def test_a_project_without_a_database(beads: BeadsBackend) -> None:
    (beads.root / fake_bd.FILE).unlink()
    with pytest.raises(CubError, match="no beads database found"):
        beads.read_tasks()


def test_an_answer_that_is_no_issue_is_named(beads: BeadsBackend) -> None:
    keep(beads.root, [{"id": "", "title": "nobody"}])
    with pytest.raises(CubError, match=r"line 1: .* not an issue: it has no id"):
        beads.read_tasks()


def test_bd_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CubError, match="not on PATH") as raised:
        BeadsBackend(tmp_path).read_tasks()
    assert "backend: jsonl" in raised.value.hint


def test_closing_is_said_in_commands_of_beads(beads: BeadsBackend) -> None:
    assert beads.list_close_commands("bd-1.2") == (
        'bd close bd-1.2 --reason "done"',
        'bd close bd-1.2 --reason "no_change"',
    )


def test_the_commands_of_cub_work_on_beads(beads: BeadsBackend, cub: Cub) -> None:
    """claim, close with its epic, reopen, add, edit and dep, through the real command line."""
    root = beads.root
    (root / ".cub").mkdir()
    (root / ".cub" / "config.yaml").write_text("tasks: {backend: beads}\n")

    def task(*arguments: str) -> str:
        done = cub("task", *arguments, cwd=root, PATH=os.environ["PATH"])
        assert done.code == 0, done.err
        return done.out

    assert task("ready", "--json").count('"id"') == 1
    assert task("claim", "bd-1.2", "--as", "ida") == "Claimed bd-1.2: Bake\n"
    assert "Closed the epic bd-1" in task("close", "bd-1.2", "-m", "Brown")
    task("reopen", "bd-1.2")
    new = task("add", "Sell it", "--depends-on", "bd-1.2", "-p", "1", "--label", "shop").strip()
    task("edit", new, "--title", "Sell the bread")
    task("dep", "remove", new, "bd-1.2")
    shown = json.loads(task("show", new, "--json"))["task"]
    assert (shown["title"], shown["labels"], shown["depends_on"]) == (
        "Sell the bread",
        ["shop"],
        [],
    )
    assert {row.status for row in beads.read_tasks()} == {"open", "closed"}
    assert not (root / ".cub" / "tasks.jsonl").exists()


def test_deleting_is_a_call_behind_all_others(beads: BeadsBackend) -> None:
    with beads.transaction() as change:
        for key in ("bd-1.1", "bd-1.2"):
            change.put_record(
                {**change.tasks.read_record(key), "deleted_at": "2026-11-21T10:00:00.000Z"}
            )
        change.put_record({**change.tasks.read_record("bd-1"), "title": "Cake"})
    assert calls(beads) == [
        "update bd-1 --title=Cake", "delete bd-1.1 --force", "delete bd-1.2 --force",
    ]  # fmt: skip
    tasks = beads.read_tasks()
    assert (list(tasks.summaries), tasks.all_ids, beads.can_restore_deleted) == (
        ["bd-1"],
        ["bd-1"],
        False,
    )
