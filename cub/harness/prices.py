"""Compute what an attempt cost where an agent reports tokens and no dollars.

The prices come from the offline table of `genai-prices`, an optional package that takes half a
second to import: it is imported only when a price is needed.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal, NamedTuple

from cub.harness.base import TokenUsage, Transcript

CostSource = Literal["reported", "computed", "none"]


class AttemptCost(NamedTuple):
    """Hold the dollars of an attempt, None if they are not known, and where they come from."""

    usd: float | None
    source: CostSource


UNKNOWN_COST = AttemptCost(None, "none")


def has_price_table() -> bool:
    """Return whether the package with the prices is installed."""
    return find_spec("genai_prices") is not None


def determine_cost(transcript: Transcript, model: str | None) -> AttemptCost:
    """Return the cost that the agent reported, or else one computed from its tokens.

    `model` is the one that was asked for; what the agent names comes first.
    """
    if transcript.usd is not None:
        return AttemptCost(transcript.usd, "reported")
    name = transcript.model or model or ""
    usd = _compute_dollars(name, transcript.tokens) if name and transcript.tokens else None
    return AttemptCost(usd, "none" if usd is None else "computed")


def _compute_dollars(model: str, tokens: TokenUsage) -> float | None:
    """Return dollars; None for a model without a price, or without the package."""
    if not has_price_table():
        return None
    from genai_prices import Usage, calc_price

    usage = Usage(
        input_tokens=tokens.input + tokens.cache_read + tokens.cache_write,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
        output_tokens=tokens.output,
    )
    provider, _, name = model.rpartition("/")
    try:
        price = calc_price(usage, name, provider_id=provider.rpartition("/")[2] or None)
    except (LookupError, ValueError):
        return None
    return round(float(price.total_price), 6)
