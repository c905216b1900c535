"""What a run has used up, and what it may."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from cub.harness.events import Tokens
from cub.harness.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Budget:
    """`usd`, `tokens` and `iterations` may be used up; the rest has been. None is no limit."""

    usd: float | None = None
    tokens: int | None = None
    iterations: int | None = None
    spent_usd: float = 0.0
    spent: Tokens = Tokens()  # noqa: RUF009 - immutable
    attempts: int = 0

    def with_attempt(self, told: Transcript) -> Budget:
        """The budget after an attempt."""
        return replace(
            self,
            spent_usd=self.spent_usd + told.usd,
            spent=self.spent.plus(told.tokens),
            attempts=self.attempts + 1,
        )

    @property
    def is_over(self) -> bool:
        """Whether dollars or tokens are used up."""
        over_usd = self.usd is not None and self.spent_usd >= self.usd
        return over_usd or (self.tokens is not None and self.spent.total >= self.tokens)

    @property
    def is_done(self) -> bool:
        """Whether no attempt is left."""
        return self.iterations is not None and self.attempts >= self.iterations

    def words(self) -> str:
        """What is over, for a person."""
        if self.usd is not None and self.spent_usd >= self.usd:
            return f"${self.spent_usd:.2f} of ${self.usd:.2f} are used up"
        return f"{self.spent.total:,} of {self.tokens:,} tokens are used up"

    def told(self) -> dict[str, Any]:
        """What the ledger and the status are told."""
        return {
            "attempts": self.attempts,
            "tok": tokens_told(self.spent),
            "usd": round(self.spent_usd, 6),
        }


def tokens_told(tokens: Tokens) -> dict[str, int]:
    """Tokens as the ledger has them."""
    return {
        "in": tokens.input,
        "out": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write,
    }
