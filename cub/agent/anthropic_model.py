"""Ask a model through the Anthropic Messages API."""

from __future__ import annotations

import json
import re
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
from cub.agent.model import (
    ModelRequest,
    ReplyEnd,
    ReplyEvent,
    StopReason,
    TextDelta,
)
from cub.agent.service_stream import ServiceModel, make_tool_call, mark_cut_call
from cub.json_values import JsonObject, get_count, get_object, get_text
from cub.tokens import TokenUsage

_CACHED = {"cache_control": {"type": "ephemeral"}}
_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")  # as other models have them: functions.Read:0
_THINKING = ("thinking", "redacted_thinking")
_CLAUDE = re.compile(r"claude-[a-z]+-(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?")
_STOP_REASONS: Mapping[str, StopReason] = {
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}


class AnthropicModel(ServiceModel):
    """Answer through the Messages API; the service is asked to cache what a request repeats."""

    vendor_url = "https://api.anthropic.com"
    path = "/v1/messages"
    key_variable = "ANTHROPIC_API_KEY"

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the version of the API, and the key; many gateways want it as a bearer token."""
        headers = {"anthropic-version": "2023-06-01"}
        if self.endpoint.key:
            headers["x-api-key"] = self.endpoint.key
            if not self.is_vendor:
                headers["Authorization"] = f"Bearer {self.endpoint.key}"
        return headers

    def build_body(self, request: ModelRequest) -> JsonObject:
        """Return a request as the API takes it."""
        body: dict[str, Any] = {
            "model": self.name,
            "max_tokens": request.max_tokens,
            "messages": _convert_messages(request.messages, request.cache_ends),
            "stream": True,
            **_choose_thinking(self.name, self.endpoint.effort),
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
        block: dict[str, Any] = {}
        pieces: dict[str, list[str]] = {}
        held: list[ToolCall] = []  # a call, until it shows whether it was cut
        stop_reason, has_calls = "", False
        for event in events:
            kind = get_text(event, "type")
            if kind == "content_block_start":
                yield from held
                block, pieces, held = dict(get_object(event, "content_block")), {}, []
                yield from _add_delta(pieces, block)  # some gateways send it whole
            elif kind == "content_block_delta":
                yield from _add_delta(pieces, get_object(event, "delta"))
            elif kind == "content_block_stop":
                block |= {key: "".join(texts) for key, texts in pieces.items()}
                if block.get("type") == "tool_use":
                    text = get_text(block, "partial_json") or json.dumps(block.get("input") or {})
                    call = make_tool_call(get_text(block, "id"), get_text(block, "name"), text)
                    has_calls, held = True, [call]
                elif block.get("type") in _THINKING:
                    yield ReasoningBlock(self.name, get_text(block, "thinking"), block)
            elif kind == "message_start":
                usage |= get_object(event, "message", "usage")
            elif kind == "message_delta":
                stop_reason = get_text(event, "delta", "stop_reason")
                usage |= get_object(event, "usage")  # the sum of the whole reply
        end: StopReason = _STOP_REASONS.get(stop_reason, "end_turn")
        yield from map(mark_cut_call, held) if end == "max_tokens" else held
        if has_calls and end == "end_turn":  # some servers say so after calls as well
            end = "tool_use"
        yield ReplyEnd(end, _read_usage(usage))

    def is_last(self, event: JsonObject) -> bool:
        """Return whether an event says why the message has ended: only its mark follows."""
        return bool(get_text(event, "delta", "stop_reason")) or event.get("type") == "message_stop"


def _choose_thinking(name: str, effort: str) -> JsonObject:
    """Return the fields for how much a model thinks, and for that its thoughts can be shown.

    From version 5 on, Claude thinks unless told otherwise, and what it says between calls is a
    thought; before 4.6 it knows neither field. Other models of this API only know the effort.
    """
    fields: dict[str, Any] = {"output_config": {"effort": effort}} if effort else {}
    if found := _CLAUDE.search(name):
        version = int(found[1]), int(found[2] or 0)
        if version >= (5, 0) or (effort and version >= (4, 6)):
            fields["thinking"] = {"type": "adaptive"}
        if version >= (5, 0) or (effort and version >= (4, 7)):
            fields["thinking"]["display"] = "summarized"
    return fields


def _add_delta(pieces: dict[str, list[str]], delta: JsonObject) -> Iterator[TextDelta]:
    """Add to the pieces of a block's fields; yield its text."""
    for key in ("partial_json", "thinking", "signature"):
        if piece := get_text(delta, key):
            pieces.setdefault(key, []).append(piece)
    if text := get_text(delta, "text"):
        yield TextDelta(text)


def _read_usage(usage: JsonObject) -> TokenUsage:
    return TokenUsage(
        get_count(usage, "input_tokens"),
        get_count(usage, "output_tokens"),
        get_count(usage, "cache_read_input_tokens"),
        get_count(usage, "cache_creation_input_tokens"),
    )


def _convert_messages(
    messages: Sequence[Message], cache_ends: Sequence[int]
) -> Sequence[JsonObject]:
    """Return messages as the API takes them; up to those of `cache_ends` and the last, it caches.

    What is cached is found within 20 blocks before an end. Thoughts can't be one.
    """
    contents = [_convert_blocks(message.blocks) for message in messages]
    for number in {*cache_ends, len(contents) - 1}:
        if contents[number] and contents[number][-1]["type"] not in _THINKING:
            contents[number][-1].update(_CACHED)
    return [
        {"role": message.role, "content": content}
        for message, content in zip(messages, contents, strict=True)
        if content
    ]


def _convert_blocks(blocks: Sequence[Block]) -> list[dict[str, Any]]:
    """Return blocks with the results first; the API refuses texts that are blank."""
    ordered = sorted(blocks, key=lambda block: not isinstance(block, ToolResult))
    return [_convert_block(block) for block in ordered if _is_taken(block)]


def _is_taken(block: Block) -> bool:
    if isinstance(block, ReasoningBlock):
        return block.data.get("type") in _THINKING
    return not isinstance(block, TextBlock) or bool(block.text.strip())


def _convert_block(block: Block) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, ImageBlock):
        source = {"type": "base64", "media_type": block.media_type, "data": block.data}
        return {"type": "image", "source": source}
    if isinstance(block, ReasoningBlock):
        return dict(block.data)
    if isinstance(block, ToolCall):
        call_id = _NOT_IN_IDS.sub("_", block.id)
        return {"type": "tool_use", "id": call_id, "name": block.name, "input": block.arguments}
    return {
        "type": "tool_result",
        "tool_use_id": _NOT_IN_IDS.sub("_", block.call_id),
        "content": _convert_blocks(block.content),
        "is_error": block.is_error,
    }
