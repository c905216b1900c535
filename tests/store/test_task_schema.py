from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.store.jsonl import Record, encode_record
from cub.store.task_index import TaskIndex, parse_task, summarize_task
from cub.store.task_schema import TASK_KEYS, normalize_priority, normalize_record, normalize_status
from tests.examples import few_examples
from tests.store.records import NAMES, TEXTS, VALUES, anything

OTHERS = [
    *("dependsOn", "blockedBy", "blocked_by", "dependencies", "acceptanceCriteria", "issueType"),
    *("type", "closeReason", "createdAt", "updatedAt", "closedAt", "parentId", "parent_id"),
    *("epicId", "epic_id", "epic", "tags"),
]


@st.composite
def foreign(draw: st.DrawFn) -> Record:
    """A record with keys of several tools at once."""
    keys = st.sampled_from([*OTHERS, *TASK_KEYS, "x", "y"])
    return {**draw(st.dictionaries(keys, VALUES | NAMES | TEXTS, max_size=8)), "id": "t"}


@pytest.mark.parametrize(
    ("key", "value", "own", "read"),
    [
        ("dependsOn", ["a", 5], "depends_on", ["a", "5"]),
        ("blockedBy", ["a", "a"], "depends_on", ["a"]),
        ("blocked_by", ["a"], "depends_on", ["a"]),
        ("dependencies", [1, 2], "depends_on", ["1", "2"]),
        ("depends_on", "a", "depends_on", ["a"]),
        ("acceptanceCriteria", ["a", "b"], "acceptance_criteria", ["a", "b"]),
        ("acceptanceCriteria", "a\nb", "acceptance_criteria", ["a\nb"]),
        ("acceptance_criteria", [{"b": 1, "a": 2}], "acceptance_criteria", ['{"a":2,"b":1}']),
        ("issueType", "bug", "issue_type", "bug"),
        ("type", "epic", "issue_type", "epic"),
        ("closeReason", "done", "close_reason", "done"),
        ("createdAt", "2026-01-01", "created_at", "2026-01-01"),
        ("parentId", 7, "parent", "7"),
        ("epicId", "e", "parent", "e"),
        ("tags", "a, b,", "labels", ["a", "b"]),
        ("labels", "", "labels", []),
        ("id", 12, "id", "12"),
    ],
)
def test_keys_of_other_tools_are_read_as_ours(key: str, value: Any, own: str, read: Any) -> None:
    found = normalize_record({"id": "t", key: value})
    assert found[own] == read
    assert key == own or key not in found


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("dependencies", [{"id": "a", "kind": "blocks"}]),
        ("dependencies", {"left-pad": "1.0"}),
        ("blockedBy", "a"),
        ("epic", True),
        ("parentId", {"id": "a"}),
        ("dependsOn", None),
    ],
)
def test_a_key_that_means_something_else_stays(key: str, value: Any) -> None:
    assert normalize_record({"id": "t", key: value}) == {"id": "t", "status": "open", key: value}


@pytest.mark.parametrize(
    ("said", "status"),
    [
        *((word, "open") for word in ("todo", "To Do", "pending", "NEW", "backlog", "not-started")),
        *((word, "open") for word in (None, "", False, "Open")),
        *(
            (word, "in_progress")
            for word in ("in-progress", "In Progress", "doing", "wip", "active")
        ),
        *((word, "parked") for word in ("deferred", "on hold", "on-hold", "paused", "Parked")),
        *((word, "retry") for word in ("failed", "retry")),
        *((word, "closed") for word in ("done", "Completed", "resolved", "cancelled", "won't fix")),
        (True, "closed"),
        *((odd, odd) for odd in ("review", "needs-qa", "Wird geprüft", 7, ["open"], {"a": 1})),
    ],
)
def test_statuses_of_other_tools_are_mapped_or_stay(said: Any, status: Any) -> None:
    assert normalize_status(said) == status
    assert normalize_record({"id": "t", "status": said})["status"] == status


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("done", "done"),
        ("cancelled", "wontfix"),
        ("won't-fix", "wontfix"),
        ("Duplicate", "duplicate"),
    ],
)
def test_a_status_that_closes_tells_the_reason(said: str, reason: str) -> None:
    assert normalize_record({"id": "t", "status": said})["close_reason"] == reason
    kept = normalize_record({"id": "t", "status": said, "close_reason": "no_change"})
    assert kept["close_reason"] == "no_change"
    assert "close_reason" not in normalize_record({"id": "t", "status": "closed"})


@pytest.mark.parametrize(
    ("said", "priority"),
    [
        ("P2", 2), ("p0", 0), (" 3 ", 3), (4, 4), ("critical", 0), ("High", 1), ("medium", 2),
        ("low", 3), ("lowest", 4), ("P5", "P5"), ("soon", "soon"), (9, 9), (1.5, 1.5), ([], []),
    ],
)  # fmt: skip
def test_priorities_are_read_generously(said: Any, priority: Any) -> None:
    assert normalize_priority(said) == priority
    row = summarize_task(parse_task({"id": "t", "priority": said}))
    assert row.priority == (priority if priority in (0, 1, 2, 3, 4) else 2)


def test_of_two_keys_for_one_thing_the_second_stays() -> None:
    found = normalize_record({"id": "t", "dependsOn": ["a"], "blockedBy": ["b"]})
    assert found == {"id": "t", "status": "open", "depends_on": ["a"], "blockedBy": ["b"]}
    assert normalize_record({"id": "t", "type": "bug", "issue_type": "epic"})["type"] == "bug"
    assert normalize_record({"id": "t", "type": "bug", "issue_type": None}) == {
        "id": "t",
        "status": "open",
        "issue_type": "bug",
    }


@few_examples
@given(foreign() | anything())
def test_cubs_spelling_is_spelled_so_already(raw: Record) -> None:
    once = normalize_record(raw)
    assert encode_record(normalize_record(once)) == encode_record(once)


@few_examples
@given(foreign())
def test_nothing_is_dropped(raw: Record) -> None:
    """Each value is there, under its key or ours; only null, which says nothing, may go."""
    found = normalize_record(raw)
    said = {key for key, value in raw.items() if value is not None}
    ours = [key for key in found if key not in raw]
    lost = said - found.keys()
    assert lost <= set(OTHERS)
    assert len(lost) <= len(ours)
    for key in said & found.keys():
        assert key in TASK_KEYS or found[key] == raw[key]


@few_examples
@given(foreign() | anything())
def test_a_brief_says_what_the_whole_task_says(raw: Record) -> None:
    assert summarize_task(parse_task(raw)) == summarize_task(normalize_record(raw))
    assert list(TaskIndex.from_records([raw])) == list(
        TaskIndex.from_records([normalize_record(raw)])
    )
    assert TaskIndex.from_records([raw]).read_record(raw["id"]) == normalize_record(raw)
