"""Read requests of four APIs for models, and write their replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from cub.json_values import JsonObject, get_object, list_objects
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

# Claude Code asks with all its tools what the user may type next.
_SUGGESTION = "[SUGGESTION MODE"


def parse_messages_request(path: str, body: Mapping[str, Any]) -> RecordedRequest:
    """Return what a request has; one without tools, or for a single token, is a side request."""
    texts = list_message_texts(list_objects(body, "messages"))
    tools = _map_tools(list_objects(body, "tools"), "input_schema")
    is_suggestion = any(text.startswith(_SUGGESTION) for text in texts[-1:])
    is_side_request = not tools or body.get("max_tokens") == 1 or is_suggestion
    texts = (*iterate_texts(body.get("system")), *texts)
    return RecordedRequest(path, body, texts, tools, is_side_request)


def _map_tools(tools: Iterable[JsonObject], *keys: str) -> dict[str, JsonObject]:
    """Return the schemas of tools by their names; each is below the first key that has one."""
    schemas = ((tool, (get_object(tool, key) for key in keys)) for tool in tools)
    return {str(tool.get("name")): next(filter(None, found), {}) for tool, found in schemas}


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


def _build_message_events(turn: ModelTurn) -> Iterator[dict[str, Any]]:
    message = _build_message(turn)
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


# Requests without tools that are not the work itself: opencode's title; aider's commit message and
# summary. aider works without tools.
_SIDE_PROMPTS = ("title generator", "commit message", "*Briefly* summarize")
_CHAT_END = b"data: [DONE]\n\n"
_CHAT_REASONS = {"max_tokens": "length", "refusal": "content_filter"}


def parse_chat_request(path: str, body: Mapping[str, Any]) -> RecordedRequest:
    """Return what a request has; one without tools may be a side request."""
    messages = list(list_objects(body, "messages"))
    functions = (get_object(tool, "function") for tool in list_objects(body, "tools"))
    tools = _map_tools(functions, "parameters")
    system = [one for one in messages if one.get("role") in ("system", "developer")]
    head = "\n".join(iterate_texts(system))[:1000]
    is_side_request = not tools and any(phrase in head for phrase in _SIDE_PROMPTS)
    return RecordedRequest(path, body, list_message_texts(messages), tools, is_side_request)


def _build_completion(turn: ModelTurn) -> dict[str, Any]:
    calls = [_build_call(turn, index, call) for index, call in enumerate(turn.calls)]
    message = {"role": "assistant", "content": turn.text} | ({"tool_calls": calls} if calls else {})
    choice = {"message": message, "finish_reason": _get_chat_reason(turn)}
    return _build_chunk(turn, choice, "chat.completion")


def _build_chunks(turn: ModelTurn) -> Iterator[dict[str, Any]]:
    for delta in _build_deltas(turn):
        yield _build_chunk(turn, {"delta": delta, "finish_reason": None})
    yield _build_chunk(turn, {"delta": {}, "finish_reason": _get_chat_reason(turn)})


def _get_chat_reason(turn: ModelTurn) -> str:
    return _CHAT_REASONS.get(turn.reply.stop_reason) or ("tool_calls" if turn.calls else "stop")


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


_GEMINI_REASONS = {"max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}


def parse_gemini_request(path: str, body: Mapping[str, Any]) -> RecordedRequest:
    """Return what a request has; one without tools is a side request."""
    contents = list_message_texts(list_objects(body, "contents"))
    texts = (*iterate_texts(body.get("systemInstruction")), *contents)
    groups = (list_objects(group, "functionDeclarations") for group in list_objects(body, "tools"))
    tools = _map_tools(chain.from_iterable(groups), "parametersJsonSchema", "parameters")
    model, _, method = path.rpartition("/")[2].partition(":")
    full = {**body, "model": model, "stream": method == "streamGenerateContent"}
    return RecordedRequest(path, full, texts, tools, is_side_request=not tools)


def _build_gemini_reply(turn: ModelTurn) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    reason = _GEMINI_REASONS.get(turn.reply.stop_reason, "STOP")
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


def parse_responses_request(path: str, body: Mapping[str, Any]) -> RecordedRequest:
    """Return what a request has; one without tools is a side request."""
    prompt = {"role": "user", "content": body.get("input")}
    items = list_message_texts([*list_objects(body, "input")] or [prompt])
    texts = (*iterate_texts(body.get("instructions")), *items)
    tools = _map_tools(list_objects(body, "tools"), "parameters")
    return RecordedRequest(path, body, texts, tools, is_side_request=not tools)


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


def _build_response_events(turn: ModelTurn) -> Iterator[dict[str, Any]]:
    response = _build_response(turn)
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


class ModelApi(NamedTuple):
    """Hold an API: the pattern of paths that ask for a reply, and how to read and write messages.

    A reply is one object, or the events that build it, with `end` after the last one.
    """

    path: str
    parse: Callable[[str, Mapping[str, Any]], RecordedRequest]
    build_reply: Callable[[ModelTurn], dict[str, Any]]
    build_events: Callable[[ModelTurn], Iterable[dict[str, Any]]]
    end: bytes = b""

    def render_turn(self, turn: ModelTurn, is_streamed: bool) -> list[bytes]:
        """Return a reply as JSON, or as server-sent events."""
        if not is_streamed:
            return [json.dumps(self.build_reply(turn)).encode()]
        return [*render_stream(self.build_events(turn)), *filter(None, [self.end])]


APIS = (
    ModelApi(r".*/messages", parse_messages_request, _build_message, _build_message_events),
    ModelApi(
        r".*/models/[^/]+:(streamGenerateContent|generateContent)",
        parse_gemini_request,
        _build_gemini_reply,
        lambda turn: [_build_gemini_reply(turn)],
    ),
    ModelApi(r".*/responses", parse_responses_request, _build_response, _build_response_events),
    ModelApi(
        r".*/chat/completions", parse_chat_request, _build_completion, _build_chunks, _CHAT_END
    ),
)
