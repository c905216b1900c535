from __future__ import annotations

import json
from typing import Any

from cub.store.formats import dump_tasks, parse_tasks
from cub.store.jsonl import Record


def read(document: Any) -> list[Record]:
    return parse_tasks(json.dumps(document).encode(), "prd.json", "prd").records


def test_the_order_of_stories_is_their_priority_and_comes_back() -> None:
    stories = [{"id": f"US-{n:03}", "priority": n, "passes": False} for n in range(1, 9)]
    found = read({"userStories": stories})
    assert [record["priority"] for record in found] == [1, 2, 3, 4, 4, 4, 4, 4]
    found[7]["priority"] = 0
    back = json.loads(dump_tasks(found, "prd"))["userStories"]
    assert [story["priority"] for story in back] == [1, 2, 3, 4, 5, 6, 7, 0]


def test_a_story_without_an_id_has_the_same_wherever_it_stands() -> None:
    door, sign = ({"description": text, "passes": False} for text in ("The door", "The sign"))
    first, second = ({r["id"] for r in read(stories)} for stories in ([door, sign], [sign, door]))
    assert first == second
    assert all(key.startswith("prd-") for key in first)


def test_a_title_is_the_first_line_of_what_a_story_says() -> None:
    (record,) = read([{"description": "The bell rings\nwhen the door opens", "steps": ["Go in"]}])
    assert record["title"] == "The bell rings"
    assert record["description"] == "The bell rings\nwhen the door opens"
    record["acceptance_criteria"] = ["Go in", "Listen"]
    back = json.loads(dump_tasks([record], "prd"))
    text = "The bell rings\nwhen the door opens"
    assert back == [{"description": text, "steps": ["Go in", "Listen"]}]


def test_fields_keep_the_names_that_they_have() -> None:
    story = {"id": "a", "title": "A", "dependsOn": ["b"], "steps": ["x"], "passes": False}
    (record,) = read({"stories": [story]})
    assert (record["depends_on"], record["acceptance_criteria"]) == (["b"], ["x"])
    record |= {"depends_on": ["b", "c"], "status": "closed"}
    back = json.loads(dump_tasks([record], "prd"))
    assert back == {"stories": [{**story, "dependsOn": ["b", "c"], "passes": True}]}


def test_a_new_story_stands_behind_the_others() -> None:
    found = read({"branchName": "bread", "userStories": [{"id": "US-002", "passes": True}]})
    new = {"id": "US-001", "title": "New", "status": "open", "labels": ["rye"], "rev": 3}
    back = json.loads(dump_tasks([new, *found], "prd"))
    assert back["branchName"] == "bread"
    assert [story["id"] for story in back["userStories"]] == ["US-002", "US-001"]
    assert back["userStories"][1]["labels"] == ["rye"]
    assert "rev" not in back["userStories"][1]
