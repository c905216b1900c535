from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.checks.terminal_text import take_tail, to_plain_text

TERMINAL = st.text(st.sampled_from("ab\x1b[]();?0129KGmH\r\n\b\t\x07\x00\x9b\x9c\\ é"), max_size=60)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("", ""),
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[1;31mred\x1b[0m and \x1b(B\x1b[mplain", "red and plain"),
        ("\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]0;a title without an end\ntext", "\ntext"),
        ("a\x00b\x0bc\x7fd\x1b", "abcd"),
        ("one\r\ntwo\r\r\n", "one\ntwo\n"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("long line\rshort", "shortline"),
        ("long line\r\x1b[Kshort", "short"),
        ("long line\x1b[2K\x1b[1Gshort", "short"),
        ("long line\r", "long line"),
        ("ab\b\bc", "cb"),
        ("\b\bx", "x"),
        ("\x1b[01m\x1b[Koven.c:5:18:\x1b[m\x1b[K", "oven.c:5:18:"),
    ],
)
def test_what_a_terminal_shows_in_the_end(raw: str, shown: str) -> None:
    assert to_plain_text(raw) == shown


@given(st.one_of(st.text(), TERMINAL))
def test_plain_text_has_no_controls_and_stays_as_it_is(text: str) -> None:
    shown = to_plain_text(text)
    assert not [
        sign for sign in shown if (sign < " " or "\x7f" <= sign < "\xa0") and sign not in "\n\t"
    ]
    assert to_plain_text(shown) == shown


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_text_without_controls_is_plain(text: str) -> None:
    assert to_plain_text(text) == text


@pytest.mark.parametrize(
    ("text", "most", "last"),
    [
        ("", 10, ""),
        ("one\ntwo\nthree\n", 100, "one\ntwo\nthree"),
        ("one\ntwo\nthree\n\n \n", 9, "two\nthree"),
        ("one\ntwo\nthree", 8, "three"),
        ("one\ntwo\nthree", 5, "three"),
        ("one\ntwo\nthree", 3, "ree"),
        ("one", 0, ""),
        ("one", -1, ""),
        ("\x1b[31mone\x1b[0m\n", 3, "one"),
    ],
)
def test_the_tail_begins_with_a_line(text: str, most: int, last: str) -> None:
    assert take_tail(text, most) == last


@given(TERMINAL, st.integers(0, 30))
def test_a_tail_is_short_and_the_end_of_the_text(text: str, most: int) -> None:
    last = take_tail(text, most)
    assert len(last) <= most
    assert to_plain_text(text).rstrip().endswith(last)
