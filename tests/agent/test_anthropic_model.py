"""What is special in the Messages API: caching, blocks of other types, reasons to stop."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from cub.agent.conversation import (
    ImageBlock,
    Message,
    TextBlock,
    ToolCall,
    ToolResult,
    make_user_message,
)
from cub.agent.model import (
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


def _send(*messages: Message, system: str = "Be brief.") -> Any:
    """Return the body of a request."""
    with ModelServer() as server:
        model = SERVICES["anthropic"].connect(server)
        list(model.stream_reply(make_request(*messages, system=system)))
        return server.requests[0].body


def _receive(*events: dict[str, Any]) -> list[ReplyEvent]:
    """Return what is read in these events and a last one."""
    content = render_stream([*events, {"type": "message_stop"}])
    reply = Reply(body=b"".join(content).decode())
    with ModelServer([reply]) as server:
        return ask(SERVICES["anthropic"].connect(server))


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
    first, reply, last = _send(*CONVERSATION)["messages"]
    assert first["content"][0]["cache_control"] == EPHEMERAL
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
    bodies = [_send(*CONVERSATION, *turn * count) for count in range(3)]
    for body, longer in pairwise(bodies):
        assert _count_marks(longer) == 3
        # The mark at the end of a request is there in the next one, where the cache is looked up.
        last = len(body["messages"]) - 1
        assert longer["messages"][last] == body["messages"][last]
        assert _drop_marks(longer).startswith(_drop_marks(body).removesuffix("]"))


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


def test_blocks_and_events_of_other_types_are_left_out() -> None:
    thinking = {"type": "thinking_delta", "thinking": "Hm."}
    events = _receive(
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking"}},
        {"type": "content_block_delta", "index": 0, "delta": thinking},
        {"type": "content_block_stop", "index": 0},
        {"type": "something_new", "text": "?"},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "server_tool_use"}},
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "text"}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "text_delta", "text": "Hi"}},
        {"type": "content_block_stop", "index": 2},
        {"type": "message_delta", "delta": {}},
    )
    assert events == [TextDelta("Hi"), ReplyEnd("end_turn")]


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
