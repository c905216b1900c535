from __future__ import annotations

import json
from typing import Any

import pytest

from cub.errors import CubError, UsageError
from cub.store.formats.format_registry import dump_tasks, parse_tasks

DATES = {"created_at": "2026-01-01T08:00:00Z"}
BEAD = {"id": "b-1", "title": "x", "status": "open", "issue_type": "task", **DATES}
EDGE = {"issue_id": "a", "depends_on_id": "b", "type": "related"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"id": "a"}, "jsonl"),
        ({"id": "a", "tasks": []}, "jsonl"),
        ({"id": "a", "title": "x", "dependsOn": []}, "jsonl"),
        ({**BEAD, "rev": 1}, "jsonl"),
        ({**BEAD, "dependencies": ["a"]}, "beads"),
        (BEAD, "beads"),
        ({"id": "a", "dependencies": [EDGE]}, "beads"),
        ({"_type": "issue", "id": "a"}, "beads"),
        ({"tasks": []}, "task-master"),
        ({"master": {"tasks": []}}, "task-master"),
        ({"userStories": []}, "prd"),
        ({"project": "x", "features": []}, "prd"),
        ([{"category": "style", "description": "x", "passes": False}], "prd"),
        ([], "prd"),
    ],
)
def test_which_format_a_file_is_in(value: Any, expected: str) -> None:
    assert parse_tasks(json.dumps(value).encode(), "file").format == expected


@pytest.mark.parametrize("indent", [None, 1, 2])
def test_lines_of_a_document_are_no_tasks(indent: int | None) -> None:
    document = {"userStories": [{"id": "US-001"}, {"id": "US-002"}]}
    data = json.dumps(document, indent=indent).replace("[", "[\n").replace("},", "},\n").encode()
    found = parse_tasks(data, "file")
    assert (found.format, len(found.records)) == ("prd", 2)


def test_a_mark_of_the_byte_order_is_no_part_of_a_document() -> None:
    assert parse_tasks(b'\xef\xbb\xbf{"tasks": []}', "file").format == "task-master"


def test_one_line_that_is_none_does_not_hide_the_others() -> None:
    found = parse_tasks(b'{"id": "a"}\n{"id": "b"\n', "file")
    assert (found.format, len(found.records)) == ("jsonl", 1)
    assert [rejected.line.number for rejected in found.rejected_lines] == [2]


def test_memories_of_beads_are_left_out() -> None:
    data = b'{"_type":"memory","key":"rye","value":"sour"}\n{"_type":"issue","id":"a"}\n'
    found = parse_tasks(data, "file", "beads")
    assert ([record["id"] for record in found.records], found.rejected_lines) == (["a"], [])


def test_two_lines_of_one_issue_are_one_task() -> None:
    """What a merge of git's left: both sides count, the newer one wins."""
    old = {**BEAD, "updated_at": "2026-01-02T08:00:00Z"}
    new = {**BEAD, "title": "y", "updated_at": "2026-01-03T08:00:00Z"}
    lines = [b"<<<<<<< ours", json.dumps(new).encode(), b"=======", json.dumps(old).encode()]
    found = parse_tasks(b"\n".join([*lines, b">>>>>>> theirs"]), "file")
    assert [record["title"] for record in found.records] == ["y"]


def test_no_tasks_are_a_file_that_can_be_read() -> None:
    assert parse_tasks(dump_tasks([], "jsonl"), "file").records == []


def test_a_format_that_is_none_is_named() -> None:
    with pytest.raises(UsageError, match="no format 'jira'"):
        parse_tasks(b"{}", "file", "jira")
    with pytest.raises(UsageError, match="no format 'prd'"):
        dump_tasks([], "prd")


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(CubError, match="file: this is nested too deep"):
        parse_tasks(b"[" * 100_000, "file", "prd")
