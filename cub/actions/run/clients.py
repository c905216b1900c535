"""The clients of a run: which one works next, and which one has to wait, or can't go on at all."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from cub.actions.run.evidence import Verdict
from cub.actions.run.policy import Row
from cub.harness.base import Harness
from cub.store.moments import written

_SHORTEST, _LONGEST = timedelta(minutes=1), timedelta(minutes=15)


class Clients:
    """Clients in the order of preference. A limit that tells no end is tried again after a
    minute, then after two, four, and so on.
    """

    def __init__(self, harnesses: Sequence[Harness]) -> None:
        self._harnesses = list(harnesses)
        self._until: dict[str, datetime] = {}
        self._guesses: dict[str, int] = {}
        self._rows: dict[str, Row] = {}

    @property
    def names(self) -> list[str]:
        """What they are called."""
        return [harness.name for harness in self._harnesses]

    def free(self, now: datetime) -> Harness | None:
        """The first one that may work now."""
        for harness in self._harnesses:
            if self._until.get(harness.name, now) <= now:
                return harness
        return None

    @property
    def until(self) -> datetime:
        """When the next one is free."""
        return min(self._until[name] for name in self.names)

    @property
    def until_text(self) -> str:
        """The same, as events have it."""
        return written(self.until)

    def judge(self, harness: Harness, verdict: Verdict, now: datetime) -> None:
        """Remember a limit, and failures in a row; drop a client that can't work for another."""
        name = harness.name
        self._rows[name] = self._rows.get(name, Row()).then(verdict)
        if verdict.failure == "rate_limited":
            self._until[name] = verdict.until or now + self._guess(name)
            return
        self._guesses.pop(name, None)
        if verdict.failure in ("auth", "harness_missing") and len(self._harnesses) > 1:
            self._harnesses.remove(harness)

    @property
    def are_over(self) -> bool:
        """Whether going on makes no sense with any of them."""
        return all(self._rows.get(name, Row()).is_over for name in self.names)

    def _guess(self, name: str) -> timedelta:
        count = self._guesses.get(name, 0)
        self._guesses[name] = count + 1
        return min(_SHORTEST * (1 << min(count, 8)), _LONGEST)
