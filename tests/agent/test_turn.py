from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from cub.agent.conversation import (
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    make_user_message,
)
from cub.agent.events import ReplyText, RequestRetry, ToolEnd, ToolStart
from cub.agent.executor import Toolbox
from cub.agent.model import ModelError, ModelRequest, ReplyEnd, TextDelta
from cub.agent.tools.tool import ToolContext, ToolOutput
from cub.agent.turn import Turn, TurnEvent, run_turn
from cub.errors import CubError
from tests.agent.doubles import (
    FakeModel,
    Step,
    WordArguments,
    call,
    echo,
    make_session,
    make_tool,
    make_toolbox,
    say,
)
from tests.agent.services import SERVICES
from tests.model_server.faults import ModelServer, Reply

TIMEOUT = 20
REQUEST = ModelRequest("", (make_user_message("go"),), (), 100)
CUT = ModelError("the connection was closed", "service")


def run(
    toolbox: Toolbox, *replies: list[Step], request: ModelRequest = REQUEST
) -> tuple[list[TurnEvent], Turn]:
    events: list[TurnEvent] = []
    generator = run_turn(FakeModel(*replies), request, toolbox, lambda: 0.0)
    while True:
        try:
            events.append(next(generator))
        except StopIteration as end:
            turn: Turn = end.value
            return events, turn


def test_a_reply_without_calls(tmp_path: Path) -> None:
    events, turn = run(make_toolbox(tmp_path, []), [TextDelta("Hel"), *say("lo")])
    assert events == [TextDelta("Hel"), TextDelta("lo"), ReplyText("Hello")]
    assert turn.reply == Message("assistant", (TextBlock("Hello"),))
    assert (turn.reply.text, turn.end, turn.error) == ("Hello", ReplyEnd("end_turn"), None)


def test_a_turn_knows_how_long_its_longest_call_took(tmp_path: Path) -> None:
    toolbox = make_toolbox(tmp_path, [make_tool("Read", echo)])
    events, turn = run(toolbox, call(("Read", "a"), ("Read", "b")))
    assert turn.longest_call == max(e.seconds for e in events if isinstance(e, ToolEnd)) > 0


THOUGHT = ReasoningBlock("fake", "Hm.", {"reasoning_content": "Hm."})


def test_reasoning_comes_before_what_it_led_to(tmp_path: Path) -> None:
    steps: list[Step] = [
        THOUGHT, TextDelta("I "), TextDelta("look."), THOUGHT,
        ToolCall("1", "Read", {"word": "a"}), THOUGHT, *say("Done."),
    ]  # fmt: skip
    events, turn = run(make_toolbox(tmp_path, [make_tool("Read", echo)]), steps)
    call = ToolCall("1", "Read", {"word": "a"})
    look, done = TextBlock("I look."), TextBlock("Done.")
    assert turn.reply.blocks == (THOUGHT, look, THOUGHT, call, THOUGHT, done)
    assert events.count(THOUGHT) == 3
    texts = [event.text for event in events if isinstance(event, ReplyText)]
    assert texts == ["I look.", "Done."]


def test_reasoning_of_a_reply_that_broke_off_does_not_count(tmp_path: Path) -> None:
    lost: list[Step] = [THOUGHT, TextDelta("I "), THOUGHT, TextDelta("loo"), CUT]
    events, turn = run(make_toolbox(tmp_path, []), lost, [THOUGHT, *say("Done.")])
    assert turn.reply.blocks == (THOUGHT, TextBlock("Done."))
    assert [event for event in events if isinstance(event, ReplyText)] == [ReplyText("Done.")]


def test_text_and_calls_keep_their_order(tmp_path: Path) -> None:
    steps: list[Step] = [
        TextDelta("First."),
        ToolCall("1", "Read", {"word": "a"}),
        TextDelta(" "),
        ToolCall("2", "Read", {"word": "b"}),
        TextDelta("Last."),
        ReplyEnd("tool_use"),
    ]
    _, turn = run(make_toolbox(tmp_path, [make_tool("Read", echo)]), steps)
    kinds = [type(block).__name__ for block in turn.reply.blocks]
    assert kinds == ["TextBlock", "ToolCall", "ToolCall", "TextBlock"]
    assert [result.text for result in turn.answer.results] == ["a!", "b!"]


def test_each_call_gets_an_id_of_its_own(tmp_path: Path) -> None:
    old = (ToolCall("call_9", "Read", {}), ToolCall("a", "Read", {}))
    request = REQUEST._replace(messages=[Message("assistant", old)])
    calls = [ToolCall(call_id, "Read", {"word": call_id}) for call_id in ("a", "b", "b", "", "")]
    toolbox = make_toolbox(tmp_path, [make_tool("Read", echo)])
    _, turn = run(toolbox, [*calls, ReplyEnd("tool_use")], request=request)
    ids = [one.id for one in (*old, *turn.reply.calls)]
    assert len(set(ids)) == 7
    assert "b" in ids
    assert "" not in ids
    assert [result.call_id for result in turn.answer.results] == ids[2:]
    assert [result.text for result in turn.answer.results] == ["a!", "b!", "b!", "!", "!"]


def test_what_keeps_a_model_from_being_asked_is_raised(tmp_path: Path) -> None:
    def fail() -> None:
        raise CubError("the agent needs the package anthropic", hint="pip install")

    with pytest.raises(CubError, match="needs the package"):
        run(make_toolbox(tmp_path, []), [fail])


