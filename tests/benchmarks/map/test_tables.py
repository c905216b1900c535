from __future__ import annotations

from tests.benchmarks.map.measures import Answers, Score
from tests.benchmarks.map.quality import BUDGETS, Made, Row
from tests.benchmarks.map.tables import lines


def row(name: str, recall: float, hit: float | None, *, dev: bool) -> Row:
    score = Score((recall, recall), (None, None), (None, None), hit)
    made = {(who, tokens): Made(score, tokens) for who in ("map", "random") for tokens in BUDGETS}
    return Row(name, dev, Answers(["a"] * 12, [], []), made)


ROWS = [row("one", 0.5, 0.25, dev=True), row("two", 1.0, None, dev=False)]
TEXT = list(lines(ROWS))


def test_each_repository_has_a_line_and_each_half_a_mean() -> None:
    assert "| one | dev | 12 | 0.50/0.50 | 0.50/0.50 |" in TEXT
    assert "| two | held out | 12 | 1.00/1.00 | 1.00/1.00 |" in TEXT
    assert "| **mean**, all |  | 2 | 0.75/0.75 | 0.75/0.75 |" in TEXT


def test_a_maker_that_was_not_there_has_no_column() -> None:
    assert "| repository | half | asked | map | random |" in TEXT


def test_what_has_no_figure_is_left_out() -> None:
    hits = TEXT[TEXT.index("### Later-commit symbol hit, 1500 tokens") :]
    assert "| one | dev | 0 | 0.25 | 0.25 |" in hits
    assert not any(line.startswith("| two") for line in hits)


def test_the_other_budgets_are_of_the_held_out_half() -> None:
    start = TEXT.index("| tokens | map | random |")
    assert TEXT[start + 2 : start + 6] == [f"| {n} | 1.00/1.00 | 1.00/1.00 |" for n in BUDGETS]
