"""Ask a model through OpenAI's Chat Completions API, which local model servers have as well."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cub.agent.conversation import (
    Block,
    ImageBlock,
    Message,
    ReasoningBlock,
    ToolCall,
    ToolResult,
)
from cub.agent.model import (
    ModelRequest,
    ReplyEnd,
    ReplyEvent,
    StopReason,
    TextDelta,
    ToolDefinition,
)
from cub.agent.model_failures import make_failure
from cub.agent.service_stream import ServiceModel, make_tool_call, mark_cut_call
from cub.json_values import (
    JsonObject,
    get_count,
    get_object,
    get_text,
    list_objects,
    parse_object,
)
from cub.tokens import TokenUsage

# Of OpenAI's models, these take tools through this API only without reasoning.
_NO_REASONING_WITH_TOOLS = re.compile(r"gpt-(?:5\.[4-6]|6-(?:sol|luna))(?!.*(?:pro|codex))")
_REASONING_TEXTS = ("reasoning_content", "reasoning")
_REASONING_FIELDS = (*_REASONING_TEXTS, "reasoning_details", "extra_content")
# Gemini refuses a reply whose first call is not signed; its documentation names this for replies
# of other models.
_WANTS_SIGNATURE = re.compile(r"gemini-(?:[3-9]|\d\d)(?!\d)")
_NO_SIGNATURE = {"google": {"thought_signature": "skip_thought_signature_validator"}}
# Mistral's models refuse ids of other models; Kimi's know only their own.
_WANTS_SHORT_IDS, _SHORT_ID = re.compile(r"[sx]tral"), re.compile(r"[a-zA-Z0-9]{9}")
_STOP_REASONS: Mapping[str, StopReason] = {"length": "max_tokens", "content_filter": "refusal"}


class OpenAIModel(ServiceModel):
    """Answer through the Chat Completions API."""

    vendor_url = "https://api.openai.com/v1"
    path = "/chat/completions"
    key_variable = "OPENAI_API_KEY"

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the key as a bearer token."""
        return {"Authorization": f"Bearer {self.endpoint.key}"} if self.endpoint.key else {}

    def build_body(self, request: ModelRequest) -> JsonObject:
        """Return a request as the API takes it."""
        # OpenAI's reasoning models refuse the old name; not all local servers know the new one.
        limit = "max_completion_tokens" if self.is_vendor else "max_tokens"
        system = [{"role": "system", "content": request.system}] if request.system else []
        messages = [
            part for message in request.messages for part in _convert_message(message, self.name)
        ]
        body: dict[str, Any] = {
            "model": self.name,
            limit: request.max_tokens,
            "messages": [*system, *messages],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            body["tools"] = [_convert_tool(tool) for tool in request.tools]
        effort = self.endpoint.effort
        if self.is_vendor and request.tools and _NO_REASONING_WITH_TOOLS.match(self.name):
            effort = effort or "none"
        return {**body, "reasoning_effort": effort} if effort else body

    def read_reply(self, events: Iterator[JsonObject]) -> Iterator[ReplyEvent]:
        """Yield what the chunks of a reply say; the usage comes after the finish reason."""
        usage: JsonObject = {}
        reasoning, calls = _ReasoningFields(self.name), _CallFragments(self.name)
        stop_reason: StopReason = "end_turn"
        for event in events:
            usage = get_object(event, "usage") or usage
            for choice in list_objects(event, "choices"):
                delta = get_object(choice, "delta") or get_object(choice, "message")
                reasoning.add_delta(delta)
                if text := _get_content(delta) or get_text(delta, "refusal"):
                    yield from reasoning.finish()
                    yield TextDelta(text)
                if get_text(delta, "refusal"):
                    stop_reason = "refusal"
                for fragment in list_objects(delta, "tool_calls"):
                    yield from reasoning.finish()
                    yield from calls.add_fragment(fragment)
                if reason := get_text(choice, "finish_reason"):
                    if reason == "error":  # of the service behind OpenRouter
                        raise make_failure(self.endpoint, "broke off its reply")
                    stop_reason = _STOP_REASONS.get(reason, stop_reason)
        yield from calls.finish_calls(is_cut=stop_reason == "max_tokens")
        yield from reasoning.finish()
        if calls.count and stop_reason == "end_turn":  # some servers say so after calls as well
            stop_reason = "tool_use"
        yield ReplyEnd(stop_reason, _read_usage(usage))

    def is_last(self, event: JsonObject) -> bool:
        """Return whether a chunk has the reason for which the reply has ended."""
        return any(get_text(choice, "finish_reason") for choice in list_objects(event, "choices"))


class _ReasoningFields:
    """Collect the fields in which servers send reasoning, and want it back."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._fields: dict[str, Any] = {}
        self._is_first = True

    def add_delta(self, delta: JsonObject) -> None:
        """Add the fields of a chunk.

        Empty text counts once, in front: DeepSeek refuses a call without the field.
        """
        fields = {key: delta[key] for key in _REASONING_FIELDS if delta.get(key)}
        if self._is_first and not self._fields:
            fields |= {key: "" for key in _REASONING_TEXTS if delta.get(key) == ""}
        _add_fields(self._fields, fields)

    def finish(self) -> Iterator[ReasoningBlock]:
        """Yield what has come since the last block; some servers send the text in both fields."""
        if self._fields:
            texts = [get_text(self._fields, key) for key in _REASONING_TEXTS]
            yield ReasoningBlock(self._model, texts[0] or texts[1], self._fields)
        self._fields, self._is_first = {}, False


def _add_fields(fields: dict[str, Any], piece: JsonObject) -> None:
    """Add a piece of a message to its fields."""
    for key in _REASONING_TEXTS:
        if isinstance(piece.get(key), str):
            fields[key] = fields.get(key, "") + piece[key]
    for item in list_objects(piece, "reasoning_details"):
        _add_detail(fields.setdefault("reasoning_details", []), item)
    if "extra_content" in piece:
        fields["extra_content"] = piece["extra_content"]


def _add_detail(details: list[dict[str, Any]], item: JsonObject) -> None:
    """Add an item of OpenRouter's list, or a piece that goes on with the last one."""
    last = details[-1] if details else {}
    if "index" in item and all(last.get(key) == item.get(key) for key in ("type", "index", "id")):
        for key, value in item.items():
            is_text = key in ("text", "summary", "data")
            last[key] = get_text(last, key) + (value or "") if is_text else value or last.get(key)
    else:
        details.append(dict(item))


def _get_content(delta: JsonObject) -> str:
    """Return the text; Mistral's models that think send a list of parts."""
    parts = (get_text(part, "text") for part in list_objects(delta, "content"))
    return get_text(delta, "content") or "".join(parts)


@dataclass(slots=True)
class _OpenCall:
    """Hold what has come of a call; `index` is None if its server has none."""

    index: object
    id: str
    name: str
    arguments: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    def is_continued(self, call_id: str, name: str) -> bool:
        """Return whether a fragment with the same index is of this call: servers repeat both."""
        is_open = self.index is not None and not parse_object(self.arguments)
        return not name or (call_id == self.id if call_id else is_open)


class _CallFragments:
    """Put calls together from their fragments; servers leave out indexes and ids, or repeat them.

    Some mix the fragments of several calls. The id of a call for which none came is "".
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._open: list[_OpenCall] = []
        self.count = 0

    def add_fragment(self, fragment: JsonObject) -> Iterator[ToolCall]:
        """Add a fragment; if it begins a call, yield those before it that are whole."""
        index, call_id = fragment.get("index"), get_text(fragment, "id")
        name = get_text(fragment, "function", "name")
        same = [one for one in self._open if one.index == index] or self._open * (not name)
        if not (same and same[-1].is_continued(call_id, name)):
            while self._open and parse_object(self._open[0].arguments):
                yield self._make_call(self._open.pop(0))
            self.count += 1
            same = [_OpenCall(index, call_id, name)]
            self._open += same
        values = get_object(fragment, "function", "arguments")  # Ollama may send them parsed
        same[-1].arguments += (
            json.dumps(values) if values else get_text(fragment, "function", "arguments")
        )
        if signature := get_object(fragment, "extra_content"):  # Gemini's, for the call
            same[-1].extra = {self._model: {"extra_content": signature}}

    def finish_calls(self, *, is_cut: bool) -> Iterator[ToolCall]:
        """Yield the other calls; the reply may have been cut in the last one."""
        for number, call in enumerate(map(self._make_call, self._open), 1):
            yield mark_cut_call(call) if is_cut and number == len(self._open) else call

    def _make_call(self, call: _OpenCall) -> ToolCall:
        return make_tool_call(call.id, call.name, call.arguments, call.extra)


def _read_usage(usage: JsonObject) -> TokenUsage:
    """Return the tokens; DeepSeek has a name of its own, and OpenRouter also what was written."""
    details = get_object(usage, "prompt_tokens_details")
    cached = get_count(details, "cached_tokens") or get_count(usage, "prompt_cache_hit_tokens")
    written = get_count(details, "cache_write_tokens")
    new = max(0, get_count(usage, "prompt_tokens") - cached - written)
    return TokenUsage(new, get_count(usage, "completion_tokens"), cached, written)


def _convert_tool(tool: ToolDefinition) -> JsonObject:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}


def _convert_message(message: Message, model: str) -> Iterator[JsonObject]:
    """Yield a message as the API takes it: one for each result, and the rest as another one."""
    if message.role == "assistant":
        yield _convert_reply(message, model)
        return
    for result in message.results:
        says_so = not result.is_error or result.text.startswith(("error: ", "not allowed: "))
        mark = "" if says_so else "error: "
        text = result.text or "The result is in the next message."
        call_id = _convert_id(result.call_id, model)
        yield {"role": "tool", "tool_call_id": call_id, "content": mark + text}
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


def _convert_reply(message: Message, model: str) -> JsonObject:
    """Return a reply with what the model attached to it; Gemini also wants it of other models."""
    reply: dict[str, Any] = {"role": "assistant", "content": message.text}
    for block in message.blocks:
        if isinstance(block, ReasoningBlock):
            _add_fields(reply, block.data)
    if message.calls:
        reply["tool_calls"] = [
            {
                "id": _convert_id(call.id, model),
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
                **call.extra.get(model, {}),
            }
            for call in message.calls
        ]
        if _WANTS_SIGNATURE.search(model):
            reply["tool_calls"][0].setdefault("extra_content", _NO_SIGNATURE)
    return reply


def _convert_id(call_id: str, model: str) -> str:
    """Return the id of a call as a model takes it."""
    if _WANTS_SHORT_IDS.search(model) and not _SHORT_ID.fullmatch(call_id):
        return f"{zlib.crc32(call_id.encode('utf-8', 'replace')):09}"[-9:]
    return call_id
