from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cub.actions.agents.text_marks import (
    Arrival,
    Marks,
    UnmarkedText,
    count_arrivals,
    mark_texts,
)

MINE = "# Bakery\n\nBake bread before six in the morning.\nPrices are in cents, never in euros.\n"
BEGIN, END = "<!-- BEGIN CUB MANAGED SECTION v1 -->\n", "<!-- END CUB MANAGED SECTION -->\n"
FLOUR = "# Flour\n\nFlour comes from the mill.\n"
LIST = "\ufeff# A\n" + "- A list of many words.\r\n" * 90
FIXED = ("@", "<!--", "---", "paths", "`")
CHARACTERS = "ab \n#@-`|<!>*\r\u2028é words and more"


def mark(*texts: str) -> tuple[list[str], list[Marks]]:
    """Texts in files of their own with marks in them, and the marks."""
    files = {str(number): text.encode() for number, text in enumerate(texts)}
    wanted = [UnmarkedText(str(number), (text,), text) for number, text in enumerate(texts)]
    marked, marks = mark_texts(files, wanted)
    return [data.decode() for data in marked.values()], marks


@pytest.mark.parametrize("text", [MINE, f"{MINE}no\n", LIST])
def test_limits_in_bytes_hold(text: str) -> None:
    (marked,), marks = mark(text)
    assert len(marks[0]) >= 2
    assert len(marked.encode()) == len(text.encode())


@pytest.mark.parametrize(
    "text",
    ["Hi.\n", "Use tabs.\nNo.", "@docs/a.md\n", "<!-- nothing -->", "", "| a | b |\n",
     "---\npaths: [src]\n---\nx\n", "```\n@a\n```\n", "面包必须在早上六点之前烤好。\n", "#\n"],
)  # fmt: skip
def test_each_text_has_a_mark_and_its_own_meaning(text: str) -> None:
    (marked,), (marks,) = mark(text)
    assert count_arrivals([marks], [marked]) == [Arrival(1, False)]
    fixed = [line for line in text.splitlines() if line.startswith(FIXED)]
    assert [line for line in marked.splitlines() if line in fixed] == fixed


@pytest.mark.parametrize(
    ("cut", "times", "arrival"),
    [
        (None, 0, Arrival(0, False)),
        (None, 1, Arrival(1, False)),
        (None, 2, Arrival(2, False)),
        (60, 1, Arrival(1, True, 3)),
    ],
)
def test_a_text_is_counted_by_its_marks(cut: int | None, times: int, arrival: Arrival) -> None:
    (marked, other), marks = mark(MINE, "# Bakery\n\nNever sell yesterday's bread as fresh.\n")
    sent = [f"before\n{marked[:cut]}"] * times
    assert count_arrivals(marks, [*sent, other]) == [arrival, Arrival(1, False)]


def test_the_end_of_a_large_text_is_found_by_its_line() -> None:
    text = "".join(f"{number}. Bread of the kind {number} is baked.\n" for number in range(999))
    (marked,), marks = mark(text)
    (arrival,) = count_arrivals(marks, [marked.encode()[: 32 * 1024].decode()])
    assert arrival is not None
    last = marked.encode()[: 32 * 1024].count(b"\n")
    assert arrival.is_cut
    assert last - 15 <= arrival.line <= last


def test_equal_texts_stay_equal_and_a_quote_counts() -> None:
    (one, two, three), marks = mark(MINE, MINE, f"A till stands at the door.\n\n{MINE}")
    assert one == two == three.partition("\n\n")[2]
    assert marks[0] == marks[1]
    assert count_arrivals(marks, [one, three]) == [Arrival(2, False)] * 2 + [Arrival(1, False)]


def test_lines_that_two_texts_share_have_marks_of_their_own() -> None:
    (one, _), marks = mark(MINE, MINE.replace("six", "five"))
    assert count_arrivals(marks, [one]) == [Arrival(1, False), Arrival(0, False)]


def test_a_text_whose_lines_another_has_apart_arrives_with_it() -> None:
    other = MINE.replace("Prices", "A till stands at the door.\n\nPrices")
    (one, two), marks = mark(MINE, other)
    assert {*one.splitlines()} < {*two.splitlines()}
    assert count_arrivals(marks, [one]) == [Arrival(1, False), Arrival(0, False)]
    assert count_arrivals(marks, [two]) == [Arrival(1, False), Arrival(1, False)]
    assert count_arrivals(marks, [two, two]) == [Arrival(2, False), Arrival(2, False)]


def test_the_cut_of_a_text_shows_in_lines_that_another_has() -> None:
    lines = [f"Bread of the kind number {number} is baked.\n" for number in range(99)]
    (_, two), marks = mark(
        "".join(lines), "".join([*lines[:9], "Other bread is not.\n", *lines[9:]])
    )
    half = two[: len(two) // 2]
    (_, arrival) = count_arrivals(marks, [half])
    assert arrival is not None
    assert (arrival.times, arrival.is_cut) == (1, True)
    assert 35 <= arrival.line <= 50


def test_a_text_around_the_managed_section_and_one_that_is_inlined_there() -> None:
    whole = f"{MINE}\n{BEGIN}Work in tasks.\n\n##{FLOUR}{END}\nThe end of it all.\n"
    own = f"{MINE}\n\nThe end of it all.\n"
    marked, marks = mark_texts(
        {"AGENTS.md": whole.encode(), "map": FLOUR.encode()},
        [UnmarkedText("AGENTS.md", (own,), own), UnmarkedText("map", (FLOUR,), FLOUR)],
    )
    assert count_arrivals(marks, [marked["AGENTS.md"].decode()]) == [Arrival(1, False)] * 2
    assert BEGIN.encode() in marked["AGENTS.md"]


def test_a_text_of_others_is_known_by_their_marks() -> None:
    (_, _, both), marks = mark(MINE, FLOUR, MINE + FLOUR)
    assert count_arrivals(marks, [both]) == [Arrival(1, False)] * 3


def test_a_text_that_is_in_no_file_is_not_known() -> None:
    _, marks = mark_texts({"a": b"x\n"}, [UnmarkedText("a", ("other\n",), "other\n")])
    assert (marks, count_arrivals(marks, ["other"])) == ([()], [None])


@given(st.lists(st.text(CHARACTERS, max_size=80), min_size=1, max_size=3))
@example(["\r", "a"])
def test_any_texts_arrive_as_often_as_they_are_sent(texts: list[str]) -> None:
    marked, marks = mark(*texts)
    counts = count_arrivals(marks, marked)
    assert all(one is not None and one.times >= 1 and not one.is_cut for one in counts)
