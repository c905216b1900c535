"""Deleted tasks: kept in the file, hidden from everybody, and brought back on request alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.errors import CubError
from cub.store.backend import JsonlBackend
from cub.store.jsonl import Record, encode_record
from cub.store.record_merge import merge_records
from cub.store.task_ids import make_child_id
from cub.store.task_index import TaskIndex
from tests.examples import few_examples
from tests.store.records import branches, closed, day, deleted, edited, reopened, restored, task
from tests.store.stores import build, loaded, put, set_in, stored


def file_of(*records: Record) -> bytes:
    return b"".join(encode_record(record) + b"\n" for record in records)


def test_a_deleted_task_is_in_the_file_and_in_no_answer(scratch: Path) -> None:
    root = build(scratch / "p", file_of(deleted(task("t-1"), 2), task("t-2")))
    tasks = JsonlBackend(root).read_tasks()
    assert ([*tasks.summaries], [*tasks.deleted_summaries], len(tasks)) == (["t-2"], ["t-1"], 1)
    assert ("t-1" in tasks, [row.id for row in tasks]) == (False, ["t-2"])
    assert (tasks.read_record("t-1")["deleted_at"], tasks.read_record("t-1")["title"]) == (
        day(2),
        "t-1",
    )
    before = stored(root).splitlines()[0]
    set_in(root, "t-2", {"x": 1})
    assert stored(root).splitlines()[0] == before


def test_putting_hides_a_task_and_shows_it_again(scratch: Path) -> None:
    root = build(scratch / "p", file_of(task("t-1")))
    put(root, [deleted(task("t-1"), 2)])
    assert loaded(root) == {}
    with JsonlBackend(root).transaction() as change:
        change.put_record(restored(change.tasks.read_record("t-1"), 3))
        assert [row.id for row in change.tasks] == ["t-1"]
    assert [*loaded(root)] == ["t-1"]
    assert "deleted_at" not in loaded(root)["t-1"]


def test_the_line_that_a_merge_brings_back_does_not_bring_the_task_back() -> None:
    old = task("t-1")
    edit = {**old, "title": "x", "stamps": {"title": day(9)}, "updated_at": day(9)}
    for lines in ([old, deleted(old, 2)], [deleted(old, 2), old], [edit, deleted(old, 2), old]):
        tasks = TaskIndex.parse(file_of(*lines))
        assert ([*tasks.summaries], [*tasks.deleted_summaries]) == ([], ["t-1"])


def test_the_younger_of_two_tasks_with_one_id_is_deleted_alone() -> None:
    elder, younger = task("t-1"), task("t-1", created_at=day(3), updated_at=day(3))
    tasks = TaskIndex.parse(file_of(elder, deleted(younger, 4)))
    assert ([*tasks.summaries], len(tasks.deleted_summaries)) == (["t-1"], 1)
    assert next(iter(tasks.deleted_summaries)).startswith("t-1-")
    again = TaskIndex.parse(file_of(*(tasks.read_record(key) for key in tasks.all_ids)))
    assert ([*again.summaries], [*again.deleted_summaries]) == (
        [*tasks.summaries],
        [*tasks.deleted_summaries],
    )


def test_ids_of_deleted_tasks_are_taken() -> None:
    tasks = TaskIndex.parse(file_of(task("e"), task("e.1"), deleted(task("e.2", parent="e"), 2)))
    assert sorted(tasks.all_ids) == ["e", "e.1", "e.2"]
    assert make_child_id("e", tasks.all_ids) == "e.3"


def test_a_deleted_task_is_named_as_deleted() -> None:
    tasks = TaskIndex.parse(
        file_of(task("b-k3f9a.1"), deleted(task("b-k3f9a"), 2), deleted(task("b-7q2bx"), 2))
    )
    for text in ("b-7q2bx", "7q", "b-k3f9a"):
        with pytest.raises(CubError, match="was deleted") as error:
            tasks.find_id(text)
        assert error.value.hint.startswith("`cub task reopen b-")
    assert (tasks.find_id("k3f9a.1"), tasks.find_id("k3")) == ("b-k3f9a.1", "b-k3f9a.1")
    assert [tasks.find_deleted_id(text) for text in ("b-k3f9a", "k3", "7q", "zz")] == [
        "b-k3f9a", None, "b-7q2bx", None,
    ]  # fmt: skip
    with pytest.raises(CubError, match="there is no task 'zz'"):
        tasks.find_id("zz")


def test_what_is_null_is_not_deleted() -> None:
    tasks = TaskIndex.parse(b'{"id":"a","deleted_at":null}\n{"id":"b","deleted_at":""}')
    assert [*tasks.summaries] == ["a", "b"]


@few_examples
@given(branches(2, deleting=False), st.data())
def test_whatever_else_was_done_to_it_a_deleted_task_stays_deleted(
    records: list[Record], data: st.DataObject
) -> None:
    base, other = records
    gone = deleted(base, data.draw(st.integers(1, 6)))
    later = data.draw(edited(other, deleting=False))
    for found in (
        merge_records([gone, later]),
        merge_records([later, gone]),
        merge_records([later, gone, base]),
    ):
        assert found.get("deleted_at")


@few_examples
@given(branches(2, deleting=False), st.data())
def test_only_the_later_of_deleting_and_restoring_counts(
    records: list[Record], data: st.DataObject
) -> None:
    base, other = records
    back = restored(deleted(base, 2), data.draw(st.integers(1, 9)))
    since = back["stamps"]["deleted_at"]
    late = deleted(other, data.draw(st.integers(1, 9)))
    found = merge_records([back, late])
    assert bool(found.get("deleted_at")) == (late["stamps"]["deleted_at"] >= since)
    assert not merge_records([back, deleted(base, 2)]).get("deleted_at")


def test_closing_and_reopening_elsewhere_does_not_restore() -> None:
    gone = deleted(task(), 2)
    for other in (closed(task(), 5), reopened(closed(task(), 4), 5)):
        assert merge_records([gone, other])["deleted_at"] == day(2)
    assert merge_records([gone, closed(task(), 5)])["status"] == "closed"
