"""Read requests of the Anthropic Messages API, and write its replies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from cub.json_values import get_object, list_objects
from cub.model_server.exchange import (
    ModelTurn,
    RecordedRequest,
    cut_text,
    iterate_texts,
    list_message_texts,
    render_arguments,
    render_stream,
)

# Claude Code asks with all its tools what the user may type next.
_SUGGESTION = "[SUGGESTION MODE"


def parse_messages_request(path: str, body: Mapping[str, Any]) -> RecordedRequest:
    """Return what a request has; one without tools, or for a single token, is a side request."""
    texts = list_message_texts(list_objects(body, "messages"))
    tools = {
        str(tool.get("name")): get_object(tool, "input_schema")
        for tool in list_objects(body, "tools")
    }
    is_suggestion = any(text.startswith(_SUGGESTION) for text in texts[-1:])
    is_side_request = not tools or body.get("max_tokens") == 1 or is_suggestion
    texts = (*iterate_texts(body.get("system")), *texts)
    return RecordedRequest(path, body, texts, tools, is_side_request)


def render_messages_turn(turn: ModelTurn, is_streamed: bool) -> list[bytes]:
    """Return a message as JSON, or as the events that build it."""
    message = _build_message(turn)
    if is_streamed:
        return render_stream(_build_events(message), named=True)
    return [json.dumps(message).encode()]


def _build_message(turn: ModelTurn) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if turn.text or not turn.calls:
        content.append({"type": "text", "text": turn.text})
    for index, (tool, arguments) in enumerate(turn.calls):
        call = {"id": f"toolu_{turn.number}_{index}", "name": tool, "input": arguments}
        content.append({"type": "tool_use", **call})
    return {
        "id": f"msg_{turn.number}",
        "type": "message",
        "role": "assistant",
        "model": turn.model,
        "content": content,
        "stop_reason": turn.reply.stop_reason or ("tool_use" if turn.calls else "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": turn.reply.input_tokens - turn.reply.cached_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": turn.reply.cached_tokens,
            "output_tokens": turn.reply.output_tokens,
        },
    }


def _build_events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    start = {**message, "content": [], "stop_reason": None}
    start["usage"] = {**message["usage"], "output_tokens": 1}
    yield {"type": "message_start", "message": start}
    empty: dict[str, Any]
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty = {"text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in cut_text(block["text"])]
        else:
            empty = {"input": {}}
            text = render_arguments(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": p} for p in cut_text(text)]
        yield {"type": "content_block_start", "index": index, "content_block": {**block, **empty}}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": message["usage"]}
    yield {"type": "message_stop"}
