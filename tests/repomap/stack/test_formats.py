from __future__ import annotations

import pytest

from cub.repomap.stack.formats import iter_code_lines, strip_comments


def test_comments_and_blank_lines_are_left_out() -> None:
    assert list(iter_code_lines("  a \r\n\n # b\n\tc # d")) == ["a", "c # d"]


@pytest.mark.parametrize(
    ("text", "comment", "kept"),
    [
        ("a // b\nc", "//", "a \nc"),
        ("a /* b\nc */ d", "//", "a  d"),
        ("a /* b", "//", "a "),
        ('"http://a" // b', "//", '"http://a" '),
        ("'a\\'//b' // c", "//", "'a\\'//b' "),
        ("don't // stay\nb // c", "//", "don't // stay\nb "),
        ("a # b /* c\nd", "#", "a \nd"),
        ('"#" # b', "#", '"#" '),
    ],
)
def test_comments_go_and_quotes_stay(text: str, comment: str, kept: str) -> None:
    assert strip_comments(text, comment) == kept
