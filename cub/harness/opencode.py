"""Drive opencode: `opencode run` with its stream of JSON.

The stream says nothing while opencode tries a request again, which can take hours. Its log on
stderr has each error of the service.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from cub.agent_profiles.opencode import OPENCODE
from cub.harness.base import AgentEvent, LaunchCommand, LaunchRequest
from cub.harness.native_harness import (
    JsonLineReader,
    NativeHarness,
    describe_tool,
    make_message,
    prepend_system_prompt,
)
from cub.harness.reported_refusals import classify_api_error
from cub.json_values import JsonObject, get_count, get_dollars, get_object, get_text
from cub.tokens import TokenUsage

_REFUSED = "ContentFilterError"
_REJECTED = re.compile(r"rejected permission|rule which prevents")
_STREAM_ERROR = re.compile(
    r'.* level=ERROR .*message="stream error".* small=false .*error\.error="?(?:AI_)?(.*?)"?'
)


class OpencodeReader(JsonLineReader):
    """Read opencode's stream, and the errors in its log."""

    def __init__(self) -> None:
        super().__init__()
        self._session = ""
        self._is_refused = self._has_content = False

    def read_object(self, tree: JsonObject) -> Iterator[AgentEvent]:
        """Yield the events of an object."""
        part, session = get_object(tree, "part"), get_text(tree, "sessionID")
        if session != self._session:
            self._session = session
            yield AgentEvent("session", session)
        kind = tree.get("type")
        if kind in ("text", "tool_use"):
            self._has_content = True
        if self._is_refused and (self._has_content or kind == "step_start"):
            self._is_refused = False
            yield AgentEvent("model")  # it answers
        match kind:
            case "step_start":
                self._has_content = False
            case "text":
                yield from make_message(get_text(part, "text"))
            case "tool_use":
                yield from _read_tool(part)
            case "step_finish":
                yield from _read_step(part)
                yield from self._read_step_end(get_text(part, "reason"))
            case "error":
                yield from self._read_error(get_object(tree, "error"))
            case _:
                yield AgentEvent("other")

    def read_error_line(self, line: bytes) -> Iterator[AgentEvent]:
        """Yield the error of a request that opencode tries again, or gives up."""
        if match := _STREAM_ERROR.fullmatch(line.decode("utf-8", "replace")):
            self._is_refused = True
            kind = classify_api_error(match[1]) or "service"
            yield AgentEvent(kind, match[1].removeprefix("APICallError: "))

    def _read_step_end(self, reason: str) -> Iterator[AgentEvent]:
        """Yield a result unless a tool is the reason; opencode repeats a step that has nothing."""
        if reason == "unknown" and not self._has_content:
            yield AgentEvent("service", "the service's reply is empty, or is not a model's")
        elif reason not in ("", "tool-calls"):
            yield AgentEvent("result")

    def _read_error(self, error: JsonObject) -> Iterator[AgentEvent]:
        name, data = get_text(error, "name"), get_object(error, "data")
        message = get_text(data, "message") or name
        yield from make_message(message, failed=True)
        seconds = get_text(data, "responseHeaders", "retry-after")
        text = f"{message} (retry-after: {seconds})" if seconds else message
        if kind := classify_api_error(text, get_count(data, "statusCode") or None):
            yield AgentEvent(kind, text)
        yield AgentEvent("result", message * (name == _REFUSED), failed=True)


def _read_tool(part: JsonObject) -> Iterator[AgentEvent]:
    text = describe_tool(get_text(part, "tool"), get_object(part, "state", "input"))
    yield AgentEvent("tool", text)
    if _REJECTED.search(get_text(part, "state", "error")):
        yield AgentEvent("denied", text)


def _read_step(part: JsonObject) -> Iterator[AgentEvent]:
    """Yield what a step used."""
    yield AgentEvent("usage", tokens=TokenUsage(
        get_count(part, "tokens", "input"),
        get_count(part, "tokens", "output") + get_count(part, "tokens", "reasoning"),
        get_count(part, "tokens", "cache", "read"),
        get_count(part, "tokens", "cache", "write"),
    ))  # fmt: skip
    if usd := get_dollars(part, "cost"):  # 0 for a model whose price opencode doesn't know
        yield AgentEvent("cost", usd=usd)


class OpencodeHarness(NativeHarness):
    """Drive opencode."""

    facts: ClassVar = OPENCODE
    reader: ClassVar = OpencodeReader
    default_environ: ClassVar = {"OPENCODE_DISABLE_AUTOUPDATE": "1"}

    def build_command(self, request: LaunchRequest) -> LaunchCommand:
        """Return the command; the system prompt is at the head of the prompt.

        opencode has one flag for permissions: it accepts what the user's settings don't deny.
        Without it, `run` rejects what they ask about, and ends.
        """
        argv = [self.facts.program, "run", "--format", "json", "--auto"]
        argv += ["--print-logs", "--log-level", "ERROR"]
        return self.make_command(request, argv, prepend_system_prompt(request))
