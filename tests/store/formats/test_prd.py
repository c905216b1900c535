from __future__ import annotations

import json
from typing import Any

from cub.store.formats.format_registry import parse_tasks
from cub.store.jsonl import Record


def read(document: Any) -> list[Record]:
    return parse_tasks(json.dumps(document).encode(), "prd.json", "prd").records


def test_the_order_of_stories_is_their_priority() -> None:
    stories = [{"id": f"US-{n:03}", "priority": n, "passes": False} for n in range(1, 9)]
    found = read({"userStories": stories})
    assert [record["priority"] for record in found] == [1, 2, 3, 4, 4, 4, 4, 4]


def test_a_story_without_an_id_has_the_same_wherever_it_stands() -> None:
    door, sign = ({"description": text, "passes": False} for text in ("The door", "The sign"))
    first, second = ({r["id"] for r in read(stories)} for stories in ([door, sign], [sign, door]))
    assert first == second
    assert all(key.startswith("prd-") for key in first)


def test_a_title_is_the_first_line_of_what_a_story_says() -> None:
    (record,) = read([{"description": "The bell rings\nwhen the door opens", "steps": ["Go in"]}])
    assert record["title"] == "The bell rings"
    assert record["description"] == "The bell rings\nwhen the door opens"
    assert record["acceptance_criteria"] == ["Go in"]


def test_fields_may_have_other_names() -> None:
    story = {"id": "a", "title": "A", "dependsOn": ["b"], "steps": ["x"], "passes": False}
    (record,) = read({"stories": [story]})
    assert (record["depends_on"], record["acceptance_criteria"]) == (["b"], ["x"])
