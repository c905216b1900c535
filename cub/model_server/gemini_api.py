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

_STATUS_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}
_REASONS = {"max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}


def parse_gemini_request(path: str, body: Mapping[str, Any]) -> RecordedRequest:
    """Return what a request has; one without tools is a side request."""
    system = tuple(iterate_texts(body.get("systemInstruction")))
    _, texts = list_message_texts(list_objects(body, "contents"))
    tools = {
        str(tool.get("name")): get_object(tool, "parametersJsonSchema")
        or get_object(tool, "parameters")
        for group in list_objects(body, "tools")
        for tool in list_objects(group, "functionDeclarations")
    }
    model, _, method = path.rpartition("/")[2].partition(":")
    return RecordedRequest(
        api="gemini",
        path=path,
        model=model,
        system="\n\n".join(system),
        texts=system + texts,
        tools=tools,
        is_side_request=not tools,
        is_streamed=method == "streamGenerateContent",
        body=body,
        headers={},
    )


def render_gemini_turn(turn: ModelTurn, is_streamed: bool) -> list[bytes]:
    """Return a reply as JSON, or as one event."""
    reply = _build_reply(turn)
    return render_stream([reply], named=False) if is_streamed else [json.dumps(reply).encode()]


def render_gemini_error(status: int, message: str) -> bytes:
    """Return an error."""
    name = _STATUS_NAMES.get(status, "UNKNOWN")
    return json.dumps({"error": {"code": status, "message": message, "status": name}}).encode()


def count_tokens_as_gemini(tokens: int) -> bytes:
    """Return the answer to a request to count tokens."""
    return json.dumps({"totalTokens": tokens}).encode()


def _build_reply(turn: ModelTurn) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    reason = _REASONS.get(turn.stop_reason, "STOP")
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
            "promptTokenCount": turn.input_tokens,
            "candidatesTokenCount": turn.output_tokens,
            "cachedContentTokenCount": turn.cached_tokens,
            "totalTokenCount": turn.input_tokens + turn.output_tokens,
        },
    }
