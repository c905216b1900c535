from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.cli.markdown_lines import PLAIN_MARKS, MarkdownLines
from cub.cli.tables import measure_width
from cub.cli.terminal import render_styles, strip_styles

TEXTS = st.text(alphabet="ab |`*#->\n~1.", max_size=80)


def show(text: str, width: int | None = 40) -> list[str]:
    lines = MarkdownLines(width, has_styles=True)
    return [*lines.feed(text), *lines.finish()]


def plain(text: str, width: int | None = 40) -> list[str]:
    return [strip_styles(line) for line in show(text, width)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\ntwo", ["one", "two"]),
        ("## A **b** title ##\n", ["A b title"]),
        ("a `code` and **bold `x`** here", ["a code and bold x here"]),
        ("``a`b``", ["a`b"]),
        ("5\u202f% of\u00a0it:\u3000end", ["5 % of it:  end"]),
        ("**1** or **2**", ["1 or 2"]),
        ("2 ** 3 ** 4, a*b, _c_", ["2 ** 3 ** 4, a*b, _c_"]),
        ("- one\n  * two\n10. ten", ["• one", "  • two", "10. ten"]),
        ("---", ["─" * 40]),
        ("> quoted", ["│ quoted"]),
        ("```py\n# no title\n- no **item**\n```\n# T", ["```py", "# no title", "- no **item**",
                                                        "```", "T"]),
        ("~~~\n```\n~~~\n`x`", ["~~~", "```", "~~~", "x"]),
        ("| a | bb |\n|---|:--|\n| ccc | `d` |\nend", ["a    bb", "ccc  d", "end"]),
        ("| a \\| b | c |", ["a | b  c"]),
        ("| a | b |\n| c |", ["a  b", "c"]),
        ("a\r\nb", ["a", "b"]),
        ("", []),
        ("\n\n", ["", ""]),
    ],
)  # fmt: skip
def test_markdown_is_shown_as_lines(text: str, expected: list[str]) -> None:
    assert plain(text) == expected


def test_marks_can_be_those_of_ascii() -> None:
    lines = MarkdownLines(40, has_styles=True, marks=PLAIN_MARKS)
    shown = [*lines.feed("- one\n> two\n---\n"), *lines.finish()]
    assert [strip_styles(line) for line in shown] == ["* one", "| two", "-" * 40]


def test_styles_are_colors_of_a_terminal() -> None:
    (line,) = show("a `b` **c**")
    assert render_styles(line, use_color=True) == "a \x1b[36mb\x1b[0m \x1b[1mc\x1b[0m"
    removed = show("```diff\n-old\n```")[1]
    assert render_styles(removed, use_color=True) == "\x1b[31m-old\x1b[0m"


def test_items_are_indented_where_they_are_wrapped_and_code_is_not_wrapped() -> None:
    assert plain("- one two three four five", 12) == ["• one two", "  three four", "  five"]
    assert plain("> one two three", 9) == ["│ one two", "│ three"]
    assert plain("```\none two three four\n```", 10)[1] == "one two three four"


def test_a_line_is_shown_once_it_is_complete() -> None:
    lines = MarkdownLines(40, has_styles=True)
    assert [*lines.feed("a **b")] == []
    assert [strip_styles(line) for line in lines.feed("** c\nd")] == ["a b c"]
    assert [*lines.finish()] == ["d"]
    assert [*lines.finish()] == []


def test_rows_of_a_long_line_are_shown_as_they_come() -> None:
    lines = MarkdownLines(20, has_styles=True)
    shown = [[strip_styles(row) for row in lines.feed(piece)] for piece in (
        "- one **two three", " four five** six", " seven eight nine", " `ten\nend",
    )]  # fmt: skip
    assert shown == [[], ["• one two three four"], ["  five six seven"], ["  eight nine `ten"]]
    assert [*lines.finish()] == ["end"]


@given(st.text(alphabet="ab  |`*#->~1.\n中。", max_size=300), st.integers(1, 9), st.booleans())
def test_pieces_are_shown_as_the_whole_text(text: str, size: int, has_styles: bool) -> None:
    pieces, whole = MarkdownLines(12, has_styles), MarkdownLines(12, has_styles)
    starts = range(0, len(text), size)
    rows = [row for start in starts for row in pieces.feed(text[start : start + size])]
    assert [*rows, *pieces.finish()] == [*whole.feed(text), *whole.finish()]


def test_a_text_that_is_cut_in_code_leaves_no_code_open() -> None:
    lines = MarkdownLines(40, has_styles=True)
    assert len([*lines.feed("```\nx"), *lines.finish()]) == 2
    assert [strip_styles(line) for line in [*lines.feed("# T\n")]] == ["T"]


def test_without_styles_nothing_is_left_out() -> None:
    lines = MarkdownLines(None, has_styles=False)
    text = "# T\n| a |\n```\n**b**"
    assert [*lines.feed(text), *lines.finish()] == text.split("\n")


@given(TEXTS, st.integers(0, 80))
def test_pieces_make_no_difference(text: str, place: int) -> None:
    lines = MarkdownLines(20, has_styles=True)
    pieces = (text[:place], text[place:])
    assert [*(one for piece in pieces for one in lines.feed(piece)), *lines.finish()] == show(
        text, 20
    )


@given(TEXTS)
def test_letters_are_never_lost(text: str) -> None:
    shown = "".join(plain(text, None))
    for letter in "ab":
        outside = text.replace("```a", "").replace("~~~a", "")
        assert shown.count(letter) >= outside.count(letter) - text.count("``") - text.count("~~")


@given(st.lists(st.text("ab", min_size=1, max_size=6), max_size=20))
def test_lines_are_as_wide_as_the_terminal_at_most(words: list[str]) -> None:
    for start in ("", "- ", "> ", "# ", "12. "):
        assert all(measure_width(line) <= 20 for line in show(start + " ".join(words), 20))
