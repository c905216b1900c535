from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cub.store.jsonl import Record, encode_record
from cub.store.record_merge import merge_records
from cub.store.task_schema import SET_KEYS, normalize_record
from tests.examples import hardly_any_examples
from tests.store.records import anything, branches, edited

THREE = st.lists(anything(), min_size=3, max_size=3) | branches(3)


def same(one: Record, two: Record) -> None:
    """Equal, down to the order of their keys."""
    assert encode_record(one) == encode_record(two)
    assert one == two


@hardly_any_examples
@given(THREE)
def test_the_order_of_two_does_not_matter(records: list[Record]) -> None:
    a, b, _ = records
    same(merge_records([a, b]), merge_records([b, a]))


@hardly_any_examples
@given(THREE)
def test_how_three_are_grouped_does_not_matter(records: list[Record]) -> None:
    a, b, c = records
    same(merge_records([merge_records([a, b]), c]), merge_records([a, merge_records([b, c])]))


@hardly_any_examples
@given(THREE)
def test_merging_once_more_changes_nothing(records: list[Record]) -> None:
    a, b, _ = records
    once = merge_records([a, b])
    same(merge_records([a, a]), a)
    for again in ([once, a], [b, once], [once, once]):
        same(merge_records(again), once)


@hardly_any_examples
@given(THREE)
def test_what_is_merged_is_in_cubs_spelling(records: list[Record]) -> None:
    once = merge_records(records)
    same(normalize_record(once), once)


@hardly_any_examples
@given(branches(2), st.data())
def test_what_came_of_a_record_wins_over_it(records: list[Record], data: st.DataObject) -> None:
    base, _ = records
    later = data.draw(edited(base))
    assert bare(merge_records([base, later])) == bare(later)


def bare(record: Record) -> Record:
    """Without stamps: the same ones can be said in several ways; and sets without an order."""
    return {
        key: sorted(value) if key in SET_KEYS else value
        for key, value in record.items()
        if key != "stamps"
    }
