from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.edit.line_matching import LineGap, iter_changes
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


def covers(old: list[str], new: list[str]) -> int:
    """How many lines are in no change; what is between two changes is equal."""
    changes = list(iter_changes(old, new))
    starts = [(0, 0), *((change.old_end, change.new_end) for change in changes)]
    ends = [*((change.old, change.new) for change in changes), (len(old), len(new))]
    for (a, b), (c, d) in zip(starts, ends, strict=True):
        assert old[a:c] == new[b:d]
    assert all(change.old < change.old_end or change.new < change.new_end for change in changes)
    return sum(c - a for (a, _), (c, _) in zip(starts, ends, strict=True))


@given(_LINES, _LINES)
def test_lines_between_changes_are_equal(old: list[str], new: list[str]) -> None:
    covers(old, new)


@few_examples
@given(_LARGE, _LARGE)
def test_so_are_those_of_long_texts(old: list[str], new: list[str]) -> None:
    covers(old, new)


def test_a_line_that_is_both_ends_is_equal_once() -> None:
    assert list(iter_changes(["a"], ["a"])) == []
    assert list(iter_changes(["a"], ["a", "a"])) == [LineGap(1, 1, 1, 2)]


def test_lines_are_found_behind_one_that_only_the_shorter_text_has() -> None:
    old = [str(number) for number in range(300)]
    assert covers(old, [old[5], "x", *old[10:150], "y"]) == 141


def test_too_many_lines_that_differ_are_one_change() -> None:
    same = [str(number) for number in range(6000)]
    assert list(iter_changes(["a", "b", *same, "c"], ["a", "x", *same, "y"])) == [
        LineGap(1, 6003, 1, 6003)
    ]
