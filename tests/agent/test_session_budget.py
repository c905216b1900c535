from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from cub.agent.session_budget import SessionBudget
from cub.tokens import TokenUsage


def test_what_a_child_uses_counts_in_all_above() -> None:
    session = SessionBudget(max_usd=1.0)
    agent = SessionBudget(parent=session)
    helper, other = SessionBudget(parent=agent), SessionBudget(parent=agent)
    session.add_cost(TokenUsage(1), 0.1)
    helper.add_cost(TokenUsage(10, 2), 0.5)
    assert [b.usage.input for b in (session, agent, helper, other)] == [11, 10, 10, 0]
    assert other.explain_excess() == ""
    helper.add_cost(TokenUsage(5), 0.5)
    assert other.explain_excess() == "stopped at $1.1000 of $1.0"
    assert session.usd == pytest.approx(1.1)


def test_an_unknown_price_of_a_child_makes_the_whole_unknown() -> None:
    session = SessionBudget(max_usd=1.0)
    SessionBudget(parent=session).add_cost(TokenUsage(10), None)
    session.add_cost(TokenUsage(10), 5.0)
    assert session.usd is None
    assert session.usage == TokenUsage(20)
    assert session.explain_excess() == (
        "stopped: the cost of a reply is not known, so $1.0 can't be kept"
    )
    assert SessionBudget(usd=None).explain_excess() == ""


def test_a_reply_without_usage_has_no_price() -> None:
    budget = SessionBudget()
    assert budget.add_usage("claude-sonnet-5-5", TokenUsage()) is None


def test_children_in_threads_lose_nothing() -> None:
    session = SessionBudget()

    def count(budget: SessionBudget) -> None:
        for _ in range(1_000):
            budget.add_cost(TokenUsage(1), 0.0)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, [SessionBudget(parent=session) for _ in range(8)]))
    assert session.usage.input == 8_000
