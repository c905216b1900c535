"""Count what a session and its sub-agents use: turns, and tokens and dollars against a limit."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

from cub.tokens import TokenUsage, compute_dollars


@dataclass(slots=True)
class SessionBudget:
    """Count turns and usage; what a child counts, its parent counts as well.

    `usd` is None once a price is not known; `max_usd` is None for no limit.
    """

    max_usd: float | None = None
    parent: SessionBudget | None = None
    usage: TokenUsage = field(default_factory=TokenUsage)
    usd: float | None = 0.0
    turns: int = 0
    _lock: Lock = field(default_factory=Lock)  # sub-agents run in threads of their own

    def add_usage(self, model: str, usage: TokenUsage, turns: int = 0) -> float | None:
        """Add what a reply of a model has used; return its dollars, None if they are not known."""
        usd = compute_dollars(model, usage) if any(usage) else None
        self.add_cost(usage, usd, turns)
        return usd

    def add_cost(self, usage: TokenUsage, usd: float | None, turns: int = 0) -> None:
        """Add tokens with their dollars, None if these are not known, and turns."""
        with self._lock:
            self.usage = self.usage.add(usage)
            self.usd = None if usd is None or self.usd is None else self.usd + usd
            self.turns += turns
        if self.parent:
            self.parent.add_cost(usage, usd, turns)

    def explain_excess(self) -> str:
        """Return that a limit is reached, here or above; "" if there is none or it is not.

        A reply without a known price, or without its tokens, may cost anything.
        """
        if self.max_usd is not None and self.usd is None:
            return f"stopped: the cost of a reply is not known, so ${self.max_usd} can't be kept"
        if self.max_usd is not None and self.usd is not None and self.usd >= self.max_usd:
            return f"stopped at ${self.usd:.4f} of ${self.max_usd}"
        return self.parent.explain_excess() if self.parent else ""
