from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cub.store.backend import serialize_tasks
from cub.store.jsonl import Record, encode_record
from cub.store.record_merge import update_record
from cub.store.task_index import TaskIndex
from tests.examples import few_examples
from tests.store.records import branches, closed, day, task


def file_of(*records: Record) -> bytes:
    return b"".join(encode_record(record) + b"\n" for record in records)


def content(data: bytes) -> dict[str, bytes]:
    """Every task of a file by its id, to the byte."""
    tasks = TaskIndex.parse(data)
    return {key: encode_record(tasks.read_record(key)) for key in tasks.summaries}


def in_all_orders(*records: Record) -> TaskIndex:
    """The tasks of a file, which are the same in whatever order its lines are."""
    files = [file_of(*order) for order in itertools.permutations(records)]
    found = [content(data) for data in files]
    assert all(one == found[0] for one in found)
    taken = [sorted(TaskIndex.parse(data).renamed_tasks) for data in files]
    assert all(one == taken[0] for one in taken)
    return TaskIndex.parse(files[0])


@few_examples
@given(st.lists(branches(2), min_size=1, max_size=2), st.randoms())
def test_the_order_of_doubled_lines_does_not_matter(groups: list[Any], shuffle: Any) -> None:
    records = [
        {**record, "id": f"t-{number}"} for number, group in enumerate(groups) for record in group
    ]
    before = content(file_of(*records))
    shuffle.shuffle(records)
    assert content(file_of(*records)) == before


@few_examples
@given(branches(3))
def test_what_was_settled_and_written_is_read_as_the_same(records: list[Record]) -> None:
    data = file_of(*records)
    written = b"".join(serialize_tasks(TaskIndex.parse(data)))
    assert content(written) == content(data)
    assert TaskIndex.parse(written).duplicate_ids == []


def test_lines_of_one_task_become_one() -> None:
    tasks = in_all_orders(
        closed(task(), 2), update_record(task(), {"title": "new"}, day(3)), task("t-2"), task()
    )
    assert tasks.duplicate_ids == ["t-1"]
    assert (tasks["t-1"].is_closed, tasks.read_record("t-1")["title"]) == (True, "new")
    assert len(tasks) == 2


def test_two_tasks_with_one_id_are_both_kept() -> None:
    elder, younger = task(title="elder"), task(title="younger", created_at=day(2))
    tasks = in_all_orders(elder, younger, update_record(younger, {"x": 1}, day(4)))
    [(key, renamed)] = tasks.renamed_tasks
    assert key == "t-1"
    assert renamed.startswith("t-1-")
    assert len(renamed) == len("t-1-") + 3
    assert tasks.read_record("t-1") == elder
    assert (tasks.read_record(renamed)["title"], tasks.read_record(renamed)["x"]) == ("younger", 1)


def test_of_three_tasks_with_one_id_the_eldest_keeps_it() -> None:
    tasks = in_all_orders(*(task(title=f"{n}", created_at=day(n)) for n in (3, 1, 2)))
    assert tasks.read_record("t-1")["title"] == "1"
    assert len(tasks) == 3
    later = in_all_orders(*(task(title=f"{n}", created_at=day(n)) for n in (3, 2)))
    assert {taken.new_id for taken in later.renamed_tasks} < {
        taken.new_id for taken in tasks.renamed_tasks
    }


def test_a_record_that_does_not_say_when_it_was_made_joins_the_elder() -> None:
    undated = {"id": "t-1", "title": "undated", "status": "open", "priority": 2, "notes": "n"}
    tasks = in_all_orders(task(title="elder"), task(title="younger", created_at=day(2)), undated)
    assert (tasks.read_record("t-1")["title"], tasks.read_record("t-1")["notes"]) == ("elder", "n")
    assert len(tasks) == 2
    alone = in_all_orders(undated, {**undated, "assignee": "me"})
    assert alone.read_record("t-1") == {**undated, "assignee": "me"}


def test_moments_of_creation_in_other_words_are_the_same() -> None:
    tasks = in_all_orders(task(), task(created_at="2026-01-01T01:00:00+01:00", x=1))
    assert tasks.renamed_tasks == []
    assert tasks.read_record("t-1")["x"] == 1


def test_a_task_that_got_another_id_is_found_again_under_it() -> None:
    elder, younger = task(title="elder"), task(title="younger", created_at=day(2))
    settled = TaskIndex.parse(file_of(elder, younger))
    renamed = settled.renamed_tasks[0].new_id
    there = settled.read_record(renamed)
    # One checkout settled and closed it, one settled and renamed it, a third knows of nothing.
    tasks = in_all_orders(
        elder,
        update_record(younger, {"notes": "late"}, day(5)),
        closed(there, 3),
        update_record(there, {"title": "other"}, day(4)),
    )
    found = tasks.read_record(renamed)
    assert (found["status"], found["title"], found["notes"]) == ("closed", "other", "late")
    assert len(tasks) == 2


def test_children_are_found_by_their_parent() -> None:
    tasks = TaskIndex.from_records(
        [task("e"), task("e.1", parent="e"), task("x", parent="e"), task("y")]
    )
    assert [row.id for row in tasks.list_children("e")] == ["e.1", "x"]
    numbers = TaskIndex.parse(b'{"id":7}\n{"id":"x","status":"open","priority":1,"parent":7}')
    assert [row.id for row in numbers.list_children("7")] == ["x"]
