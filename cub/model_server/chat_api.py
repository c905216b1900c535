"""Read requests of OpenAI's Chat Completions API, and write its replies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from cub.json_values import get_object, list_objects
from cub.model_server.exchange import (
    ModelTurn,
    RecordedRequest,
    ScriptedCall,
    cut_text,
    iterate_texts,
    list_message_texts,
    render_arguments,
    render_stream,
)

# Requests without tools that are not the work itself: opencode's title; aider's commit message and
# summary. aider works without tools.
_SIDE_PROMPTS = ("title generator", "commit message", "*Briefly* summarize")
_REASONS = {"max_tokens": "length", "refusal": "content_filter"}
_END = b"data: [DONE]\n\n"


def parse_chat_request(path: str, body: Mapping[str, Any]) -> RecordedRequest:
    """Return what a request has; one without tools may be a side request."""
    messages = list(list_objects(body, "messages"))
    functions = [get_object(tool, "function") for tool in list_objects(body, "tools")]
    tools = {str(one.get("name")): get_object(one, "parameters") for one in functions}
    system = [one for one in messages if one.get("role") in ("system", "developer")]
    head = "\n".join(iterate_texts(system))[:1000]
    is_side_request = not tools and any(phrase in head for phrase in _SIDE_PROMPTS)
    return RecordedRequest(path, body, list_message_texts(messages), tools, is_side_request)


def render_chat_turn(turn: ModelTurn, is_streamed: bool) -> list[bytes]:
    """Return a completion as JSON, or as its chunks."""
    reason = _REASONS.get(turn.reply.stop_reason) or ("tool_calls" if turn.calls else "stop")
    if is_streamed:
        ends = [*((delta, None) for delta in _build_deltas(turn)), ({}, reason)]
        chunks = [_build_chunk(turn, {"delta": d, "finish_reason": end}) for d, end in ends]
        return [*render_stream(chunks, named=False), _END]
    calls = [_build_call(turn, index, call) for index, call in enumerate(turn.calls)]
    message = {"role": "assistant", "content": turn.text} | ({"tool_calls": calls} if calls else {})
    choice = {"message": message, "finish_reason": reason}
    return [json.dumps(_build_chunk(turn, choice, "chat.completion")).encode()]


def _build_call(turn: ModelTurn, index: int, call: ScriptedCall) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": render_arguments(call.arguments)}
    call_id = f"call_{turn.number}_{index}"
    return {"index": index, "id": call_id, "type": "function", "function": function}


def _build_deltas(turn: ModelTurn) -> Iterator[dict[str, Any]]:
    """Yield what each chunk adds; the first one of a call has its name and no arguments."""
    yield {"role": "assistant", "content": ""}
    for piece in cut_text(turn.text):
        yield {"content": piece}
    for index, call in enumerate(turn.calls):
        yield {"tool_calls": [_build_call(turn, index, call._replace(arguments=""))]}
        for piece in cut_text(render_arguments(call.arguments)):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _build_chunk(
    turn: ModelTurn, choice: Mapping[str, Any], kind: str = "chat.completion.chunk"
) -> dict[str, Any]:
    """Return a chunk; all of them have the usage: agents read the last one."""
    return {
        "id": f"chatcmpl-{turn.number}",
        "object": kind,
        "created": 0,
        "model": turn.model,
        "choices": [{"index": 0, **choice}],
        "usage": {
            "prompt_tokens": turn.reply.input_tokens,
            "completion_tokens": turn.reply.output_tokens,
            "total_tokens": turn.reply.input_tokens + turn.reply.output_tokens,
            "prompt_tokens_details": {"cached_tokens": turn.reply.cached_tokens},
        },
    }