def test_a_read_ends_while_the_reply_is_still_written(tmp_path: Path) -> None:
    is_read = threading.Event()

    def read(*_: object) -> ToolOutput:
        is_read.set()
        return ToolOutput("text")

    steps = call(("Read", "a"))
    steps.insert(1, lambda: is_read.wait(TIMEOUT))
    events, turn = run(make_toolbox(tmp_path, [make_tool("Read", read)]), [*steps[:2], *say("x")])
    assert is_read.is_set()
    assert [type(event) for event in events[:1]] == [ToolStart]
    assert turn.answer.results[0].text == "text"


def test_a_failed_request_is_made_again_and_its_text_does_not_count(tmp_path: Path) -> None:
    toolbox = make_toolbox(tmp_path, [])
    failed = ModelError("overloaded", "service", retry_after=0.0)
    events, turn = run(toolbox, [TextDelta("Wro"), failed], say("Right"))
    retry = events[1]
    assert isinstance(retry, RequestRetry)
    assert (retry.number, retry.kind, retry.reason) == (1, "service", "overloaded")
    assert turn.reply.text == "Right"
    assert len(turn.reply.blocks) == 1


def test_an_error_ends_the_turn_and_says_why(tmp_path: Path) -> None:
    error = ModelError("no such model", "request", status=404)
    _, turn = run(make_toolbox(tmp_path, []), [error])
    assert turn.error is error
    assert turn.reply.blocks == ()


def test_a_reply_that_is_cut_after_a_call_still_counts(tmp_path: Path) -> None:
    steps: list[Step] = [ToolCall("1", "Read", {"word": "a"}), CUT]
    _, turn = run(make_toolbox(tmp_path, [make_tool("Read", echo)]), steps)
    assert turn.error is None
    assert turn.end == ReplyEnd("tool_use")
    assert [result.text for result in turn.answer.results] == ["a!"]


def test_a_stop_ends_a_reply_that_never_comes(tmp_path: Path) -> None:
    toolbox = make_toolbox(tmp_path, [])
    forever = threading.Event()
    steps: list[Step] = [
        TextDelta("I"),
        toolbox.context.stop.request,
        forever.wait,
    ]
    events, turn = run(toolbox, steps)
    forever.set()
    assert turn.is_cancelled
    assert turn.reply.text == "I"
    assert events == [TextDelta("I"), ReplyText("I")]


def test_after_a_stop_no_call_starts(tmp_path: Path) -> None:
    toolbox = make_toolbox(tmp_path, [make_tool("Bash", echo, "command")])
    steps: list[Step] = [ToolCall("1", "Bash", {"word": "a"}), toolbox.context.stop.request]
    events, turn = run(toolbox, [*steps, *call(("Bash", "b"))])
    assert turn.is_cancelled
    assert (
        [result.call_id for result in turn.answer.results]
        == [one.id for one in turn.reply.calls]
        == ["1"]
    )
    assert turn.answer.results[0].is_error
    assert [event.source for event in events if isinstance(event, ToolEnd)] == ["cancelled"]


def test_a_stop_that_was_requested_before_ends_the_turn_at_once(tmp_path: Path) -> None:
    toolbox = make_toolbox(tmp_path, [])
    toolbox.context.stop.request()
    forever = threading.Event()
    _, turn = run(toolbox, [forever.wait])
    forever.set()
    assert turn.is_cancelled


def test_a_stop_ends_a_running_command_and_keeps_its_result(tmp_path: Path) -> None:
    toolbox: Toolbox

    def run_command(_: WordArguments, context: ToolContext) -> ToolOutput:
        toolbox.context.stop.request()
        assert context.stop.wait(TIMEOUT)
        return ToolOutput("ended by the stop")

    toolbox = make_toolbox(tmp_path, [make_tool("Bash", run_command, "command")])
    _, turn = run(toolbox, call(("Bash", "a")))
    assert turn.is_cancelled
    assert turn.answer.results[0].text == "ended by the stop"


@pytest.mark.parametrize("service", SERVICES)
def test_what_a_model_thought_is_in_the_next_request(tmp_path: Path, service: str) -> None:
    """A service that signs its reasoning, or refuses calls without it, gets back what it sent."""
    first = {
        "anthropic": [
            {"type": "content_block_start", "content_block": {"type": "thinking", "thinking": ""}},
            {"type": "content_block_delta", "delta": {"thinking": "Hm."}},
            {"type": "content_block_delta", "delta": {"signature": "c2ln"}},
            {"type": "content_block_stop"},
            {"type": "content_block_start",
             "content_block": {"type": "tool_use", "id": "1", "name": "Read"}},
            {"type": "content_block_stop"},
            {"type": "message_stop"},
        ],
        "openai": [
            {"choices": [{"delta": {"reasoning_content": "Hm."}}]},
            {"choices": [{"delta": {"tool_calls": [{"id": "1", "function": {"name": "Read"}}]},
                          "finish_reason": "tool_calls"}]},
        ],
    }  # fmt: skip
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in first[service])
    toolbox = make_toolbox(tmp_path, [make_tool("Read", echo)])
    with ModelServer([Reply(body=body), Reply("Done.")]) as server:
        session = make_session(toolbox, SERVICES[service].connect(server))
        list(session.work_on("go"))
        sent = server.requests[1].body["messages"][-2]
    if service == "anthropic":
        thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
        assert sent["content"][0] == thinking
    else:
        assert sent["reasoning_content"] == "Hm."
