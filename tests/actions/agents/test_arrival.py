from __future__ import annotations

import pytest

from cub.actions.agents.arrival import Arrival, choose_lines, count_arrivals

MINE = "# Bakery\n\nBake bread before six in the morning.\nPrices are in cents, never in euros.\n"
OTHER = "# Bakery\n\nNever sell yesterday's bread as fresh.\n"


@pytest.mark.parametrize(
    ("sent", "arrival"),
    [
        ([], Arrival(0, False)),
        ([MINE], Arrival(1, False)),
        ([f"before\n{MINE}", OTHER], Arrival(1, False)),
        ([MINE, MINE], Arrival(2, False)),
        ([MINE[:50]], Arrival(1, True)),
        ([MINE, MINE[:50]], Arrival(2, False)),
        ([MINE.replace("\n", "\r\n  ").replace("Bake bread", "Bake  bread")], Arrival(1, False)),
    ],
    ids=["none", "once", "among others", "twice", "cut", "once and a part", "other blanks"],
)
def test_a_text_is_counted_by_its_lines(sent: list[str], arrival: Arrival) -> None:
    lines, _ = choose_lines([MINE, OTHER])
    assert count_arrivals(lines, sent) == arrival


def test_lines_of_two_texts_are_those_of_none() -> None:
    assert choose_lines([MINE, MINE, OTHER]) == [
        (),
        (),
        ("Never sell yesterday's bread as fresh.",),
    ]


def test_what_agents_change_is_no_line() -> None:
    text = (
        "<!-- A comment of several\nwords in two lines. -->\nSee the file @docs/bread.md for all.\n"
    )
    assert choose_lines([f"{text}### Heading that is long enough\n"]) == [
        ("Heading that is long enough",)
    ]


def test_the_short_lines_of_a_short_text_count() -> None:
    assert choose_lines(["Use tabs.\nNo."]) == [("Use tabs.",)]


@pytest.mark.parametrize(
    ("arrival", "text", "is_once"),
    [
        (Arrival(1, False), "1", True),
        (Arrival(1, True), "1, cut", False),
        (Arrival(2, False), "2", False),
        (Arrival(0, False), "0", False),
    ],
)
def test_only_a_whole_text_that_came_once_is_fine(
    arrival: Arrival, text: str, is_once: bool
) -> None:
    assert (arrival.to_text(), arrival.is_once) == (text, is_once)
