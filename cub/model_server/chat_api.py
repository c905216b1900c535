"""Read requests of OpenAI's Chat Completions API, and write its replies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from cub.json_values import get_object, list_objects
from cub.model_server.exchange import (
    ModelTurn,
    RecordedRequest,
    list_message_texts,
    render_stream,
)

# Requests without tools that are not the work itself: opencode's title; aider's commit message and
# summary. aider works without tools.
_SIDE_PROMPTS = ("title generator", "commit message", "*Briefly* summarize")
_END = b"data: [DONE]\n\n"


def parse_chat_request(path: str, body: Mapping[str, Any]) -> RecordedRequest:
    """Return what a request has; one without tools may be a side request."""
    system, texts = list_message_texts(list_objects(body, "messages"))
    functions = [get_object(tool, "function") for tool in list_objects(body, "tools")]
    head = "\n".join(system)[:1000]
    return RecordedRequest(
        api="chat",
        path=path,
        model=str(body.get("model", "")),
        system="\n\n".join(system),
        texts=texts,
        tools={str(f.get("name")): get_object(f, "parameters") for f in functions},
        is_side_request=not functions and any(phrase in head for phrase in _SIDE_PROMPTS),
        is_streamed=body.get("stream") is True,
        body=body,
        headers={},
    )


def render_chat_turn(turn: ModelTurn, is_streamed: bool) -> bytes:
    """Return a completion as JSON, or as its chunks."""
    if is_streamed:
        return render_stream(_build_chunks(turn), named=False) + _END
    choice = {"index": 0, "message": _build_message(turn), "finish_reason": _get_reason(turn)}
    return json.dumps(_build_chunk(turn, [choice], "chat.completion")).encode()


def _build_message(turn: ModelTurn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    if turn.tool:
        function = {"name": turn.tool, "arguments": json.dumps(turn.arguments)}
        call = {"index": 0, "id": f"call_{turn.number}", "type": "function", "function": function}
        message["tool_calls"] = [call]
    return message


def _get_reason(turn: ModelTurn) -> str:
    return "tool_calls" if turn.tool else "stop"


def _build_chunks(turn: ModelTurn) -> Iterator[dict[str, Any]]:
    choice = {"index": 0, "delta": _build_message(turn), "finish_reason": None}
    yield _build_chunk(turn, [choice])
    yield _build_chunk(turn, [{"index": 0, "delta": {}, "finish_reason": _get_reason(turn)}])


def _build_chunk(
    turn: ModelTurn, choices: list[Any], kind: str = "chat.completion.chunk"
) -> dict[str, Any]:
    """Return a chunk; all of them have the usage: agents read the last one."""
    return {
        "id": f"chatcmpl-{turn.number}",
        "object": kind,
        "created": 0,
        "model": turn.model,
        "choices": choices,
        "usage": {
            "prompt_tokens": turn.input_tokens,
            "completion_tokens": turn.output_tokens,
            "total_tokens": turn.input_tokens + turn.output_tokens,
            "prompt_tokens_details": {"cached_tokens": turn.cached_tokens},
        },
    }
