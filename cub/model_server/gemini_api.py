"""Read requests of the Gemini API, and write its replies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cub.json_values import get_object, list_objects
from cub.model_server.exchange import (
    ModelTurn,
    RecordedRequest,
    iterate_texts,
    list_message_texts,
    render_stream,
)

_REASONS = {"max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}


def parse_gemini_request(path: str, body: Mapping[str, Any]) -> RecordedRequest:
    """Return what a request has; one without tools is a side request."""
    contents = list_message_texts(list_objects(body, "contents"))
    texts = (*iterate_texts(body.get("systemInstruction")), *contents)
    tools = {
        str(tool.get("name")): get_object(tool, "parametersJsonSchema")
        or get_object(tool, "parameters")
        for group in list_objects(body, "tools")
        for tool in list_objects(group, "functionDeclarations")
    }
    model, _, method = path.rpartition("/")[2].partition(":")
    full = {**body, "model": model, "stream": method == "streamGenerateContent"}
    return RecordedRequest(path, full, texts, tools, is_side_request=not tools)


def render_gemini_turn(turn: ModelTurn, is_streamed: bool) -> list[bytes]:
    """Return a reply as JSON, or as one event."""
    reply = _build_reply(turn)
    return render_stream([reply], named=False) if is_streamed else [json.dumps(reply).encode()]


def _build_reply(turn: ModelTurn) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    reason = _REASONS.get(turn.reply.stop_reason, "STOP")
    if turn.text or not turn.calls:
        parts.append({"text": turn.text})
    for tool, arguments in turn.calls:
        parts.append({"functionCall": {"name": tool, "args": arguments}})
    return {
        "responseId": f"reply-{turn.number}",
        "modelVersion": turn.model,
        "candidates": [
            {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": reason}
        ],
        "usageMetadata": {
            "promptTokenCount": turn.reply.input_tokens,
            "candidatesTokenCount": turn.reply.output_tokens,
            "cachedContentTokenCount": turn.reply.cached_tokens,
            "totalTokenCount": turn.reply.input_tokens + turn.reply.output_tokens,
        },
    }
