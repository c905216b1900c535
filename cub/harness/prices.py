"""Determine what an attempt cost: by what the agent reports, or else by its tokens."""

from __future__ import annotations

from typing import Literal, NamedTuple

from cub.harness.base import Transcript
from cub.tokens import compute_dollars

CostSource = Literal["reported", "computed", "none"]


class AttemptCost(NamedTuple):
    """Hold the dollars of an attempt, None if they are not known, and where they come from."""

    usd: float | None
    source: CostSource


UNKNOWN_COST = AttemptCost(None, "none")


def determine_cost(transcript: Transcript, model: str | None) -> AttemptCost:
    """Return the cost that the agent reported, or else one computed from its tokens.

    `model` is the one that was asked for; what the agent names comes first.
    """
    if transcript.usd is not None:
        return AttemptCost(transcript.usd, "reported")
    name = transcript.model or model or ""
    usd = compute_dollars(name, transcript.tokens) if name and transcript.tokens else None
    return AttemptCost(usd, "none" if usd is None else "computed")
