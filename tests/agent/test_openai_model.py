"""What is special in Chat Completions, and what servers make of it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from cub.agent.conversation import (
    ImageBlock,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    ToolResult,
    make_user_message,
)
from cub.agent.model import (
    ModelEndpoint,
    ModelError,
    ModelRequest,
    ReplyEnd,
    ReplyEvent,
    TextDelta,
    ToolDefinition,
)
from cub.agent.openai_model import OpenAIModel
from cub.tokens import TokenUsage
from tests.agent.services import OPEN_MODELS, READ, SERVICES, ask, make_request
from tests.model_server.faults import ModelServer, Reply

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}


def _receive(*chunks: dict[str, Any]) -> list[ReplyEvent]:
    """Return what is read in these chunks."""
    lines = [*map(json.dumps, chunks), "[DONE]"]
    body = "".join(f"data: {line}\n\n" for line in lines)
    with ModelServer([Reply(body=body)]) as server:
        return ask(SERVICES["openai"].connect(server))


def _chunk(reason: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def _fragment(arguments: Any, **fields: Any) -> dict[str, Any]:
    name = fields.pop("name", None)
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return {"function": function, **fields}


def _send(*messages: Message) -> Any:
    with ModelServer() as server:
        list(SERVICES["openai"].connect(server).stream_reply(make_request(*messages)))
        return server.requests[0].body


def test_a_request_asks_for_its_usage() -> None:
    assert _send(make_user_message("Do it.")) == {
        "model": "m",
        "max_tokens": 100,
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Do it."},
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "Read",
                    "description": "Read a file.",
                    "parameters": dict(READ.schema),
                },
            }
        ],
    }


def test_results_are_messages_of_their_own_and_their_images_follow() -> None:
    calls = (ToolCall("1", "Read", {"path": "ü"}), ToolCall("2", "Read", {}))
    results = (
        ToolResult("1", (ImageBlock("image/png", "aGk="),)),
        ToolResult("2", (TextBlock("no file"),), is_error=True),
    )
    body = _send(
        make_user_message("Look."),
        Message("assistant", (TextBlock("I look."), *calls)),
        Message("user", (*results, TextBlock("And?"))),
    )
    reply, first, second, rest = body["messages"][2:]
    assert reply["content"] == "I look."
    assert [call["id"] for call in reply["tool_calls"]] == ["1", "2"]
    assert reply["tool_calls"][1]["function"] == {"name": "Read", "arguments": "{}"}
    assert (first["role"], first["tool_call_id"]) == ("tool", "1")
    assert first["content"]
    assert second == {"role": "tool", "tool_call_id": "2", "content": "error: no file"}
    assert rest == {"role": "user", "content": [PICTURE, {"type": "text", "text": "And?"}]}


def test_an_error_is_marked_once() -> None:
    call = Message("assistant", (ToolCall("1", "Read", {}),))
    error = ToolResult("1", (TextBlock("error: no file"),), is_error=True)
    body = _send(call, Message("user", (error,)))
    assert body["messages"][2]["content"] == "error: no file"


def test_results_alone_need_no_other_message() -> None:
    call = Message("assistant", (ToolCall("1", "Read", {}),))
    body = _send(call, Message("user", (ToolResult("1", (TextBlock("a"),)),)))
    assert [message["role"] for message in body["messages"]] == ["system", "assistant", "tool"]


@pytest.mark.parametrize(
    "fragments",
    [
        # As OpenAI and vLLM: the id once, then by index.
        [[_fragment("", index=0, id="a", name="Read")], [_fragment('{"n"', index=0)],
         [_fragment(": 1}", index=0)], [_fragment("", index=1, id="b", name="Bash")],
         [_fragment("", index=1)]],
        # All calls whole, in one chunk.
        [[_fragment('{"n": 1}', index=0, id="a", name="Read"),
          _fragment("", index=1, id="b", name="Bash")]],
        # The same index for all.
        [[_fragment('{"n": 1}', index=0, id="a", name="Read")],
         [_fragment("{}", index=0, id="b", name="Bash")]],
        # Neither ids nor indexes.
        [[_fragment('{"n": 1}', name="Read"), _fragment("{}", name="Bash")]],
        # The id and the name in each fragment.
        [[_fragment('{"n"', index=0, id="a", name="Read")],
         [_fragment(": 1}", index=0, id="a", name="Read")],
         [_fragment("", index=1, id="b", name="Bash")]],
        # Parsed arguments.
        [[_fragment({"n": 1}, index=0, name="Read"), _fragment({}, index=1, name="Bash")]],
        # The fragments of both calls, mixed.
        [[_fragment("", index=0, id="a", name="Read")],
         [_fragment("", index=1, id="b", name="Bash")],
         [_fragment('{"n"', index=0)], [_fragment("{}", index=1)], [_fragment(": 1}", index=0)]],
        # One index, and no ids.
        [[_fragment('{"n": 1}', index=0, name="Read")], [_fragment("{}", index=0, name="Bash")]],
        # Another id in each fragment.
        [[_fragment('{"n"', index=0, id="a", name="Read")], [_fragment(": 1}", index=0, id="c")],
         [_fragment("{}", index=1, id="b", name="Bash")]],
        # An index in the first fragment only.
        [[_fragment('{"n"', index=0, id="a", name="Read")], [_fragment(": 1}")],
         [_fragment("{}", index=1, id="b", name="Bash")]],
    ],
    ids=["fragments", "whole", "one-index", "no-ids", "repeated", "parsed", "mixed",
         "one-index-no-ids", "other-ids", "first-index"],
)  # fmt: skip
@pytest.mark.parametrize("reason", ["tool_calls", "stop", "function_call"])
def test_calls_of_servers_are_put_together(fragments: list[list[Any]], reason: str) -> None:
    chunks = [_chunk(tool_calls=parts) for parts in fragments]
    first, second, end = _receive(*chunks, _chunk(reason))
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert (first.name, first.arguments, first.fault) == ("Read", {"n": 1}, "")
    assert (second.name, second.arguments, second.fault) == ("Bash", {}, "")
    assert end == ReplyEnd("tool_use")


@pytest.mark.parametrize(
    ("said", "reason"),
    [("stop", "end_turn"), ("length", "max_tokens"), ("content_filter", "refusal"),
     ("something_new", "end_turn")],
)  # fmt: skip
def test_reasons_to_stop(said: str, reason: str) -> None:
    assert _receive(_chunk(content="Hi"), _chunk(said)) == [
        TextDelta("Hi"),
        ReplyEnd(reason),  # type: ignore[arg-type]
    ]


def test_a_reply_may_end_without_a_reason() -> None:
    call = _fragment('{"n": 1}', index=0, id="a", name="Read")
    events = _receive(_chunk(content="Hi"), _chunk(tool_calls=[call]))
    assert events == [TextDelta("Hi"), ToolCall("a", "Read", {"n": 1}), ReplyEnd("tool_use")]


def test_an_error_may_be_a_reason() -> None:
    """As OpenRouter says that the service behind it has failed."""
    with pytest.raises(ModelError, match="broke off its reply") as caught:
        _receive(_chunk(content="Hi"), _chunk("error"))
    assert caught.value.is_retryable


def test_a_text_may_be_a_list_of_parts() -> None:
    """As Mistral's models that think send it."""
    parts: list[Any] = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "Hi"}, 7]
    assert _receive(_chunk(content=parts), _chunk("stop")) == [
        TextDelta("Hi"),
        ReplyEnd("end_turn"),
    ]


