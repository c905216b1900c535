"""Cutting old results costs hardly more than the better of two simple rules, and less than most."""

from __future__ import annotations

import pytest

from cub.agent.old_results import ResultCutter
from tests.agent.cache_replay import FILLERS, PATTERNS, EachTurn, NeverCut, replay

MIN_SHARE, MAX_COST = 0.9, 1.05


@pytest.mark.parametrize("filler", FILLERS)
@pytest.mark.parametrize("name", PATTERNS)
def test_cutting_old_results_does_not_cost_the_cache(name: str, filler: str) -> None:
    ours = replay(PATTERNS[name], ResultCutter(), filler)
    others = [replay(PATTERNS[name], rule, filler) for rule in (NeverCut(), EachTurn())]
    assert ours.share >= MIN_SHARE
    assert ours.cost <= MAX_COST * min(other.cost for other in others)


def test_a_rule_that_cuts_each_turn_would_fail() -> None:
    turns = PATTERNS["40 reads of 12 KB"]
    each, never = (replay(turns, rule, FILLERS[1]) for rule in (EachTurn(), NeverCut()))
    assert each.share < MIN_SHARE
    assert each.cost > MAX_COST * never.cost


def test_a_rule_that_never_cuts_would_fail() -> None:
    turns = PATTERNS["three of 12 KB a turn"]
    each, never = (replay(turns, rule, FILLERS[1]) for rule in (EachTurn(), NeverCut()))
    assert never.cost > MAX_COST * each.cost
