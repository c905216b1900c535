"""Ask a model through the Anthropic Messages API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cub.agent.conversation import (
    Block,
    ImageBlock,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    ToolResult,
)
from cub.agent.model import ModelRequest, ReplyEvent, StopReason, TextDelta
from cub.agent.service_stream import ServiceModel, make_reply_end, make_tool_call
from cub.json_values import JsonObject, get_count, get_object, get_text
from cub.tokens import TokenUsage

_CACHED = {"cache_control": {"type": "ephemeral"}}
_STOP_REASONS: Mapping[str, StopReason] = {
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}


class AnthropicModel(ServiceModel):
    """Answer through the Messages API; the service is asked to cache what a request repeats."""

    package = "anthropic"
    vendor = "Anthropic"
    vendor_host = "api.anthropic.com"
    vendor_url = "https://api.anthropic.com"
    path = "/v1/messages"
    key_variable = "ANTHROPIC_API_KEY"

    def build_body(self, request: ModelRequest) -> JsonObject:
        """Return a request as the API takes it."""
        body: dict[str, Any] = {
            "model": self.name,
            "max_tokens": request.max_tokens,
            "messages": _convert_messages(request.messages),
            "stream": True,
        }
        if request.system:
            body["system"] = [{"type": "text", "text": request.system, **_CACHED}]
        if request.tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
                for tool in request.tools
            ]
        return body

    def read_reply(self, events: Iterator[JsonObject]) -> Iterator[ReplyEvent]:
        """Yield what the events of a reply say; blocks and events of other types are left out."""
        usage: dict[str, Any] = {}
        block: JsonObject = {}
        pieces: list[str] = []
        stop_reason, has_calls = "", False
        for event in events:
            kind = get_text(event, "type")
            if kind == "content_block_start":
                block, pieces = get_object(event, "content_block"), []
            elif kind == "content_block_delta":
                if text := get_text(event, "delta", "text"):
                    yield TextDelta(text)
                pieces.append(get_text(event, "delta", "partial_json"))
            elif kind == "content_block_stop" and get_text(block, "type") == "tool_use":
                has_calls = True
                yield make_tool_call(
                    get_text(block, "id"), get_text(block, "name"), "".join(pieces)
                )
            elif kind == "message_start":
                usage |= get_object(event, "message", "usage")
            elif kind == "message_delta":
                stop_reason = get_text(event, "delta", "stop_reason")
                usage |= get_object(event, "usage")  # the sum of the whole reply
        end: StopReason = _STOP_REASONS.get(stop_reason, "end_turn")
        yield make_reply_end(end, _read_usage(usage), has_calls=has_calls)

    def is_last(self, event: JsonObject) -> bool:
        """Return whether an event ends the message."""
        return event.get("type") == "message_stop"


def _read_usage(usage: JsonObject) -> TokenUsage:
    return TokenUsage(
        get_count(usage, "input_tokens"),
        get_count(usage, "output_tokens"),
        get_count(usage, "cache_read_input_tokens"),
        get_count(usage, "cache_creation_input_tokens"),
    )


def _convert_messages(messages: Sequence[Message]) -> Sequence[JsonObject]:
    """Return messages as the API takes them.

    The last two messages of the user end what is cached: the older one is where the request before
    this one has ended, so its cache is found however many blocks were added.
    """
    converted: list[dict[str, Any]] = [
        {"role": message.role, "content": content}
        for message in messages
        if (content := _convert_blocks(message.blocks))
    ]
    for message in [message for message in converted if message["role"] == "user"][-2:]:
        message["content"][-1].update(_CACHED)
    return converted


def _convert_blocks(blocks: Sequence[Block]) -> list[dict[str, Any]]:
    """Return blocks with the results first; the API refuses texts that are blank."""
    ordered = sorted(blocks, key=lambda block: not isinstance(block, ToolResult))
    return [
        _convert_block(block)
        for block in ordered
        if not (isinstance(block, TextBlock) and not block.text.strip())
    ]


def _convert_block(block: Block) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, ImageBlock):
        source = {"type": "base64", "media_type": block.media_type, "data": block.data}
        return {"type": "image", "source": source}
    if isinstance(block, ReasoningBlock):
        return dict(block.data)
    if isinstance(block, ToolCall):
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.arguments}
    return {
        "type": "tool_result",
        "tool_use_id": block.call_id,
        "content": _convert_blocks(block.content),
        "is_error": block.is_error,
    }
