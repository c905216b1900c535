"""Ask a model through OpenAI's Chat Completions API, which local model servers have as well."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cub.agent.conversation import Block, ImageBlock, Message, ToolCall, ToolResult
from cub.agent.model import (
    ModelRequest,
    ReplyEvent,
    StopReason,
    TextDelta,
    ToolDefinition,
)
from cub.agent.service_stream import ServiceModel, make_reply_end, make_tool_call
from cub.json_values import JsonObject, get_count, get_object, get_text, list_objects
from cub.tokens import TokenUsage

# Of OpenAI's models, these take tools through this API only without reasoning.
_NO_REASONING_WITH_TOOLS = re.compile(r"gpt-(?:5\.[4-6]|6-(?:sol|luna))(?!.*(?:pro|codex))")
_STOP_REASONS: Mapping[str, StopReason] = {"length": "max_tokens", "content_filter": "refusal"}


class OpenAIModel(ServiceModel):
    """Answer through the Chat Completions API."""

    package = "openai"
    vendor = "OpenAI"
    vendor_host = "api.openai.com"
    vendor_url = "https://api.openai.com/v1"
    path = "/chat/completions"
    key_variable = "OPENAI_API_KEY"

    def build_body(self, request: ModelRequest) -> JsonObject:
        """Return a request as the API takes it."""
        # OpenAI's reasoning models refuse the old name; not all local servers know the new one.
        limit = "max_completion_tokens" if self.is_vendor else "max_tokens"
        system = [{"role": "system", "content": request.system}] if request.system else []
        messages = [part for message in request.messages for part in _convert_message(message)]
        body: dict[str, Any] = {
            "model": self.name,
            limit: request.max_tokens,
            "messages": [*system, *messages],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            body["tools"] = [_convert_tool(tool) for tool in request.tools]
            if self.is_vendor and _NO_REASONING_WITH_TOOLS.match(self.name):
                body["reasoning_effort"] = "none"
        return body

    def read_reply(self, events: Iterator[JsonObject]) -> Iterator[ReplyEvent]:
        """Yield what the chunks of a reply say; the usage comes after the finish reason."""
        usage: JsonObject = {}
        calls = _CallFragments()
        stop_reason: StopReason = "end_turn"
        for event in events:
            usage = get_object(event, "usage") or usage
            for choice in list_objects(event, "choices"):
                delta = get_object(choice, "delta")
                if text := get_text(delta, "content") or get_text(delta, "refusal"):
                    yield TextDelta(text)
                if get_text(delta, "refusal"):
                    stop_reason = "refusal"
                for fragment in list_objects(delta, "tool_calls"):
                    yield from calls.add_fragment(fragment)
                if reason := get_text(choice, "finish_reason"):
                    yield from calls.finish_call()
                    stop_reason = _STOP_REASONS.get(reason, stop_reason)
        yield make_reply_end(stop_reason, _read_usage(usage), has_calls=calls.count > 0)

    def is_last(self, event: JsonObject) -> bool:
        """Return whether a chunk has the reason for which the reply has ended."""
        return any(get_text(choice, "finish_reason") for choice in list_objects(event, "choices"))


class _CallFragments:
    """Put calls together from their fragments; servers leave out indexes and ids, or repeat them.

    The id of a call for which none came is "".
    """

    def __init__(self) -> None:
        self._index: object = None
        self._id = self._name = self._arguments = ""
        self._is_open = False
        self.count = 0

    def add_fragment(self, fragment: JsonObject) -> Iterator[ToolCall]:
        """Add a fragment; yield the call before it if it begins another one."""
        index, call_id = fragment.get("index"), get_text(fragment, "id")
        name = get_text(fragment, "function", "name")
        has_other_id = call_id not in ("", self._id)
        if index != self._index or has_other_id or (index is None and name) or not self._is_open:
            yield from self.finish_call()
            self._is_open = True
            self.count += 1
            self._index, self._id, self._name, self._arguments = index, call_id, name, ""
        values = get_object(fragment, "function", "arguments")  # Ollama may send them parsed
        self._arguments += (
            json.dumps(values) if values else get_text(fragment, "function", "arguments")
        )

    def finish_call(self) -> Iterator[ToolCall]:
        """Yield the last call unless that was done."""
        if self._is_open:
            self._is_open = False
            yield make_tool_call(self._id, self._name, self._arguments)


def _read_usage(usage: JsonObject) -> TokenUsage:
    cached = get_count(usage, "prompt_tokens_details", "cached_tokens")
    new = max(0, get_count(usage, "prompt_tokens") - cached)
    return TokenUsage(new, get_count(usage, "completion_tokens"), cached)


def _convert_tool(tool: ToolDefinition) -> JsonObject:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}


def _convert_message(message: Message) -> Iterator[JsonObject]:
    """Yield a message as the API takes it: one for each result, and the rest as another one."""
    if message.role == "assistant":
        yield _convert_reply(message)
        return
    for result in message.results:
        mark = "Error: " if result.is_error else ""
        text = result.text or "The result is in the next message."
        yield {"role": "tool", "tool_call_id": result.call_id, "content": mark + text}
    images = [block for block in _list_contents(message) if isinstance(block, ImageBlock)]
    parts: list[JsonObject] = [_convert_image(image) for image in images]
    if message.text:
        parts.append({"type": "text", "text": message.text})
    if images:
        yield {"role": "user", "content": parts}
    elif message.text:
        yield {"role": "user", "content": message.text}


def _list_contents(message: Message) -> Iterator[Block]:
    """Yield the blocks of a message, and those in results: a tool's message takes only text."""
    for block in message.blocks:
        yield from block.content if isinstance(block, ToolResult) else (block,)


def _convert_image(image: ImageBlock) -> JsonObject:
    url = f"data:{image.media_type};base64,{image.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _convert_reply(message: Message) -> JsonObject:
    reply: dict[str, Any] = {"role": "assistant", "content": message.text}
    if message.calls:
        reply["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in message.calls
        ]
    return reply
