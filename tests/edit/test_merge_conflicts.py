from __future__ import annotations

import pytest

from cub.edit.document import Document
from cub.edit.markers import MergeConflict, find_conflicts, find_overlapping_conflicts

TWO = "a\n<<<<<<< HEAD\nb\n=======\nc\nd\n>>>>>>> topic\ne\n"
THREE = "<<<<<<< HEAD\nb\n||||||| 1234567\nbase\n=======\nc\n>>>>>>> topic\n"


def _one(text: str) -> MergeConflict:
    (found,) = find_conflicts(Document(text.encode()))
    return found


def test_two_sides_are_told_apart() -> None:
    found = _one(TWO)
    assert (found.start, found.end) == (1, 7)
    assert (list(found.ours), list(found.theirs)) == ([2], [4, 5])
    assert list(found.ancestor) == []


def test_the_ancestor_is_no_side() -> None:
    found = _one(THREE)
    assert (list(found.ours), list(found.ancestor), list(found.theirs)) == ([1], [3], [5])


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_any_line_end_will_do(end: str) -> None:
    assert _one(THREE.replace("\n", end)) == _one(THREE)


def test_empty_sides_are_sides() -> None:
    found = _one("<<<<<<< HEAD\n=======\n>>>>>>> topic\n")
    assert (list(found.ours), list(found.theirs)) == ([], [])


@pytest.mark.parametrize(
    "text",
    [
        "<<<<<<< HEAD\na\n>>>>>>> topic\n",
        "<<<<<<< HEAD\na\n=======\nb\n=======\nc\n>>>>>>> topic\n",
        "<<<<<<< HEAD\na\n=======\nb\n||||||| base\nc\n>>>>>>> topic\n",
        "<<<<<<< HEAD\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\n",
        "<<<<<<< HEAD\n||||||| a\n||||||| b\n=======\nb\n>>>>>>> topic\n",
    ],
)
def test_what_does_not_part_two_sides_has_none(text: str) -> None:
    found = _one(text)
    assert found.middle is None
    assert [*found.ours, *found.ancestor, *found.theirs] == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<<<<<<< HEAD\na\n=======\nb\n",
        "a\n=======\nb\n>>>>>>> topic\n",
        " <<<<<<< HEAD\n=======\n >>>>>>> topic\n",
        "<<<<<<<< HEAD\n=======\n>>>>>>>> topic\n",
        "<<<<<<<HEAD\n=======\n>>>>>>>topic\n",
    ],
)
def test_everything_else_is_no_conflict(text: str) -> None:
    assert find_conflicts(Document(text.encode())) == []


@pytest.mark.parametrize(("first", "last", "touches"), [(0, 0, False), (0, 1, True), (7, 9, False)])
def test_a_conflict_overlaps_lines_that_it_shares(first: int, last: int, touches: bool) -> None:
    assert bool(find_overlapping_conflicts(Document(TWO.encode()), first, last)) is touches
