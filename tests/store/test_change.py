from __future__ import annotations

from typing import Any

import pytest

from cub.store.change import changed
from cub.store.jsonl import encode
from tests.store.records import day, task


def test_a_change_counts_and_says_when() -> None:
    done = changed(task(), {"title": "new"}, day(2))
    assert (done["rev"], done["updated_at"], done["stamps"]) == (2, day(2), {"title": day(2)})


def test_what_is_the_same_changes_nothing() -> None:
    base = task(labels=["a"])
    assert changed(base, {"title": "t-1", "labels": ["a"], "parent": None}, day(2)) is base


def test_a_record_stays_as_it_is_when_a_changed_one_is_made() -> None:
    base = changed(task(labels=["a"]), {"labels": ["b"]}, day(2))
    before = encode(base)
    changed(base, {"labels": ["c"], "title": "x"}, day(3))
    assert encode(base) == before


def test_the_elements_of_a_set_have_their_own_times() -> None:
    one = changed(task(labels=["a", "b"]), {"labels": ["b", "c"]}, day(2))
    two = changed(one, {"labels": ["a", "b", "c"]}, day(3))
    assert two["stamps"] == {"labels": {"a": day(3), "c": day(2)}}


def test_status_and_what_belongs_to_it_have_one_stamp() -> None:
    done = changed(task(), {"status": "closed", "close_reason": "done", "closed_at": "x"}, day(2))
    assert done["stamps"] == {"status": day(2)}


def test_a_clock_that_runs_behind_does_not_go_back() -> None:
    ahead = changed(task(), {"x": 1}, day(9))
    done = changed(ahead, {"x": 2}, day(2))
    assert done["updated_at"] == done["stamps"]["x"] == "2026-01-09T00:00:00.001Z"


def test_a_foreign_record_gets_stamps_for_what_it_was() -> None:
    foreign = task(updated_at=day(2), labels=["a"], x=1)
    done = changed(foreign, {"title": "new"}, day(3))
    assert done["stamps"] == {
        "labels": {"a": day(2)},
        "priority": day(2),
        "status": day(2),
        "title": day(3),
        "x": day(2),
    }


def test_the_order_of_keys_is_ours_and_unknown_ones_come_last() -> None:
    done = changed(task(zoo=1), {"notes": "n", "ant": 2, "parent": "p"}, day(2))
    assert list(done) == [
        *("id", "rev", "title", "status", "priority", "parent", "created_at", "updated_at"),
        *("notes", "stamps", "zoo", "ant"),
    ]


@pytest.mark.parametrize("stamps", [5, "x", [], {"labels": 5}, {"labels": ["a"]}, {"labels": "x"}])
@pytest.mark.parametrize("rev", [None, "7", True, 2.5])
def test_odd_counts_and_stamps_are_no_obstacle(stamps: Any, rev: Any) -> None:
    done = changed(task(labels=["a"], stamps=stamps, rev=rev), {"labels": ["b"]}, day(2))
    assert (done["rev"], done["labels"]) == (1, ["b"])
    assert done["stamps"]["labels"]["b"] == day(2)
