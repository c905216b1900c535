"""Turn the updates of a session into events of cub's event protocol."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cub.harness.acp.tool_calls import ReportedCall, find_denial
from cub.harness.acp.turn_failure import TurnFailure, read_retry
from cub.json_values import (
    JsonObject,
    get_count,
    get_dollars,
    get_object,
    get_text,
    list_objects,
)

_MAX_MESSAGE = 65_536  # characters of one event, and of the final message
_MAX_TOOL_CALLS = 1_000  # the oldest one is forgotten
_NOTICE = "Warning: "  # how a notice of Codex itself begins, which errors may follow
_SIGNS_OF_LIFE = (
    "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan",
)  # fmt: skip
EventSink = Callable[[Mapping[str, Any]], None]


class TurnReader:
    """Read the updates of one turn.

    `sign_time` is when the model or a tool was last heard of, in monotonic seconds. `has_worked`:
    there was a tool. `retry` is what the agent said last of a request that failed; `is_retrying`:
    it tries again; `is_broken`: it has given up.
    """

    def __init__(self, emit: EventSink, root: Path) -> None:
        self.emit, self.root = emit, root
        self.sign_time = time.monotonic()
        self.has_worked = self.is_broken = self.is_retrying = False
        self.retry: TurnFailure | None = None
        self._said: list[str] = []
        self._message: list[str] = []
        self._message_id: object = None
        self._tools: dict[str, ReportedCall] = {}
        self._has_usage = False
        self._usd = 0.0
        self._plan = ""

    @property
    def is_waiting(self) -> bool:
        """Return whether only the model can go on: no tool is at work."""
        return not any(tool.is_open for tool in self._tools.values())

    @property
    def last_words(self) -> str:
        """Return what the agent has said since its last tool."""
        return "\n\n".join(self._said)[-_MAX_MESSAGE:].strip()

    def read_update(self, update: JsonObject) -> None:
        """Report what an update says."""
        kind = update.get("sessionUpdate")
        if kind == "session_info_update":
            self._read_codex_status(get_object(update, "_meta", "codex"))
        elif kind == "usage_update":
            self._read_cost(update)
        elif kind in _SIGNS_OF_LIFE:
            self.sign_time = time.monotonic()
            if self.is_retrying:
                self.is_retrying = False
                self.emit({"type": "model", "text": ""})  # it answers again
            if kind == "agent_message_chunk":
                self._read_chunk(update)
            elif kind == "plan":
                self._read_plan(update)
            elif kind != "agent_thought_chunk":
                self.read_tool(update)

    def read_tool(self, tree: JsonObject, *, is_asked: bool = False) -> ReportedCall:
        """Take a piece of a tool call into account; tell of each tool call once."""
        self.end_message()
        name = get_text(tree, "toolCallId")
        tool = self._tools.setdefault(name, ReportedCall())
        if len(self._tools) > _MAX_TOOL_CALLS:
            del self._tools[next(iter(self._tools))]
        if (tool.update(tree) or is_asked) and not tool.is_reported:
            self._report_tool(tool)
        if denial := find_denial(tree):
            text = tool.describe(self.root) if tool.title else denial
            self.emit({"type": "denied", "text": text})
        return tool

    def read_response(self, result: JsonObject) -> bool:
        """Report the tokens of the turn; return whether it says that no model was used."""
        self.end_turn()
        quota = get_object(result, "_meta", "quota")
        usage, count = result.get("usage"), get_object(quota, "token_count")
        if isinstance(usage, dict):
            self._report_usage(usage, has_cached_input=False)
        elif count:  # Gemini's
            names = {"inputTokens": "input_tokens", "outputTokens": "output_tokens"}
            usage = {name: count.get(other) for name, other in names.items()}
            self._report_usage(usage, has_cached_input=False)
        says_nothing = ("usage" in result or "token_count" in quota) and not (usage or count)
        return says_nothing and not self._has_usage

    def end_turn(self) -> None:
        """Report what waits for more."""
        self.end_message()
        for tool in self._tools.values():
            if not tool.is_reported:
                self._report_tool(tool)

    def end_message(self) -> None:
        """Report the message so far, if there is one."""
        text = "".join(self._message)
        self._message.clear()
        if text.strip():
            if self._message_id is None and text.startswith(_NOTICE):
                self._said.append(text.partition("\n\n")[2].strip())
            else:
                self._said.append(text.strip())
            del self._said[:-20]
            self.emit({"type": "text", "text": text})

    def _read_chunk(self, update: JsonObject) -> None:
        message_id = update.get("messageId")
        if message_id != self._message_id or sum(map(len, self._message)) > _MAX_MESSAGE:
            self.end_message()
        if self._message_id is None and message_id is not None:
            self._said.clear()  # notices of the agent itself: its model's words have ids
        self._message_id = message_id
        self._message.append(get_text(update, "content", "text"))
        if usage := get_object(update, "_meta", "usage"):  # Qwen's, of each request
            self._report_usage(usage, has_cached_input=True)

    def _read_plan(self, update: JsonObject) -> None:
        """Report which of the plan's steps is at work, when that changes."""
        steps = list(list_objects(update, "entries"))
        at = next((n for n, one in enumerate(steps) if one.get("status") == "in_progress"), None)
        text = "" if at is None else f"plan {at + 1}/{len(steps)}: {get_text(steps[at], 'content')}"
        if text and text != self._plan:
            self._plan = text
            self.end_message()
            self.emit({"type": "tool", "text": " ".join(text.split())})

    def _read_codex_status(self, status: JsonObject) -> None:
        if error := get_object(status, "error"):
            self.retry, self.is_retrying = read_retry(error), error.get("willRetry") is True
            if self.is_retrying:  # cub waits only for some time
                self.emit({"type": self.retry.kind, "text": self.retry.words})
        self.is_broken |= get_text(status, "threadStatus", "type") == "systemError"

    def _read_cost(self, update: JsonObject) -> None:
        """Report the dollars that are new: an agent adds up those of a session."""
        usd = get_dollars(update, "cost", "amount")
        if usd is not None and get_text(update, "cost", "currency") in ("USD", ""):
            self.emit({"type": "cost", "usd": max(0.0, usd - self._usd)})
            self._usd = max(usd, self._usd)

    def _report_tool(self, tool: ReportedCall) -> None:
        tool.is_reported = self.has_worked = True
        self._said.clear()
        self.emit({"type": "tool", "text": tool.describe(self.root)})

    def _report_usage(self, usage: JsonObject, *, has_cached_input: bool) -> None:
        cached = get_count(usage, "cachedReadTokens")
        given = get_count(usage, "inputTokens")
        event = {
            "type": "usage",
            "input": max(0, given - cached) if has_cached_input else given,
            "output": get_count(usage, "outputTokens"),
            "cache_read": cached,
            "cache_write": get_count(usage, "cachedWriteTokens"),
        }
        self._has_usage = True
        self.emit(event)
