"""The tables of part one, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tests.benchmarks.map.measures import Score, mean_score
from tests.benchmarks.map.quality import BUDGET, BUDGETS, Row

MAKERS = ("map", "aider", "random", "largest files", "in-degree", "most imported")
Pick = Callable[[Score], tuple[float | None, ...]]
Size = Callable[[Row], int]
_HALVES: dict[str, Callable[[Row], bool]] = {
    "dev half": lambda row: row.dev,
    "held-out half": lambda row: not row.dev,
    "all": lambda _: True,
}
_WAYS: dict[str, tuple[Pick, Size]] = {
    "Docs-API recall@30/@100, definitions of the top level": (
        lambda score: score.top,
        lambda row: len(row.right.top),
    ),
    "Docs-API recall@30/@100, methods too": (
        lambda score: score.every,
        lambda row: len(row.right.every),
    ),
    "Docs-API recall@30/@100, top level, names in examples too": (
        lambda score: score.examples,
        lambda row: len(row.right.examples),
    ),
    "Later-commit symbol hit": (lambda score: (score.hit,), lambda row: len(row.right.touched)),
}


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """All tables."""
    for title, (pick, size) in _WAYS.items():
        there = [row for row in rows if pick(row.made["map", BUDGET].score)[0] is not None]
        if there:
            yield from _by_repository(title, there, pick, size)
            yield from _by_budget(title, there, pick)
    yield from _lengths(rows)


def _by_repository(title: str, rows: Sequence[Row], pick: Pick, size: Size) -> Iterator[str]:
    makers = _makers(rows)
    yield from ("", f"### {title}, {BUDGET} tokens", "")
    yield from format_head("repository", "half", "asked", *makers)
    for row in rows:
        cells = (_cell(pick(row.made[who, BUDGET].score)) for who in makers)
        yield format_row(row.name, "dev" if row.dev else "held out", str(size(row)), *cells)
    for half, chosen in _HALVES.items():
        some = [row for row in rows if chosen(row)]
        if some:
            cells = (_cell(pick(_mean(some, who, BUDGET))) for who in makers)
            yield format_row(f"**mean**, {half}", "", str(len(some)), *cells)


def _by_budget(title: str, rows: Sequence[Row], pick: Pick) -> Iterator[str]:
    makers, held = _makers(rows), [row for row in rows if not row.dev]
    yield from ("", f"{title}: mean of the held-out half, by budget", "")
    yield from format_head("tokens", *makers)
    for tokens in BUDGETS if held else ():
        yield format_row(str(tokens), *(_cell(pick(_mean(held, who, tokens))) for who in makers))


def _lengths(rows: Sequence[Row]) -> Iterator[str]:
    makers = _makers(rows)
    yield from ("", "### Estimated tokens of the longest and of the shortest map", "")
    yield from format_head("tokens", *makers)
    for tokens in BUDGETS:
        spans = [[row.made[who, tokens].tokens for row in rows] for who in makers]
        yield format_row(str(tokens), *(f"{max(span)} / {min(span)}" for span in spans))


def _makers(rows: Sequence[Row]) -> list[str]:
    return [who for who in MAKERS if all((who, BUDGET) in row.made for row in rows)]


def _mean(rows: Sequence[Row], who: str, tokens: int) -> Score:
    return mean_score([row.made[who, tokens].score for row in rows])


def _cell(figures: tuple[float | None, ...]) -> str:
    return "/".join("-" if one is None else f"{one:.2f}" for one in figures)


def format_head(*words: str) -> Iterator[str]:
    """Yield the two lines above the rows."""
    yield format_row(*words)
    yield format_row(*("---" for _ in words))


def format_row(*cells: str) -> str:
    """Return the line of a row."""
    return f"| {' | '.join(cells)} |"
