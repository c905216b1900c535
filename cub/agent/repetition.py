"""Notice that a model makes the same calls over and over, and tell it before the session ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from cub.agent.conversation import ToolCall, ToolResult

MAX_REPEATS = 5  # the same call with the same result, and nothing new between
WARNED_REPEATS = 3
WAIT_SECONDS = 5.0  # a call that takes as long waits for something


@dataclass(slots=True)
class RepetitionCounter:
    """Count how often calls have had the same result again since there was a new one.

    So a model that goes round in a circle of calls is found as well. A turn in which a call has
    taken some seconds waits for something, and asking again makes sense: the count starts anew.
    """

    # Names of tools, and hashes of calls with their results.
    _known: set[tuple[str, int]] = field(default_factory=set)
    _repeats: Counter[tuple[str, int]] = field(default_factory=Counter)
    _is_warned: bool = False

    def count_calls(
        self, calls: Sequence[ToolCall], results: Sequence[ToolResult], seconds: float
    ) -> str:
        """Count the calls of a turn, of which the longest has taken so many seconds.

        Return what the model should be told, mostly "".
        """
        keys = [
            (call.name, hash((call.name, repr(call.arguments), result.text)))
            for call, result in zip(calls, results, strict=True)
        ]
        for key in dict.fromkeys(keys):  # one reply may have a call several times
            if key in self._known and seconds < WAIT_SECONDS:
                self._repeats[key] += 1
            else:
                self._known.add(key)
                self._repeats.clear()
                self._is_warned = False
        name, repeats = self._find_most_repeated()
        if self._is_warned or repeats < WARNED_REPEATS:
            return ""
        self._is_warned = True
        return (
            f"You have called {name} {repeats} times with the same arguments and the same result. "
            "Another time will not change it: try something else, or say what is in your way."
        )

    def explain_end(self) -> str:
        """Return why the session has to end; "" if it may go on."""
        name, repeats = self._find_most_repeated()
        if repeats < MAX_REPEATS:
            return ""
        return f"{name} was called {repeats} times with the same result"

    def clear(self) -> None:
        """Forget all calls: the model no longer has their results before it."""
        self._known.clear()
        self._repeats.clear()

    def _find_most_repeated(self) -> tuple[str, int]:
        for (name, _), again in self._repeats.most_common(1):
            return name, again + 1
        return "", 0
