"""Read cub's event protocol: one JSON object a line, which any agent may print.

    {"type": "text", "text": "I will look first."}       said; a message of its own
    {"type": "tool", "text": "edit shop/price.py"}       done
    {"type": "usage", "input": 1200, "output": 300, "cache_read": 0, "cache_write": 0}
    {"type": "cost", "usd": 0.01}
    {"type": "session", "id": "…"}
    {"type": "denied", "text": "rm -rf build"}           what it was not allowed to do
    {"type": "limit", "text": "resets 3pm (UTC)"}        why it can't go on for now
    {"type": "login", "text": "Invalid API key"}         what a person has to solve
    {"type": "service", "text": "HTTP 503"}              the service or the network failed
    {"type": "model", "text": "gpt-5"}                   the model that answers
    {"type": "result", "text": "Status: done", "failed": false}      the final message

Tokens and dollars are new ones each time. A field whose value is not valid is left out. An object
of another type, or with a key that the protocol does not have, says nothing: several agents print
JSON of their own, with the same types. Every other line is text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import cast

from cub.checks.terminal_text import to_plain_text
from cub.harness.base import REFUSAL_KINDS, AgentEvent, EventKind, LineReader
from cub.json_values import JsonObject, get_count, get_dollars, get_text
from cub.tokens import TokenUsage

_KEYS = {"type", "text", "id", "failed", "usd", *TokenUsage._fields}
_TEXTS = ("text", "tool", "denied", *REFUSAL_KINDS, "model", "result")
_MAX_SINGLE_LINES = 5_000  # an event for each of millions of lines takes minutes
_DECODER = json.JSONDecoder()
_MAX_REPLAYED = 2_000  # characters: to replay a line as a terminal does has quadratic costs


class EventProtocolReader(LineReader):
    """Read events from an agent's stdout as it comes. Never raises.

    A line of plain text is an event; of very many lines, all but the last one of a piece are a
    single event.
    """

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    def _read_lines(self, lines: list[bytes]) -> Iterator[AgentEvent]:
        """Yield events; none for usage or cost without a valid value."""
        plain = list[bytes]()
        for line in lines:
            if (tree := _parse_object(line)) is None:
                plain.append(line)
                continue
            if plain:
                yield from self._read_plain_lines(plain)
                plain = []
            if event := _parse_event(tree):
                yield event
        yield from self._read_plain_lines(plain)

    def _read_plain_lines(self, lines: list[bytes]) -> Iterator[AgentEvent]:
        if self._count > _MAX_SINGLE_LINES and len(lines) > 1:
            yield AgentEvent("text", _decode_lines(lines[:-1]))
            lines = lines[-1:]
        self._count += len(lines)
        for line in lines:
            yield AgentEvent("text", decode_line(line) + "\n")


def decode_line(line: bytes) -> str:
    """Return a line as a terminal shows it."""
    text = line.decode("utf-8", "replace")
    if text.isprintable():
        return text
    return to_plain_text(text[:_MAX_REPLAYED]) + text[_MAX_REPLAYED:]


def _decode_lines(lines: list[bytes]) -> str:
    """Return lines as a terminal shows them, each with its newline."""
    text = b"\n".join([*lines, b""]).decode("utf-8", "replace")
    if "\r" in text or "\b" in text:
        return "".join(f"{decode_line(line)}\n" for line in lines)
    return to_plain_text(text)


def _parse_object(line: bytes) -> JsonObject | None:
    line = line.strip()
    if line[:1] != b"{":
        return None
    try:
        text = line.decode("utf-8", "surrogatepass")
        tree, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):  # a number of thousands of digits is a ValueError too
        return None
    return tree if end == len(text) else None


def _parse_event(tree: JsonObject) -> AgentEvent | None:
    kind = tree.get("type")
    if not tree.keys() <= _KEYS:
        return AgentEvent("other")
    if kind == "usage":
        tokens = TokenUsage(*(get_count(tree, name) for name in TokenUsage._fields))
        return AgentEvent("usage", tokens=tokens) if any(tokens) else None
    if kind == "cost":
        usd = get_dollars(tree, "usd")
        return None if usd is None else AgentEvent("cost", usd=usd)
    if kind == "session":
        return AgentEvent("session", get_text(tree, "id"))
    if kind not in _TEXTS:
        return AgentEvent("other")
    text = get_text(tree, "text")
    if kind == "text" and not text.endswith("\n"):
        text += "\n"
    return AgentEvent(cast("EventKind", kind), text, failed=tree.get("failed") is True)
