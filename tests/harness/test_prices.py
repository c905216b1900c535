"""What an attempt cost, if the agent does not say."""

from __future__ import annotations

import pytest

from cub.harness.base import UNKNOWN_COST, AgentEvent, determine_cost
from cub.tokens import TokenUsage
from tests.harness.agent_streams import collect_events

TOKENS = TokenUsage(input=1_000_000, output=100_000, cache_read=2_000_000)


def test_a_reported_cost_comes_first() -> None:
    transcript = collect_events(AgentEvent("usage", tokens=TOKENS), AgentEvent("cost", usd=0.0))
    assert determine_cost(transcript, "gpt-5") == (0.0, "reported")


def test_a_cost_is_computed_from_tokens_and_the_model() -> None:
    pytest.importorskip("genai_prices")
    transcript = collect_events(AgentEvent("usage", tokens=TOKENS))
    cost = determine_cost(transcript, "gpt-5")
    assert cost.source == "computed"
    assert cost.usd
    assert 1 < cost.usd < 10
    assert determine_cost(transcript, "openai/gpt-5") == cost
    transcript.add_event(AgentEvent("model", "gpt-5"))
    assert determine_cost(transcript, None) == cost


@pytest.mark.parametrize("model", [None, "", "no-such-model", "nobody/gpt-5", "/", "a/b/c"])
def test_an_unknown_price_stays_unknown(model: str | None) -> None:
    assert determine_cost(collect_events(AgentEvent("usage", tokens=TOKENS)), model) == UNKNOWN_COST


def test_without_tokens_nothing_is_estimated() -> None:
    assert determine_cost(collect_events(), "gpt-5") == UNKNOWN_COST
