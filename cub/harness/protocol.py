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
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, cast

from cub.checks.plain import plain
from cub.harness.events import ClientEvent, Kind, Tokens

_TEXTS = ("text", "tool", "denied", "limit", "result")
_MOST_TOKENS = 10**12
_MOST_USD = 10**6
_MOST_REPLAYED = 2_000  # replaying a line as a terminal shows it costs the square of its length


class ProtocolStream:
    """A reader of cub's event protocol."""

    def read(self, line: bytes) -> Iterator[ClientEvent]:
        """The event of a line; none for a usage or a cost that says nothing."""
        tree = _object(line)
        if tree is None:
            yield ClientEvent("text", shown(line) + "\n")
        elif (event := _event(tree)) is not None:
            yield event


def shown(line: bytes) -> str:
    """A line as a terminal shows it."""
    text = line.decode("utf-8", "replace")
    return text if text.isprintable() else plain(text[:_MOST_REPLAYED]) + text[_MOST_REPLAYED:]


def _object(line: bytes) -> dict[str, Any] | None:
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        tree = json.loads(line)
    except (ValueError, RecursionError):  # a number of thousands of digits is a ValueError too
        return None
    return tree if isinstance(tree, dict) else None


def _event(tree: Mapping[str, Any]) -> ClientEvent | None:
    kind = tree.get("type")
    if kind == "usage":
        tokens = Tokens(*(_count(tree.get(name)) for name in Tokens._fields))
        return ClientEvent("usage", tokens=tokens) if any(tokens) else None
    if kind == "cost":
        usd = _dollars(tree.get("usd"))
        return None if usd is None else ClientEvent("cost", usd=usd)
    if kind == "session":
        return ClientEvent("session", _text(tree.get("id")))
    if kind not in _TEXTS:
        return ClientEvent("other")
    text = _text(tree.get("text"))
    if kind == "text" and not text.endswith("\n"):
        text += "\n"
    return ClientEvent(cast("Kind", kind), text, failed=tree.get("failed") is True)


def _text(value: Any) -> str:
    """A text that can be written again: an escape in JSON may be half a character."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else 0


def _dollars(value: Any) -> float | None:
    if type(value) not in (int, float) or not 0 <= value <= _MOST_USD or not math.isfinite(value):
        return None
    return float(value)
