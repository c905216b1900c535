from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.edit.line_matching import (
    LineMatch,
    find_line_matches,
    measure_common_ends,
)
from cub.edit.user_lines import extract_user_lines
from tests.examples import few_examples

OURS = "## H\n\n- one\n- two\n- three\n\nThe end.\n"


def _lines(text: str) -> list[bytes]:
    return [line.encode() for line in text.splitlines(keepends=True)]


@pytest.mark.parametrize(
    ("body", "moved"),
    [
        (OURS, ""),
        (OURS.replace("- two\n", ""), ""),
        (OURS.replace("- two\n", "- two\n- mine\n"), "- mine\n"),
        (OURS.replace("- two\n", "- 2\n"), "- 2\n"),
        (OURS + "\nMine.\n\nMore.\n", "Mine.\n\nMore.\n"),
        ("Mine.\n\n" + OURS, "Mine.\n"),
        (
            OURS.replace("- one\n", "- one\n- a\n").replace("- three\n", "- three\n- b\n"),
            "- a\n- b\n",
        ),
        (OURS + "```sh\nx\n\n\ny\n```\n", "```sh\nx\n\n\ny\n```\n"),
        (OURS.replace("\n", "  \r\n"), ""),
        (OURS.replace("\n", "\r\n").replace("- two", "- zwei"), "- zwei\r\n"),
        ("", ""),
        ("Only mine.\n", "Only mine.\n"),
        ("Only mine.\n\nAnd this.\n", "Only mine.\n\nAnd this.\n"),
    ],
)
def test_added_and_changed_lines_are_the_users(body: str, moved: str) -> None:
    assert extract_user_lines(OURS, _lines(body)) == moved.encode()


_LINES = st.lists(st.sampled_from("abcd"), max_size=12)
_LARGE = st.builds(
    lambda parts, times: [line for part in parts for line in part * times],
    st.lists(st.lists(st.sampled_from("abcdefgh") | st.integers(0, 999).map(str)), max_size=6),
    st.integers(30, 60),
)


class Counted(str):
    """A line that counts how often it is compared."""

    __slots__ = ()
    comparisons = 0

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def holds(old: list[str], new: list[str]) -> list[LineMatch]:
    found = find_line_matches(old, new)
    for match in found:
        assert match.size > 0
        ours, theirs = old[match.old :][: match.size], new[match.new :][: match.size]
        assert ours == theirs
        assert len(ours) == match.size
    for one, other in pairwise(found):
        assert one.old + one.size <= other.old
        assert one.new + one.size <= other.new
    return found


@given(_LINES, _LINES)
def test_matches_are_equal_lines_in_order(old: list[str], new: list[str]) -> None:
    holds(old, new)


@few_examples
@given(_LARGE, _LARGE)
def test_so_are_those_of_long_texts(old: list[str], new: list[str]) -> None:
    holds(old, new)


def test_lines_that_are_only_lost_are_all_that_differs() -> None:
    old = ["a", "b", "a", "c"] * 1000
    new = [line for number, line in enumerate(old) if number % 99 != 1]
    assert sum(match.size for match in holds(old, new)) == len(new)


def test_a_line_that_is_both_ends_is_one_match() -> None:
    assert find_line_matches(["a"], ["a"]) == [LineMatch(0, 0, 1)]


def test_lines_are_found_behind_one_that_only_the_shorter_text_has() -> None:
    old = [str(number) for number in range(300)]
    assert holds(old, [old[5], "x", *old[10:150], "y"]) == [
        LineMatch(5, 0, 1),
        LineMatch(10, 2, 140),
    ]


def compared(count: int) -> int:
    """How many comparisons it takes where every other of so many lines differs."""
    old = [Counted(f"line {n}" if n % 2 else "old") for n in range(count)]
    new = [Counted(f"line {n}" if n % 2 else "new") for n in range(count)]
    Counted.comparisons = 0
    assert sum(match.size for match in holds([*old], [*new])) == count // 2
    return Counted.comparisons


def test_the_work_grows_with_the_lines() -> None:
    assert compared(8000) < 5 * compared(2000)


@given(st.binary(max_size=20), st.binary(max_size=20), st.binary(max_size=20))
def test_common_ends_are_whole_lines(start: bytes, middle: bytes, end: bytes) -> None:
    for old, new in ((start + end, start + middle + end), (start + middle, middle + end)):
        head, tail = measure_common_ends(old, new)
        assert head + tail <= min(len(old), len(new))
        assert old[:head] == new[:head]
        assert old[:head].endswith(b"\n") or not head
        assert old[len(old) - tail :] == new[len(new) - tail :]
        for data in (old, new):
            assert not tail or data[: len(data) - tail].endswith(b"\n")


def test_common_ends_are_all_common_lines() -> None:
    assert measure_common_ends(b"a\nb\nc\nd\n", b"a\nx\nc\nd\n") == (2, 4)