def test_a_server_may_answer_without_a_stream() -> None:
    call = {"id": "a", "function": {"name": "Read", "arguments": '{"n": 1}'}}
    message = {"role": "assistant", "content": "Hi", "tool_calls": [call]}
    answer = {
        "choices": [{"message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2},
    }
    reply = Reply(body=json.dumps(answer), headers={"Content-Type": "application/json"})
    with ModelServer([reply]) as server:
        events = ask(SERVICES["openai"].connect(server))
    assert events == [
        TextDelta("Hi"),
        ToolCall("a", "Read", {"n": 1}),
        ReplyEnd("tool_use", TokenUsage(9, 2)),
    ]


def test_a_refusal_is_a_text_with_a_reason() -> None:
    events = _receive(_chunk(refusal="I "), _chunk(refusal="can't."), _chunk("stop"))
    assert events == [TextDelta("I "), TextDelta("can't."), ReplyEnd("refusal")]


def test_odd_chunks_are_left_out() -> None:
    odd: list[Any] = [{}, {"choices": None}, {"choices": [None, {"delta": None}]}, [1], 7, None]
    chunks = [*odd, _chunk(reasoning_content=None, reasoning=[1], content=None)]
    expected = [TextDelta("Hi"), ReplyEnd("end_turn")]
    assert _receive(*chunks, _chunk(content="Hi"), _chunk("stop")) == expected


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_in_the_field_in_which_it_came(field: str) -> None:
    pieces = [_chunk(**{field: text, "content": ""}) for text in ("Hm. ", "Well.")]
    call = [_fragment('{"n": 1}', index=0, id="a", name="Read")]
    assert _receive(*pieces, _chunk(content="Hi"), _chunk("tool_calls", tool_calls=call)) == [
        ReasoningBlock("m", "Hm. Well.", {field: "Hm. Well."}),
        TextDelta("Hi"),
        ToolCall("a", "Read", {"n": 1}),
        ReplyEnd("tool_use"),
    ]


def test_an_empty_field_counts_once() -> None:
    """DeepSeek refuses a call without it; others have it in each chunk."""
    chunks = [_chunk(content=text, reasoning_content="") for text in ("Hi ", "there")]
    assert _receive(*chunks, _chunk("stop")) == [
        ReasoningBlock("m", "", {"reasoning_content": ""}),
        TextDelta("Hi "),
        TextDelta("there"),
        ReplyEnd("end_turn"),
    ]


def test_details_of_openrouter_are_put_together() -> None:
    def make_chunk(text: str, *details: dict[str, Any]) -> dict[str, Any]:
        return _chunk(reasoning=text, reasoning_details=[*details])

    one: dict[str, Any] = {"type": "reasoning.text", "index": 0, "format": "anthropic-claude-v1"}
    locked = {"type": "reasoning.encrypted", "data": "c2VjcmV0", "index": 1}
    block, _, end = _receive(
        make_chunk("", {**one, "text": "Hm. "}, {**one, "text": "Well.", "signature": None}),
        make_chunk("", {**one, "text": None, "signature": "c2ln"}, locked, {"type": "other"}),
        _chunk("stop", content="Hi"),
    )
    assert end == ReplyEnd("end_turn")
    details = [{**one, "text": "Hm. Well.", "signature": "c2ln"}, locked, {"type": "other"}]
    assert isinstance(block, ReasoningBlock)
    assert block.data == {"reasoning": "", "reasoning_details": details}


def test_pieces_of_reasoning_go_back_as_one_message() -> None:
    blocks = (
        ReasoningBlock("m", "a", {"reasoning": "a", "reasoning_details": [{"type": "x"}]}),
        TextBlock("Hi"),
        ReasoningBlock("m", "b", {"reasoning": "b", "reasoning_details": [{"type": "y"}]}),
        ReasoningBlock("m", "", {"type": "thinking", "content": "from another API"}),
        ReasoningBlock("m", "", {"extra_content": {"google": {"thought_signature": "s"}}}),
    )
    body = _send(make_user_message("go"), Message("assistant", blocks), make_user_message("on"))
    assert body["messages"][2] == {
        "role": "assistant",
        "content": "Hi",
        "reasoning": "ab",
        "reasoning_details": [{"type": "x"}, {"type": "y"}],
        "extra_content": {"google": {"thought_signature": "s"}},
    }


def test_the_signature_of_a_call_goes_back_with_it() -> None:
    """As Gemini signs the first of the calls in a reply."""
    signed = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    fragments = [
        _fragment("{}", index=0, id="a", name="Read", **signed),
        _fragment("{}", index=1, id="b", name="Bash"),
    ]
    first, second, _ = _receive(_chunk("tool_calls", tool_calls=fragments))
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert (first.extra, second.extra) == ({"m": signed}, {})
    sent = _send(make_user_message("go"), Message("assistant", (first, second)))["messages"][2]
    assert [call.get("extra_content") for call in sent["tool_calls"]] == [
        signed["extra_content"],
        None,
    ]


@pytest.mark.parametrize("error", ["out of memory", {"message": "out of memory"}])
def test_an_error_in_a_stream_may_be_a_text(error: Any) -> None:
    with pytest.raises(ModelError, match="broke off its reply: out of memory") as caught:
        _receive(_chunk(content="Hi"), {"error": error})
    assert caught.value.is_retryable


def test_the_usage_comes_after_the_reason_to_stop_without_a_choice() -> None:
    details = {"cached_tokens": 30}
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": details}
    events = _receive(_chunk("stop"), {"choices": [], "usage": usage}, {"usage": None})
    assert events == [ReplyEnd("end_turn", TokenUsage(70, 7, 30))]


def test_the_vendor_limits_completion_tokens() -> None:
    # As a gateway that passes requests on to the vendor.
    with ModelServer() as server:
        OPEN_MODELS.append(
            model := OpenAIModel(ModelEndpoint("gpt", f"{server.url}/api.openai.com/v1", "k"))
        )
        ask(model)
        body = server.requests[0].body
    assert body["max_completion_tokens"] == 100
    assert "max_tokens" not in body


@pytest.mark.parametrize(
    ("model", "effort"),
    [("gpt-6-sol", "none"), ("gpt-5.5", "none"), ("gpt-5", None), ("gpt-6.1-sol", None)],
)
def test_the_vendor_takes_tools_of_new_models_only_without_reasoning(
    model: str, effort: str | None
) -> None:
    tool = ToolDefinition("Bash", "Run a command.", {"type": "object", "properties": {}})
    request = ModelRequest("", [Message("user", (TextBlock("Hi."),))], [tool], 100)
    for place, expected in (("/api.openai.com", effort), ("", None)):
        with ModelServer() as server:
            endpoint = ModelEndpoint(model, f"{server.url}{place}/v1", "k")
            OPEN_MODELS.append(asked := OpenAIModel(endpoint))
            list(asked.stream_reply(request))
            assert server.requests[0].body.get("reasoning_effort") == expected


@pytest.mark.parametrize(
    ("model", "is_marked"),
    [("gemini-3.8-flash", True), ("google/gemini-4-argon", True), ("gemini-2.5-pro", False),
     ("gpt-5", False)],
)  # fmt: skip
def test_calls_of_other_models_are_marked_for_gemini(model: str, is_marked: bool) -> None:
    signed = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    calls = (ToolCall("1", "Read", {}), ToolCall("2", "Read", {}))
    own = (calls[0]._replace(extra={model: signed}), calls[1])
    turns = [Message("assistant", calls), Message("assistant", own)]
    with ModelServer() as server:
        endpoint = ModelEndpoint(model, f"{server.url}/v1")
        list(SERVICES["openai"].open(endpoint).stream_reply(make_request(*turns)))
        messages = server.requests[0].body["messages"][1:]
    found = [call.get("extra_content") for message in messages for call in message["tool_calls"]]
    mark = {"google": {"thought_signature": "skip_thought_signature_validator"}}
    assert found == [mark if is_marked else None, None, signed["extra_content"], None]


@pytest.mark.parametrize("model", ["mistral-large-latest", "devstral:24b", "gpt-5"])
def test_ids_of_other_models_are_changed_for_mistral(model: str) -> None:
    ids = ("toolu_01A09q90qw90lq917835lq9", "functions.Read:0", "D681PevKs")
    calls = tuple(ToolCall(key, "Read", {}) for key in ids)
    results = tuple(ToolResult(key, (TextBlock(key),)) for key in ids)
    turns = [Message("assistant", calls), Message("user", results)]
    with ModelServer() as server:
        endpoint = ModelEndpoint(model, f"{server.url}/v1")
        list(SERVICES["openai"].open(endpoint).stream_reply(make_request(*turns)))
        _, reply, *answers = server.requests[0].body["messages"]
    sent = tuple(call["id"] for call in reply["tool_calls"])
    assert [answer["tool_call_id"] for answer in answers] == list(sent)
    assert sent[2] == ids[2]
    if model == "gpt-5":
        assert sent == ids
    else:
        assert all(re.fullmatch("[a-zA-Z0-9]{9}", key) for key in sent)
        assert len(set(sent)) == len(ids)


@pytest.mark.parametrize("effort", ["", "low", "max"])
def test_an_effort_is_passed_on(effort: str) -> None:
    with ModelServer() as server:
        ask(SERVICES["openai"].open(ModelEndpoint("m", f"{server.url}/v1", effort=effort)))
        assert server.requests[0].body.get("reasoning_effort", "") == effort
