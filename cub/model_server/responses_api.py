"""Read requests of OpenAI's Responses API, and write its replies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from cub.json_values import get_object, list_objects
from cub.model_server.exchange import (
    ModelTurn,
    RecordedRequest,
    iterate_texts,
    list_message_texts,
    render_arguments,
    render_stream,
)


def parse_responses_request(path: str, body: Mapping[str, Any]) -> RecordedRequest:
    """Return what a request has; one without tools is a side request."""
    prompt = {"role": "user", "content": body.get("input")}
    items = list_message_texts([*list_objects(body, "input")] or [prompt])
    texts = (*iterate_texts(body.get("instructions")), *items)
    tools = {
        str(tool.get("name")): get_object(tool, "parameters")
        for tool in list_objects(body, "tools")
    }
    return RecordedRequest(path, body, texts, tools, is_side_request=not tools)


def render_responses_turn(turn: ModelTurn, is_streamed: bool) -> list[bytes]:
    """Return a response as JSON, or as the events that build it."""
    response = _build_response(turn)
    if is_streamed:
        return render_stream(_build_events(response), named=True)
    return [json.dumps(response).encode()]


def _build_response(turn: ModelTurn) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if turn.text or not turn.calls:
        part: dict[str, Any] = {"type": "output_text", "text": turn.text, "annotations": []}
        if turn.reply.stop_reason == "refusal":
            part = {"type": "refusal", "refusal": turn.text}
        message = {"id": f"msg_{turn.number}", "role": "assistant", "status": "completed"}
        output.append({"type": "message", **message, "content": [part]})
    for index, (tool, arguments) in enumerate(turn.calls):
        number = f"{turn.number}_{index}"
        call = {"id": f"fc_{number}", "call_id": f"call_{number}", "name": tool}
        text = render_arguments(arguments)
        output.append({"type": "function_call", **call, "arguments": text, "status": "completed"})
    return {
        "id": f"resp_{turn.number}",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": turn.model,
        "output": output,
        "usage": {
            "input_tokens": turn.reply.input_tokens,
            "input_tokens_details": {"cached_tokens": turn.reply.cached_tokens},
            "output_tokens": turn.reply.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": turn.reply.input_tokens + turn.reply.output_tokens,
        },
    }


def _build_events(response: dict[str, Any]) -> Iterator[dict[str, Any]]:
    start = {**response, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": start}
    for index, item in enumerate(response["output"]):
        place = {"output_index": index}
        where = {**place, "item_id": item["id"]}
        nothing = ("content", []) if item["type"] == "message" else ("arguments", "")
        empty = {**item, "status": "in_progress", nothing[0]: nothing[1]}
        yield {"type": "response.output_item.added", **place, "item": empty}
        if item["type"] == "message":
            part = item["content"][0]
            kind = part["type"]  # output_text or refusal
            delta = {"content_index": 0, "delta": part.get("text") or part.get("refusal", "")}
            yield {"type": f"response.{kind}.delta", **where, **delta}
        else:
            delta = {"delta": item["arguments"]}
            yield {"type": "response.function_call_arguments.delta", **where, **delta}
        yield {"type": "response.output_item.done", **place, "item": item}
    yield {"type": "response.completed", "response": response}
