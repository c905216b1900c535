"""The table of part two, as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from tests.benchmarks.map.speed import RUNS, Case
from tests.benchmarks.map.tables import format_head, format_row

_HEAD = (
    "tree, state",
    "maker",
    "CPU s",
    "wall s",
    "MB: largest",
    "all (RSS)",
    "all (PSS)",
    "aider to cub: CPU",
    "wall",
)


def head() -> Iterator[str]:
    """The lines above the rows."""
    yield from ("", f"### Cost, net of the empty commands, median of {RUNS} runs", "")
    yield from format_head(*_HEAD)


def rows(cases: Sequence[Case]) -> Iterator[str]:
    """A line for each maker; the ratios are medians over pairs of runs."""
    ours = cases[0]
    for case in cases:
        pairs = list(zip(case.costs, ours.costs, strict=True)) if case is not ours else []
        yield format_row(
            f"{case.tree}, {case.state}",
            case.maker,
            *(f"{one:.2f}" for one in case.median),
            *(f"{one / 1e6:.0f}" for one in case.memory),
            _ratio([(theirs.cpu, cub.cpu) for theirs, cub in pairs]),
            _ratio([(theirs.wall, cub.wall) for theirs, cub in pairs]),
        )


def _ratio(pairs: Sequence[tuple[float, float]]) -> str:
    found = [theirs / ours for theirs, ours in pairs if ours > 0]
    return f"{statistics.median(found):.1f}" if found else ""
