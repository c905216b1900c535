"""The four APIs, as small clients of them: what they send, and what they read in a reply."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

SCHEMA = {
    "type": "object",
    "properties": {"command": {"type": "string"}},
    "required": ["command"],
}
_OPENER = build_opener(ProxyHandler({}))


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def tree(self) -> Any:
        return json.loads(self.content)

    @property
    def events(self) -> list[Any]:
        """The events of a stream; what is not JSON is left out."""
        lines = self.content.decode().splitlines()
        data = [line.removeprefix("data: ") for line in lines if line.startswith("data: {")]
        return [json.loads(line) for line in data]


class Said(NamedTuple):
    """What a client reads in a reply."""

    text: str
    call: tuple[str, Any] | None
    input_tokens: int
    cached_tokens: int
    output_tokens: int


class Client(NamedTuple):
    """How one API is asked, for a stream, and how its stream is read."""

    path: str
    build: Callable[[str, str, str], dict[str, Any]]
    read: Callable[[list[Any]], Said]

    def ask(
        self, url: str, user: str = "Do it", system: str = "Be brief", tool: str = ""
    ) -> Answer:
        return send(url + self.path, self.build(system, user, tool))


def send(url: str, body: Any, headers: Mapping[str, str] | None = None) -> Answer:
    """POST a body as JSON; a body of bytes as it is; a GET without a body."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = Request(url, data, {"Content-Type": "application/json", **(headers or {})})
    try:
        with _OPENER.open(request, timeout=30) as response:
            return Answer(response.status, dict(response.headers), response.read())
    except HTTPError as error:
        with error:
            return Answer(error.code, dict(error.headers), error.read())


def _build_messages(system: str, user: str, tool: str) -> dict[str, Any]:
    return {
        "model": "m",
        "max_tokens": 100,
        "stream": True,
        "system": [{"type": "text", "text": system}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": user}]}],
        "tools": [{"name": tool, "input_schema": SCHEMA}] if tool else [],
    }


def _read_messages(events: list[Any]) -> Said:
    deltas = [e["delta"] for e in events if e["type"] == "content_block_delta"]
    texts = [delta["text"] for delta in deltas if delta["type"] == "text_delta"]
    inputs = [delta["partial_json"] for delta in deltas if delta["type"] == "input_json_delta"]
    starts = [e["content_block"] for e in events if e["type"] == "content_block_start"]
    names = [block["name"] for block in starts if block["type"] == "tool_use"]
    assert events[0]["type"] == "message_start"
    assert events[-1]["type"] == "message_stop"
    end = events[-2]
    assert end["delta"]["stop_reason"] == ("tool_use" if names else "end_turn")
    call = (names[0], json.loads("".join(inputs))) if names else None
    usage = end["usage"]
    cached = usage["cache_read_input_tokens"]
    return Said("".join(texts), call, usage["input_tokens"], cached, usage["output_tokens"])


def _build_responses(system: str, user: str, tool: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": user}]
    return {
        "model": "m",
        "stream": True,
        "instructions": system,
        "input": [{"type": "message", "role": "user", "content": content}],
        "tools": [{"type": "function", "name": tool, "parameters": SCHEMA}] if tool else [],
    }


def _read_responses(events: list[Any]) -> Said:
    assert events[0]["type"] == "response.created"
    assert events[-1]["type"] == "response.completed"
    items = [e["item"] for e in events if e["type"] == "response.output_item.done"]
    assert events[-1]["response"]["output"] == items
    texts = [e["delta"] for e in events if e["type"] == "response.output_text.delta"]
    calls = [item for item in items if item["type"] == "function_call"]
    call = (calls[0]["name"], json.loads(calls[0]["arguments"])) if calls else None
    usage = events[-1]["response"]["usage"]
    cached = usage["input_tokens_details"]["cached_tokens"]
    new = usage["input_tokens"] - cached
    return Said("".join(texts), call, new, cached, usage["output_tokens"])


def _build_chat(system: str, user: str, tool: str) -> dict[str, Any]:
    function = {"name": tool, "parameters": SCHEMA}
    return {
        "model": "m",
        "stream": True,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
        "tools": [{"type": "function", "function": function}] if tool else [],
    }


def _read_chat(events: list[Any]) -> Said:
    choices = [e["choices"][0] for e in events]
    texts = [choice["delta"].get("content") or "" for choice in choices]
    calls = [c["function"] for choice in choices for c in choice["delta"].get("tool_calls", ())]
    assert choices[-1]["finish_reason"] == ("tool_calls" if calls else "stop")
    arguments = "".join(call["arguments"] for call in calls)
    call = (calls[0]["name"], json.loads(arguments)) if calls else None
    usage = events[-1]["usage"]
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    new = usage["prompt_tokens"] - cached
    return Said("".join(texts), call, new, cached, usage["completion_tokens"])


def _build_gemini(system: str, user: str, tool: str) -> dict[str, Any]:
    functions = [{"name": tool, "parametersJsonSchema": SCHEMA}]
    return {
        "systemInstruction": {"role": "user", "parts": [{"text": system}]},
        "contents": [{"role": "user", "parts": [{"text": user}]}],
        "tools": [{"functionDeclarations": functions}] if tool else [],
    }


def _read_gemini(events: list[Any]) -> Said:
    candidates = [e["candidates"][0] for e in events]
    assert candidates[-1]["finishReason"] == "STOP"
    parts = [part for candidate in candidates for part in candidate["content"]["parts"]]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    call = (calls[0]["name"], calls[0]["args"]) if calls else None
    usage = events[-1]["usageMetadata"]
    cached = usage["cachedContentTokenCount"]
    new = usage["promptTokenCount"] - cached
    text = "".join(part.get("text", "") for part in parts)
    return Said(text, call, new, cached, usage["candidatesTokenCount"])


CLIENTS = {
    "anthropic": Client("/v1/messages?beta=true", _build_messages, _read_messages),
    "responses": Client("/v1/responses", _build_responses, _read_responses),
    "chat": Client("/v1/chat/completions", _build_chat, _read_chat),
    "gemini": Client("/v1beta/models/m:streamGenerateContent?alt=sse", _build_gemini, _read_gemini),
}
