"""Part one of the benchmark: what maps say, beside aider's and beside those that anyone could make.

Every map has the same budget, and is counted by the same estimator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cub.tokens import estimate_tokens
from tests.benchmarks.map import chosen, makers
from tests.benchmarks.map.measures import Answers, Score, answers, mean_score, score
from tests.benchmarks.map.prepare import Prepared, prepared, texts
from tests.benchmarks.map.repositories import LANGUAGE, Repository, given, halves, present

BUDGET = 1500
BUDGETS = (500, 1000, BUDGET, 3000)
_SEEDS = range(5)


class Made(NamedTuple):
    """What one maker's map of a repository is worth, and how long it is."""

    score: Score
    tokens: int


class Row(NamedTuple):
    """A repository, and what is made of it by each maker with each budget."""

    name: str
    dev: bool
    right: Answers
    made: dict[tuple[str, int], Made]


def rows(names: Sequence[str], scratch: Path) -> Iterator[Row]:
    """One for each repository that is there."""
    return rows_of(names or list(LANGUAGE), present(given()), scratch)


def rows_of(names: Sequence[str], there: dict[str, Repository], scratch: Path) -> Iterator[Row]:
    """One for each of the names that is there, or that pip can get."""
    dev, home = halves()[0], scratch / "home-of-quality"
    home.mkdir()
    for name in names:
        found = prepared(name, there, scratch)
        if found is not None:
            yield _row(name, found, home, dev=name in dev)


def _row(name: str, found: Prepared, home: Path, *, dev: bool) -> Row:
    files = texts(found.root)
    right, sources = answers(files, found.touched), chosen.Sources.of(files)
    made = {
        (who, tokens): Made(
            mean_score([score(page, right) for page in pages]),
            max(map(estimate_tokens, pages)),
        )
        for tokens in BUDGETS
        for who, pages in _pages(found.root, sources, tokens, home).items()
    }
    return Row(name, dev, right, made)


def _pages(root: Path, sources: chosen.Sources, tokens: int, home: Path) -> dict[str, list[str]]:
    """The maps of a repository by their makers; chance makes several."""
    theirs = makers.aider_text(root, tokens, home)
    orders = {who: [first(sources)] for who, first in chosen.BASELINES.items()}
    orders["random"] = [chosen.at_random(sources, seed) for seed in _SEEDS]
    return {
        "map": [makers.cub_text(root, tokens, home)],
        **({} if theirs is None else {"aider": [theirs]}),
        **{who: [chosen.page(one, tokens) for one in made] for who, made in orders.items()},
    }
