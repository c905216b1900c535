"""What a client tells while it works, in the same few words for every client."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Kind = Literal[
    "text", "tool", "usage", "cost", "session", "limit", "denied", "result", "other",
]  # fmt: skip


class Tokens(NamedTuple):
    """Tokens that a client used; `input` is without those that a cache had."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def plus(self, other: Tokens) -> Tokens:
        """Both together."""
        return Tokens(*(mine + more for mine, more in zip(self, other, strict=True)))

    @property
    def total(self) -> int:
        """What counts against a budget: reading from a cache does not."""
        return self.input + self.output + self.cache_write


@dataclass(frozen=True, slots=True)
class ClientEvent:
    """One thing that a client told.

    `text` of a text event is a piece: the next one follows directly, so that a whole line or
    message ends with a line end. Tokens and dollars are new ones, to be added to those before.
    A result event is the client's last word; `failed` if the client says that it failed.
    """

    kind: Kind
    text: str = ""
    tokens: Tokens | None = None
    usd: float | None = None
    failed: bool = False

    def to_json(self) -> str:
        """One line of JSON, without its end, in the form of cub's event protocol."""
        return json.dumps(self.tree())

    def tree(self) -> dict[str, Any]:
        """The same as a tree."""
        told: dict[str, Any] = {"type": self.kind}
        if self.text or self.kind in ("text", "tool", "result"):
            told["id" if self.kind == "session" else "text"] = self.text
        if self.tokens is not None:
            told |= self.tokens._asdict()
        if self.usd is not None:
            told["usd"] = self.usd
        if self.kind == "result":
            told["failed"] = self.failed
        return told
