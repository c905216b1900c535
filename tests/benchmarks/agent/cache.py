"""`python -m tests.benchmarks cache`: what cutting old results costs, by the rules of a cache.

Sessions are replayed with three rules: no result is ever cut, old ones are cut before each request,
and as the agent does it. Beside the patterns of the tests are random sessions, of which the table
has the median and the worst.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence

from cub.agent.old_results import ResultCutter
from tests.agent.cache_replay import FILLERS, PATTERNS, CacheCost, EachTurn, NeverCut, replay

_RANDOM_SESSIONS, _MAX_SIZE = 48, 100_000


def main(say_line: Callable[[str], None]) -> None:
    """Replay, and say the table."""
    say_line("| session | cached of what is sent again | of all that is sent | cost of the better "
             "rule | never cut | cut each turn |")  # fmt: skip
    say_line("| --- | ---: | ---: | ---: | ---: | ---: |")
    for pattern, turns in PATTERNS.items():
        say_line(_format(pattern, [_compare(turns)]))
    rows = [_compare(_make_session(seed)) for seed in range(_RANDOM_SESSIONS)]
    say_line(_format(f"{_RANDOM_SESSIONS} random sessions, the median", rows))
    worst = max(rows, key=lambda row: row[2])
    say_line(_format("the most expensive of them, relative to the better rule", [worst]))
    say_line(_format("the one of which the least is cached", [min(rows)]))


def _make_session(seed: int) -> list[list[int]]:
    """Sizes as they are in sessions: mostly small, some very large, sometimes several a turn."""
    chance = random.Random(seed)
    mean = 6.5 + seed % 4 * 0.7
    return [
        [
            min(_MAX_SIZE, int(chance.lognormvariate(mean, 1.6)))
            for _ in range(chance.choice((1, 1, 1, 1, 2, 3, 12)))
        ]
        for _ in range(chance.choice((20, 40, 80)))
    ]


def _compare(turns: Sequence[Sequence[int]]) -> tuple[float, ...]:
    """Both shares, and the costs of the three rules, relative to the better of the simple ones."""
    rules = (ResultCutter(), NeverCut(), EachTurn())
    ours, never, each = (replay(turns, rule, FILLERS[1]) for rule in rules)
    best = min(never.cost, each.cost)
    costs = [one.cost / best for one in (ours, never, each)]
    return (ours.share, _share_of_all(ours), *costs)


def _share_of_all(cost: CacheCost) -> float:
    return cost.cached / cost.sent


def _format(name: str, rows: Sequence[tuple[float, ...]]) -> str:
    again, sent, *costs = (statistics.median(column) for column in zip(*rows, strict=True))
    cells = [f"{again:.0%}", f"{sent:.0%}", *(f"{cost:.2f}" for cost in costs)]
    return f"| {name} | {' | '.join(cells)} |"
