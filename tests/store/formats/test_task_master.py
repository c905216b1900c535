from __future__ import annotations

import json

from cub.store.formats.format_registry import parse_tasks
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
