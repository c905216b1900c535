"""Estimate, count and price the tokens that models read and write."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

# Within -4/+6 % of cl100k on prose and compact code; no vocabulary to download.
_PIECE = re.compile(r"[A-Z]?[a-z]{1,7}|[A-Z]{1,4}|\d{1,3}|[!-/:-@\[-`{-~]{1,2}|[^\s!-~]")
# Scripts of which vocabularies know few words: about three tokens for two characters.
# Greek, and all from Devanagari on but punctuation and signs; told by the rest, to compile soon.
_RARE = re.compile(r"[^\0-\u036f\u0400-\u08ff\u2000-\u2e7f]{1,2}")


def estimate_tokens(text: str) -> int:
    """Return about how many tokens `text` is, for any current model."""
    count = sum(1 for _ in _PIECE.finditer(text))
    return count if text.isascii() else count + sum(1 for _ in _RARE.finditer(text))


class TokenUsage(NamedTuple):
    """Count tokens that an agent used; `input` is without those from a cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def add(self, other: TokenUsage) -> TokenUsage:
        """Return the sum of both."""
        return TokenUsage(*map(sum, zip(self, other, strict=True)))

    def subtract(self, part: TokenUsage) -> TokenUsage:
        """Return what is left, at least 0 of each kind."""
        return TokenUsage(*(max(0, a - b) for a, b in zip(self, part, strict=True)))

    @property
    def total(self) -> int:
        """Return the number that is shown and counts against a budget: without cache reads."""
        return self.input + self.output + self.cache_write


@cache
def has_price_table() -> bool:
    """Return whether `genai-prices` is installed: an offline table, half a second to import."""
    from importlib.util import find_spec

    return find_spec("genai_prices") is not None


def compute_dollars(model: str, tokens: TokenUsage) -> float | None:
    """Return dollars; None for a model without a price, or without the package."""
    price = _find_price(model, tokens)
    return round(float(price.total_price), 6) if price else None


def find_context_window(model: str) -> int | None:
    """Return how many tokens a model can read; None if the price table does not say."""
    price = _find_price(model, TokenUsage())
    return price.model.context_window if price else None


def _find_price(model: str, tokens: TokenUsage) -> PriceCalculation | None:
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
        return calc_price(usage, name, provider_id=provider.rpartition("/")[2] or None)
    except (LookupError, ValueError):
        return None
