from __future__ import annotations

import pytest

from cub.harness.last_line import MOST, LastLine


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        ([], ""),
        (["I look first.\n"], "I look first."),
        (["I ", "look", " first"], "I look first"),
        (["one\n", "two\nthree ", "four\n"], "three four"),
        (["one\n\n```\n", "\n", "---\n"], "one"),
        (["  two\t  words \r\n"], "two words"),
        (["\x1b[31mred\x1b[0m \x1b]0;title\x07alert\x07\n"], "red alert"),
        (["10 %\r20 %\r"], "20 %"),
        (["x" * 1_000_000], "x" * (MOST - 1) + "…"),
        (["x" * 300 + "\n", "after\n"], "after"),
    ],
)
def test_the_last_line_that_says_something_is_shown(pieces: list[str], shown: str) -> None:
    line = LastLine()
    for piece in pieces:
        line.add(piece)
    assert line.text == shown
