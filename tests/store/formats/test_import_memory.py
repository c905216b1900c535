"""An import merges three versions of a task: what was imported, what is here, and what is there."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cub.store.formats.import_memory import ImportMerge, merge_import, remember_import
from cub.store.jsonl import Record
from cub.store.record_merge import update_record
from tests.examples import hardly_any_examples

NOW = "2026-11-21T09:40:00.123Z"
WORDS = st.sampled_from(["a", "b", "c", "d"])
SETS = st.lists(WORDS, unique=True, max_size=4)
PLAIN = ("title", "priority", "parent", "x_other")
FIELDS = {
    "title": WORDS,
    "priority": st.integers(0, 4),
    "parent": WORDS,
    "labels": SETS,
    "depends_on": SETS,
    "x_other": st.lists(st.dictionaries(WORDS, st.integers(), max_size=1), max_size=2),
}
TASKS = st.fixed_dictionaries({}, optional=FIELDS).map(lambda one: {"id": "a", **one})


def task(values: Record) -> Record:
    return {"status": "open", **values}


def merged(base: Record, here: Record, there: Record) -> tuple[Record, ImportMerge]:
    before = {**task(here), "last_import": remember_import(task(base), "beads")["last_import"]}
    found = merge_import(before, remember_import(task(there), "beads"), "beads")
    return update_record(before, found.values, NOW), found


def plain(value: Any) -> Any:
    return None if value in (None, "", []) else value


@hardly_any_examples
@given(TASKS, TASKS, TASKS)
def test_each_field_takes_the_change_of_one_side(base: Record, here: Record, there: Record) -> None:
    after, found = merged(base, here, there)
    for key in PLAIN:
        old, mine, theirs = (plain(side.get(key)) for side in (base, here, there))
        assert plain(after.get(key)) == (theirs if mine == old else mine)
        assert (key in found.conflicts) == (mine != old != theirs != mine)
    for key in ("labels", "depends_on"):
        old, mine, theirs = (set(side.get(key) or ()) for side in (base, here, there))
        expected = mine & theirs | (mine | theirs) - old
        assert set(after.get(key) or ()) == expected
        assert key not in found.conflicts


@hardly_any_examples
@given(TASKS, TASKS, TASKS)
def test_a_second_time_nothing_changes(base: Record, here: Record, there: Record) -> None:
    after, _ = merged(base, here, there)
    found = merge_import(after, remember_import(task(there), "beads"), "beads")
    assert update_record(after, found.values, NOW) is after
    assert (found.conflicts, found.is_visible) == ([], False)


def test_two_new_criteria_for_one_are_a_conflict_and_two_more_are_not() -> None:
    def change(here: list[str], there: list[str]) -> tuple[Any, list[str]]:
        sides = (["brown", "warm"], here, there)
        tasks = [{"id": "a", "acceptance_criteria": items} for items in sides]
        after, found = merged(*tasks)
        return after["acceptance_criteria"], found.conflicts

    mine = ["very brown", "warm"]
    assert change(mine, ["dark", "warm"]) == (mine, ["acceptance_criteria"])
    assert change(["brown", "warm", "x"], ["brown", "warm", "y"])[1] == []
    assert change(["brown", "x"], ["warm", "y"]) == (["x", "y"], [])


def test_nonsense_in_the_memory_of_a_task_is_no_error() -> None:
    for memory in (3, {"format": "beads"}, {"format": "beads", "fields": {"labels": 7}, "at": 1}):
        before = {"id": "a", "status": "open", "labels": ["x"], "last_import": memory}
        there = {"id": "a", "status": "open", "labels": ["y"]}
        found = merge_import(before, remember_import(there, "beads"), "beads")
        assert "last_import" in found.values


def test_what_is_remembered_of_a_task_is_short() -> None:
    long = {"id": "a", "title": "x" * 500, "description": "x" * 60_000, "labels": list("abcd")}
    assert len(str(remember_import(task(long), "beads")["last_import"])) < 250
