"""cub's event protocol: what a client of one's own may print, one JSON object a line.

    {"type": "text", "text": "I will look first."}       said; a message of its own
    {"type": "tool", "text": "edit shop/price.py"}       done
    {"type": "usage", "input": 1200, "output": 300, "cache_read": 0, "cache_write": 0}
    {"type": "cost", "usd": 0.01}
    {"type": "session", "id": "…"}
    {"type": "denied", "text": "rm -rf build"}           what it was not allowed to do
    {"type": "limit", "text": "resets 3pm (UTC)"}        why it can't go on for now
    {"type": "result", "text": "Status: done", "failed": false}      the final message

Tokens and dollars are new ones each time. A field whose value makes no sense is left out; an
object of another type says nothing; every other line is text.

Lines out of the pieces that a pipe gives.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from cub.checks.terminal_text import to_plain_text
from cub.harness.base import AgentEvent, EventKind, TokenUsage

_TEXTS = ("text", "tool", "denied", "limit", "result")
_MOST_TOKENS = 10**12
_MOST_USD = 10**6
_MOST_REPLAYED = 2_000  # replaying a line as a terminal shows it costs the square of its length


class EventProtocolReader:
    """A reader of cub's event protocol."""

    def read_line(self, line: bytes) -> Iterator[AgentEvent]:
        """The event of a line; none for a usage or a cost that says nothing."""
        tree = _object(line)
        if tree is None:
            yield AgentEvent("text", decode_line(line) + "\n")
        elif (event := _event(tree)) is not None:
            yield event


def decode_line(line: bytes) -> str:
    """A line as a terminal shows it."""
    text = line.decode("utf-8", "replace")
    return (
        text if text.isprintable() else to_plain_text(text[:_MOST_REPLAYED]) + text[_MOST_REPLAYED:]
    )


def _object(line: bytes) -> dict[str, Any] | None:
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        tree = json.loads(line)
    except (ValueError, RecursionError):  # a number of thousands of digits is a ValueError too
        return None
    return tree if isinstance(tree, dict) else None


def _event(tree: Mapping[str, Any]) -> AgentEvent | None:
    kind = tree.get("type")
    if kind == "usage":
        tokens = TokenUsage(*(_count(tree.get(name)) for name in TokenUsage._fields))
        return AgentEvent("usage", tokens=tokens) if any(tokens) else None
    if kind == "cost":
        usd = _dollars(tree.get("usd"))
        return None if usd is None else AgentEvent("cost", usd=usd)
    if kind == "session":
        return AgentEvent("session", _text(tree.get("id")))
    if kind not in _TEXTS:
        return AgentEvent("other")
    text = _text(tree.get("text"))
    if kind == "text" and not text.endswith("\n"):
        text += "\n"
    return AgentEvent(cast("EventKind", kind), text, failed=tree.get("failed") is True)


def _text(value: Any) -> str:
    """A text that can be written again: an escape in JSON may be half a character."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else 0


def _dollars(value: Any) -> float | None:
    if type(value) not in (int, float) or not 0 <= value <= _MOST_USD or not math.isfinite(value):
        return None
    return float(value)


@dataclass(slots=True)
class LineSplitter:
    """Cuts pieces of bytes into lines, of which each keeps its first `max_length` bytes."""

    max_length: int = 1_000_000
    _kept: bytearray = field(default_factory=bytearray)
    _cut: bool = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that end in this piece, without LF or CRLF."""
        *ended, last = data.split(b"\n")
        for piece in ended:
            self._keep(piece)
            yield self._line()
        self._keep(last)

    def flush(self) -> Iterator[bytes]:
        """The last line, where nothing ended it."""
        if self._kept or self._cut:
            yield self._line()

    def _keep(self, piece: bytes) -> None:
        room = self.max_length - len(self._kept)
        self._cut |= len(piece) > room
        self._kept += piece[:room]

    def _line(self) -> bytes:
        line = bytes(self._kept)
        whole, self._cut = not self._cut, False
        self._kept.clear()
        return line.removesuffix(b"\r") if whole else line
