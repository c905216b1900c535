"""When a run has used up what it may."""

from __future__ import annotations

import pytest

from cub.actions.run.run_context import Budget
from cub.harness.base import Transcript
from cub.tokens import TokenUsage

_ATTEMPT = Transcript(
    tokens=TokenUsage(input=60, output=30, cache_read=1000, cache_write=10), usd=0.5
)


def _after(budget: Budget, attempts: int) -> Budget:
    for _ in range(attempts):
        budget = budget.with_attempt(_ATTEMPT.tokens, _ATTEMPT.usd)
    return budget


@pytest.mark.parametrize(
    ("budget", "attempts", "over", "done"),
    [
        (Budget(), 100, False, False),
        (Budget(usd=1.0), 1, False, False),
        (Budget(usd=1.0), 2, True, False),
        (Budget(tokens=200), 1, False, False),
        (Budget(tokens=200), 2, True, False),
        (Budget(usd=1.0, tokens=1_000_000), 2, True, False),
        (Budget(usd=100.0, tokens=200), 2, True, False),
        (Budget(iterations=2), 1, False, False),
        (Budget(iterations=2), 2, False, True),
    ],
)
def test_each_limit_ends_a_run_by_itself(
    budget: Budget, attempts: int, over: bool, done: bool
) -> None:
    used = _after(budget, attempts)
    assert (used.is_exceeded, used.has_no_room()) == (over, done)


def test_what_was_used_up_is_told() -> None:
    assert _after(Budget(usd=1.0), 2).describe_overrun() == "$1.00 of $1.00 are used up"
    assert (
        _after(Budget(usd=5.0, tokens=200), 2).describe_overrun() == "200 of 200 tokens are used up"
    )
    tokens = {"in": 120, "out": 60, "cache_read": 2000, "cache_write": 20}
    assert _after(Budget(), 2).to_json() == {"attempts": 2, "tok": tokens, "usd": 1.0}
