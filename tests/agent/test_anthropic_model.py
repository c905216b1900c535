"""What is special in the Messages API: caching, blocks of other types, reasons to stop."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from cub.agent.conversation import (
    Block,
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
)
from cub.model_server.exchange import render_stream
from cub.tokens import TokenUsage
from tests.agent.services import READ, SERVICES, ask, make_request
from tests.model_server.faults import ModelServer, Reply

EPHEMERAL = {"type": "ephemeral"}
CALL = ToolCall("t1", "Read", {"path": "a"})
RESULT = ToolResult("t1", (TextBlock("text of a"), ImageBlock("image/png", "aGk=")), is_error=True)
CONVERSATION = (
    make_user_message("Look at a."),
    Message("assistant", (TextBlock("\n\n"), CALL)),
    Message("user", (TextBlock("And?"), RESULT)),
)


def _send(*messages: Message, cache_ends: Sequence[int] = ()) -> Any:
    """Return the body of a request."""
    with ModelServer() as server:
        model = SERVICES["anthropic"].connect(server)
        list(model.stream_reply(make_request(*messages)._replace(cache_ends=cache_ends)))
        return server.requests[0].body


def _receive(*events: dict[str, Any], is_ended: bool = True) -> list[ReplyEvent]:
    """Return what is read in these events and a last one."""
    content = render_stream([*events, *[{"type": "message_stop"}] * is_ended])
    reply = Reply(body=b"".join(content).decode())
    with ModelServer([reply]) as server:
        return ask(SERVICES["anthropic"].connect(server))


def test_ids_of_other_models_have_only_characters_that_are_taken() -> None:
    call, result = CALL._replace(id="functions.Read:0"), RESULT._replace(call_id="functions.Read:0")
    turn = (Message("assistant", (call,)), Message("user", (result,)))
    reply, answer = _send(make_user_message("go"), *turn)["messages"][1:]
    assert reply["content"][0]["id"] == answer["content"][0]["tool_use_id"] == "functions_Read_0"


def test_a_request_asks_to_cache_the_system_prompt_and_the_conversation() -> None:
    body = _send(make_user_message("Do it."))
    assert body == {
        "model": "m",
        "max_tokens": 100,
        "stream": True,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": EPHEMERAL}],
        "tools": [
            {"name": "Read", "description": "Read a file.", "input_schema": dict(READ.schema)}
        ],
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "Do it.", "cache_control": EPHEMERAL}],
            }
        ],
    }


def test_results_come_first_in_their_message_and_blank_texts_are_left_out() -> None:
    _, reply, last = _send(*CONVERSATION)["messages"]
    assert reply["content"] == [
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a"}}
    ]
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    content = [{"type": "text", "text": "text of a"}, {"type": "image", "source": source}]
    assert last["content"] == [
        {"type": "tool_result", "tool_use_id": "t1", "content": content, "is_error": True},
        {"type": "text", "text": "And?", "cache_control": EPHEMERAL},
    ]


def test_a_longer_conversation_begins_with_the_same_bytes() -> None:
    turn = (Message("assistant", (TextBlock("Well."),)), make_user_message("More."))
    sent = [(*CONVERSATION, *turn * count) for count in range(3)]
    bodies = [_send(*messages, cache_ends=[0, len(messages) - 3]) for messages in sent]
    for body, longer in pairwise(bodies):
        assert _count_marks(longer) == 4
        # The mark at the end of a request is there in the next one, where the cache is looked up.
        last = len(body["messages"]) - 1
        assert longer["messages"][last] == body["messages"][last]
        assert _drop_marks(longer).startswith(_drop_marks(body).removesuffix("]"))


def test_the_cache_can_end_anywhere_but_with_a_thought() -> None:
    thinking = ReasoningBlock("m", "", {"type": "thinking", "thinking": "1", "signature": "a"})
    thought = Message("assistant", (TextBlock("I look."), thinking))
    messages = (make_user_message("go"), thought, make_user_message("more"), thought)
    assert _count_marks(_send(*messages, make_user_message("on"), cache_ends=[1, 2])) == 3


def _count_marks(body: Any) -> int:
    return json.dumps(body).count('"cache_control"')


def _drop_marks(body: Any) -> str:
    text = json.dumps([body["tools"], body["system"], *body["messages"]])
    return text.replace(', "cache_control": {"type": "ephemeral"}', "")


def test_a_request_without_system_and_tools_has_neither() -> None:
    with ModelServer() as server:
        model = SERVICES["anthropic"].connect(server)
        list(model.stream_reply(ModelRequest("", (make_user_message("Hi"),), (), 10)))
        assert {"system", "tools"}.isdisjoint(server.requests[0].body)


def _start(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    block = {"type": kind, **fields}
    return {"type": "content_block_start", "index": index, "content_block": block}


def _add(index: int, kind: str, **fields: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def _stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def test_blocks_and_events_of_other_types_are_left_out() -> None:
    events = _receive(
        {"type": "something_new", "text": "?"},
        _start(0, "server_tool_use", id="s", name="web_search"),
        _add(0, "input_json_delta", partial_json="{}"),
        _stop(0),
        _start(1, "text"),
        _add(1, "text_delta", text="Hi"),
        _add(1, "citations_delta", citation=""),
        _stop(1),
        {"type": "message_delta", "delta": {}},
    )
    assert events == [TextDelta("Hi"), ReplyEnd("end_turn")]


def test_a_gateway_may_send_blocks_whole_and_no_last_event() -> None:
    assert _receive(
        _start(0, "text", text="Hi"),
        _stop(0),
        _start(1, "tool_use", id="t1", name="Read", input={"path": "a"}),
        _stop(1),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        is_ended=False,
    ) == [TextDelta("Hi"), CALL, ReplyEnd("tool_use")]


def test_thinking_comes_in_pieces_and_then_whole_with_its_signature() -> None:
    thinking = {"type": "thinking", "thinking": "Hm. Well.", "signature": "c2lnbmVk"}
    redacted = {"type": "redacted_thinking", "data": "c2VjcmV0"}
    omitted = {"type": "thinking", "thinking": "", "signature": "b21pdHRlZA"}
    assert _receive(
        _start(0, "thinking", thinking="", signature=""),
        _add(0, "thinking_delta", thinking="Hm. "),
        _add(0, "thinking_delta", thinking="Well."),
        _add(0, "signature_delta", signature="c2lnbmVk"),
        _stop(0),
        _start(1, "redacted_thinking", data="c2VjcmV0"),
        _stop(1),
        _start(2, "thinking", thinking="", signature=""),
        _add(2, "signature_delta", signature="b21pdHRlZA"),
        _stop(2),
        _start(3, "tool_use", id="t1", name="Read", input={}),
        _add(3, "input_json_delta", partial_json='{"path": '),
        _add(3, "input_json_delta", partial_json='"a"}'),
        _stop(3),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    ) == [
        ReasoningBlock("m", "Hm. Well.", thinking),
        ReasoningBlock("m", "", redacted),
        ReasoningBlock("m", "", omitted),
        CALL,
        ReplyEnd("tool_use"),
    ]


@pytest.mark.parametrize("kind", ["thinking", "tool_use"])
def test_a_block_that_is_broken_off_is_not_kept(kind: str) -> None:
    delta = _add(0, "signature_delta", signature="c2ln")
    reply = Reply(body=b"".join(render_stream([_start(0, kind), delta])).decode())
    events: list[ReplyEvent] = []
    with ModelServer([reply]) as server, pytest.raises(ModelError, match="ended its stream"):
        events.extend(SERVICES["anthropic"].connect(server).stream_reply(make_request()))
    assert events == []


def test_thinking_and_calls_go_back_in_their_order() -> None:
    blocks: list[Block] = [
        ReasoningBlock("m", "", {"type": "thinking", "thinking": "1", "signature": "a"}),
        TextBlock("I look."),
        ReasoningBlock("m", "", {"type": "redacted_thinking", "data": "b"}),
        CALL,
    ]
    foreign = ReasoningBlock("m", "", {"reasoning_content": "from another API"})
    reply = Message("assistant", (foreign, *blocks))
    sent = _send(make_user_message("go"), reply, Message("user", (RESULT,)))["messages"][1]
    kinds = ["thinking", "text", "redacted_thinking", "tool_use"]
    assert [block["type"] for block in sent["content"]] == kinds
    assert sent["content"][0] == {"type": "thinking", "thinking": "1", "signature": "a"}


SHOWN = {"type": "adaptive", "display": "summarized"}


@pytest.mark.parametrize(
    ("model", "effort", "thinking"),
    [
        ("claude-sonnet-5-5", "", SHOWN),
        ("claude-sonnet-5-5", "low", SHOWN),
        ("anthropic/claude-opus-5", "max", SHOWN),
        ("claude-opus-4-7", "", None),
        ("claude-opus-4-7", "xhigh", SHOWN),
        ("claude-opus-4-6-20260101", "high", {"type": "adaptive"}),
        ("claude-sonnet-4.6", "high", {"type": "adaptive"}),
        ("claude-haiku-4-5-20251001", "high", None),
        ("claude-sonnet-4-20250514", "", None),
        ("claude-3-7-sonnet-20250219", "", None),
        ("deepseek-v4-pro", "", None),
        ("deepseek-v4-pro", "max", None),
    ],
)
def test_effort_and_thinking_are_fields_of_their_own(
    model: str, effort: str, thinking: dict[str, str] | None
) -> None:
    with ModelServer() as server:
        endpoint = ModelEndpoint(model, server.url, effort=effort)
        ask(SERVICES["anthropic"].open(endpoint))
        body = server.requests[0].body
    assert body.get("thinking") == thinking
    assert body.get("output_config") == ({"effort": effort} if effort else None)


def test_the_key_is_in_the_header_that_the_service_wants() -> None:
    with ModelServer() as server:
        for place in ("", "/api.anthropic.com"):
            ask(SERVICES["anthropic"].open(ModelEndpoint("m", server.url + place, "key-1")))
    other, vendor = server.headers
    assert [one["x-api-key"] for one in (other, vendor)] == ["key-1", "key-1"]
    assert [one["anthropic-version"] for one in (other, vendor)] == ["2023-06-01"] * 2
    assert other["authorization"] == "Bearer key-1"
    assert "authorization" not in vendor
    assert vendor["user-agent"].startswith("cub/")


@pytest.mark.parametrize(
    ("said", "reason"),
    [("end_turn", "end_turn"), ("stop_sequence", "end_turn"), ("pause_turn", "end_turn"),
     ("max_tokens", "max_tokens"), ("model_context_window_exceeded", "max_tokens"),
     ("refusal", "refusal"), ("something_new", "end_turn"), (None, "end_turn")],
)  # fmt: skip
def test_reasons_to_stop(said: str | None, reason: str) -> None:
    assert _receive({"type": "message_delta", "delta": {"stop_reason": said}}) == [
        ReplyEnd(reason)  # type: ignore[arg-type]
    ]


def test_the_last_usage_counts() -> None:
    start = {"input_tokens": 5, "output_tokens": 1, "cache_creation_input_tokens": 40}
    usage = start | {"cache_read_input_tokens": 300}
    [end] = _receive(
        {"type": "message_start", "message": {"usage": usage}},
        {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 77}},
    )
    assert end == ReplyEnd("end_turn", TokenUsage(5, 77, 300, 40))
