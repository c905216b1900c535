"""Cutting old results costs hardly more than the better of two simple rules, and less than most."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.agent.old_results import ResultCutter
from tests.agent.cache_replay import PATTERNS, EachTurn, NeverCut, replay

MIN_SHARE, MAX_COST = 0.9, 1.05
_TURNS = 24  # `python -m tests.benchmarks cache` replays whole sessions


@pytest.mark.parametrize("name", PATTERNS)
def test_cutting_old_results_does_not_cost_the_cache(tmp_path: Path, name: str) -> None:
    turns = PATTERNS[name][:_TURNS]
    ours = replay(tmp_path, turns, ResultCutter())
    others = [replay(tmp_path, turns, rule) for rule in (NeverCut(), EachTurn())]
    assert ours.share >= MIN_SHARE
    assert ours.cost <= MAX_COST * min(other.cost for other in others)


def test_a_rule_that_cuts_each_turn_would_fail(tmp_path: Path) -> None:
    turns = PATTERNS["40 reads of 12 KB"][:_TURNS]
    each, never = (replay(tmp_path, turns, rule) for rule in (EachTurn(), NeverCut()))
    assert each.share < MIN_SHARE
    assert each.cost > MAX_COST * never.cost
    turns = PATTERNS["three of 12 KB a turn"][:_TURNS]
    each, never = (replay(tmp_path, turns, rule) for rule in (EachTurn(), NeverCut()))
    assert never.cost > MAX_COST * each.cost
