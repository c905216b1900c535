from __future__ import annotations

import itertools
from typing import Any

import pytest

from cub.store.jsonl import Record, encode_record
from cub.store.record_merge import merge_records, update_record
from cub.store.task_schema import CLOSED, OPEN
from tests.store.records import closed, day, reopened, task


def test_a_change_counts_and_says_when() -> None:
    done = update_record(task(), {"title": "new"}, day(2))
    assert (done["rev"], done["updated_at"], done["stamps"]) == (2, day(2), {"title": day(2)})


def test_what_is_the_same_changes_nothing() -> None:
    base = task(labels=["a"])
    assert update_record(base, {"title": "t-1", "labels": ["a"], "parent": None}, day(2)) is base


def test_a_record_stays_as_it_is_when_a_changed_one_is_made() -> None:
    base = update_record(task(labels=["a"]), {"labels": ["b"]}, day(2))
    before = encode_record(base)
    update_record(base, {"labels": ["c"], "title": "x"}, day(3))
    assert encode_record(base) == before


def test_the_elements_of_a_set_have_their_own_times() -> None:
    one = update_record(task(labels=["a", "b"]), {"labels": ["b", "c"]}, day(2))
    two = update_record(one, {"labels": ["a", "b", "c"]}, day(3))
    assert two["stamps"] == {"labels": {"a": day(3), "c": day(2)}}


def test_status_and_what_belongs_to_it_have_one_stamp() -> None:
    done = update_record(
        task(), {"status": "closed", "close_reason": "done", "closed_at": "x"}, day(2)
    )
    assert done["stamps"] == {"status": day(2)}


def test_a_clock_that_runs_behind_does_not_go_back() -> None:
    ahead = update_record(task(), {"x": 1}, day(9))
    done = update_record(ahead, {"x": 2}, day(2))
    assert done["updated_at"] == done["stamps"]["x"] == "2026-01-09T00:00:00.001Z"


def test_a_foreign_record_gets_stamps_for_what_it_was() -> None:
    foreign = task(updated_at=day(2), labels=["a"], x=1)
    done = update_record(foreign, {"title": "new"}, day(3))
    assert done["stamps"] == {
        "labels": {"a": day(2)},
        "priority": day(2),
        "status": day(2),
        "title": day(3),
        "x": day(2),
    }


def test_the_order_of_keys_is_ours_and_unknown_ones_come_last() -> None:
    done = update_record(task(zoo=1), {"notes": "n", "ant": 2, "parent": "p"}, day(2))
    assert list(done) == [
        *("id", "rev", "title", "status", "priority", "parent", "created_at", "updated_at"),
        *("notes", "stamps", "zoo", "ant"),
    ]


@pytest.mark.parametrize("stamps", [5, "x", [], {"labels": 5}, {"labels": ["a"]}, {"labels": "x"}])
@pytest.mark.parametrize("rev", [None, "7", True, 2.5])
def test_odd_counts_and_stamps_are_no_obstacle(stamps: Any, rev: Any) -> None:
    done = update_record(task(labels=["a"], stamps=stamps, rev=rev), {"labels": ["b"]}, day(2))
    assert (done["rev"], done["labels"]) == (1, ["b"])
    assert done["stamps"]["labels"]["b"] == day(2)


def both_ways(*records: Record) -> Record:
    """Merged in every order: always the same."""
    found = [merge_records(order) for order in itertools.permutations(records)]
    assert all(one == found[0] for one in found)
    return found[0]


def test_the_newer_change_of_a_field_wins_and_the_others_stay() -> None:
    one = update_record(task(), {"title": "a", "notes": "n"}, day(2))
    two = update_record(task(), {"title": "b", "description": "d"}, day(3))
    found = both_ways(one, two)
    assert (found["title"], found["notes"], found["description"]) == ("b", "n", "d")
    assert found["updated_at"] == day(3)


def test_a_field_that_was_removed_later_stays_away() -> None:
    base = task(assignee="me", x=1)
    one = update_record(base, {"assignee": "you", "x": 2}, day(2))
    two = update_record(base, {"assignee": None, "x": None}, day(3))
    assert not {"assignee", "x"} & set(both_ways(one, two))
    assert both_ways(two, update_record(base, {"x": 3}, day(4)))["x"] == 3


