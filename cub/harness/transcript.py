"""What an attempt's events come to: the final message, the costs, and how the client ended."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from cub.checks.plain import plain
from cub.harness.events import ClientEvent, Tokens
from cub.masking import masked

MOST_FINAL = 64 * 1024  # characters
MOST_DENIED = 20


@dataclass(slots=True)
class Transcript:
    """The sum of the events so far.

    `priced`: the client told what it cost. `ended`: there was a result event. `limit` are the
    last words about a limit. What is said there and in the final message is without secrets.
    """

    tokens: Tokens = field(default_factory=Tokens)
    usd: float = 0.0
    priced: bool = False
    session: str = ""
    denied: list[str] = field(default_factory=list)
    limit: str = ""
    failed: bool = False
    ended: bool = False
    _result: str = ""
    _said: deque[str] = field(default_factory=deque)
    _length: int = 0
    _final: str | None = None

    @property
    def final(self) -> str:
        """The final message: the result's text, else what was said since the last tool.

        No more than its last 64 Ki characters. Masked as a whole: a secret may take several pieces.
        """
        if self._final is None:
            said = (self._result or "".join(self._said))[-MOST_FINAL:]
            # Escapes could stand within a secret, and are left out wherever it is shown.
            self._final = masked(plain(said) if "\x1b" in said else said).strip()
        return self._final

    def add(self, event: ClientEvent) -> None:
        """Take an event into account."""
        self._final = None
        if event.tokens is not None:
            self.tokens = self.tokens.plus(event.tokens)
        if event.usd is not None:
            self.usd, self.priced = self.usd + event.usd, True
        match event.kind:
            case "text":
                self._say(event.text)
            case "tool":
                self._said.clear()
                self._length = 0
            case "session":
                self.session = event.text or self.session
            case "limit":
                self.limit = masked(event.text) or self.limit
            case "denied":
                self.denied += [masked(event.text)] if len(self.denied) < MOST_DENIED else []
            case "result":
                self.ended, self.failed = True, event.failed
                self._result = event.text[-MOST_FINAL:]

    def _say(self, text: str) -> None:
        self._said.append(text[-MOST_FINAL:])
        self._length += len(self._said[-1])
        while self._length - len(self._said[0]) > MOST_FINAL:
            self._length -= len(self._said.popleft())
