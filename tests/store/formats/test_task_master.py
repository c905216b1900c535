from __future__ import annotations

import json
from typing import Any

import pytest

from cub.store.formats import dump_tasks, parse_tasks
from cub.store.jsonl import Record

TASKS: list[Record] = [
    {"id": 1, "title": "Oven", "status": "pending", "dependencies": []},
    {
        "id": 2,
        "title": "Bread",
        "status": "pending",
        "dependencies": [1],
        "subtasks": [
            {"id": 1, "title": "Knead", "status": "pending", "dependencies": []},
            {"id": 2, "title": "Bake", "status": "pending", "dependencies": [1, "2.1", 3]},
        ],
    },
    {"id": 3, "title": "Wood", "status": "pending", "dependencies": ["2.1"]},
]


def read(tasks: list[Record], tag: str = "master") -> dict[str, Record]:
    data = json.dumps({tag: {"tasks": tasks}}).encode()
    return {record["id"]: record for record in parse_tasks(data, "tasks.json").records}


def written(tasks: dict[str, Record]) -> Any:
    document = json.loads(dump_tasks(list(tasks.values()), "task-master"))
    return next(iter(document.values()))["tasks"]


def test_a_number_is_a_sister_first_and_what_a_task_waits_for_its_subtasks_do() -> None:
    found = read(TASKS)
    assert found["2.1"]["depends_on"] == ["1"]
    assert found["2.2"]["depends_on"] == ["2.1", "3", "1"]
    assert found["3"]["depends_on"] == ["2.1"]
    assert (found["2"]["issue_type"], found["2.2"]["parent"]) == ("epic", "2")


def test_ids_of_another_tag_bear_its_name() -> None:
    found = read(TASKS, "shop")
    assert list(found) == ["shop-1", "shop-2", "shop-2.1", "shop-2.2", "shop-3"]
    assert found["shop-2.2"]["depends_on"] == ["shop-2.1", "shop-3", "shop-1"]
    assert written(found) == TASKS


@pytest.mark.parametrize("tag", ["master", "shop"])
def test_a_new_dependency_is_written_as_the_others_are(tag: str) -> None:
    found = read(TASKS, tag)
    prefix = "" if tag == "master" else "shop-"
    found[f"{prefix}2.1"]["depends_on"] = [f"{prefix}1", f"{prefix}3"]
    found[f"{prefix}1"]["depends_on"] = [f"{prefix}3"]
    oven, bread, _ = written(found)
    assert oven["dependencies"] == [3]
    assert bread["subtasks"][0]["dependencies"] == ["3"]
    again = parse_tasks(dump_tasks(list(found.values()), "task-master"), "tasks.json").records
    assert {r["id"]: sorted(r["depends_on"]) for r in again} == {
        key: sorted(record["depends_on"]) for key, record in found.items()
    }


def test_new_tasks_stand_behind_the_others_and_new_subtasks_in_their_task() -> None:
    found = read(TASKS)
    found["2.3"] = {"id": "2.3", "title": "Sell", "status": "open", "parent": "2", "priority": 0}
    found["bakery-7k2px"] = {"id": "bakery-7k2px", "title": "New", "status": "closed", "rev": 1}
    *_, last = tasks = written(found)
    assert [one["id"] for one in tasks] == [1, 2, 3, "bakery-7k2px"]
    assert (last["status"], "rev" in last) == ("done", False)
    sell = tasks[1]["subtasks"][2]
    assert (sell["id"], sell["priority"], "parent" in sell) == (3, "critical", False)


def test_a_subtask_that_left_its_task_is_a_task() -> None:
    found = read(TASKS)
    del found["2.1"]["parent"]
    found["3"]["parent"] = "1"
    tasks = written(found)
    assert [one["id"] for one in tasks] == [1, 2, "2.1", 3]
    assert tasks[3]["parent"] == "1"
    again = read(tasks)
    assert ("parent" in again["2.1"], again["3"]["parent"]) == (False, "1")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"status": "closed", "close_reason": "no_change"}, "done"),
        ({"status": "closed", "close_reason": "wontfix"}, "cancelled"),
        ({"status": "in_progress"}, "in-progress"),
        ({"status": "parked"}, "deferred"),
        ({"status": "retry"}, "pending"),
    ],
)
def test_a_new_status_is_written_in_words_of_task_master(
    values: dict[str, str], expected: str
) -> None:
    found = read(TASKS)
    found["1"] |= values
    assert written(found)[0] == {**TASKS[0], "status": expected}