@pytest.mark.parametrize("key", ["labels", "depends_on"])
def test_sets_merge_with_what_was_removed(key: str) -> None:
    base = update_record(task(), {key: ["a", "b", "c"]}, day(1))
    one = update_record(base, {key: ["b", "c", "d"]}, day(2))
    two = update_record(base, {key: ["a", "b", "e"]}, day(3))
    assert both_ways(one, two)[key] == ["b", "d", "e"]
    again = update_record(one, {key: ["a", "b", "c", "d"]}, day(4))
    assert both_ways(again, two)[key] == ["a", "b", "d", "e"]


@pytest.mark.parametrize(
    "values",
    [
        {"status": "in_progress", "lease": {"run": "r"}},
        {"status": "parked"},
        {"status": "retry"},
        {"status": "open"},
    ],
)
def test_a_closed_task_stays_closed(values: dict[str, Any]) -> None:
    shut = closed(task(status="retry"), 2, "no_change")
    found = both_ways(shut, update_record(task(status="odd"), values, day(9)))
    assert (found["status"], found["close_reason"]) == (CLOSED, "no_change")


def test_a_foreign_change_of_status_does_not_open_it_either() -> None:
    found = both_ways(closed(task(), 2), task(status="in_progress", updated_at=day(9)))
    assert found["status"] == CLOSED


def test_what_another_tool_closed_is_closed_too() -> None:
    found = both_ways(
        task(status=CLOSED, updated_at=day(2)), update_record(task(), {"x": 1}, day(3))
    )
    assert (found["status"], found["x"]) == (CLOSED, 1)


def test_closing_and_reopening_follow_each_other_in_time() -> None:
    shut = closed(task(), 2)
    once_more = reopened(shut, 4)
    for on, status in ((3, OPEN), (5, CLOSED)):
        found = both_ways(once_more, closed(task(), on, "wontfix"), shut)
        assert found["status"] == status
        assert ("close_reason" in found) == ("closed_at" in found) == (status == CLOSED)
    assert both_ways(once_more, closed(once_more, 6))["status"] == CLOSED


def test_after_reopening_a_claim_counts_again() -> None:
    base = reopened(closed(task(), 2), 3)
    found = both_ways(update_record(base, {"status": "in_progress"}, day(5)), closed(task(), 2))
    assert found["status"] == "in_progress"


def test_closed_twice_the_later_one_tells_the_reason() -> None:
    found = both_ways(closed(task(), 2), closed(task(), 3, "duplicate"))
    assert (found["close_reason"], found["closed_at"]) == ("duplicate", day(3))


def test_the_revision_is_the_highest_one_and_times_go_on() -> None:
    one = update_record(update_record(task(), {"x": 1}, day(2)), {"x": 2}, day(3))
    found = both_ways(one, update_record(task(), {"y": 1}, day(5)))
    assert (found["rev"], found["created_at"], found["updated_at"]) == (3, day(1), day(5))
    assert both_ways(task(created_at=day(1)), task(created_at=day(2)))["created_at"] == day(1)


def test_a_record_without_stamps_changed_as_a_whole() -> None:
    foreign = task(title="theirs", priority=0, updated_at=day(4))
    before = update_record(task(), {"title": "mine", "notes": "n"}, day(3))
    after = update_record(task(), {"title": "mine"}, day(5))
    assert both_ways(foreign, before)["title"] == "theirs"
    found = both_ways(foreign, after)
    assert (found["title"], found["priority"]) == ("mine", 0)


def test_moments_in_other_words_are_compared_as_times() -> None:
    one = task(title="one", updated_at="2026-01-02T01:00:00+02:00")
    two = task(title="two", updated_at="2026-01-01T23:30:00Z")
    assert both_ways(one, two)["title"] == "two"


def test_a_time_that_is_none_does_not_win_for_ever() -> None:
    base = task(updated_at="yesterday")
    assert both_ways(base, update_record(base, {"title": "new"}, day(3)))["title"] == "new"


def test_values_that_are_equal_but_written_otherwise_have_an_order() -> None:
    one, two = task(x=1, y={"a": 1, "b": 2}), task(x=1.0, y={"b": 2, "a": 1})
    assert repr(merge_records([one, two])) == repr(merge_records([two, one]))
