from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from cub.agent.context_window import SessionLimits
from cub.agent.conversation import (
    Message,
    TextBlock,
    ToolResult,
    make_user_message,
    repair_conversation,
)
from cub.agent.events import (
    CacheStatistics,
    RequestRetry,
    SessionEnd,
    SessionEvent,
    ToolEnd,
    TurnEnd,
)
from cub.agent.loop import MAX_CUT_REPLIES, AgentSession, ReviewResult
from cub.agent.model import ModelError, ReplyEnd, TextDelta
from cub.agent.repetition import MAX_REPEATS
from cub.agent.service_stream import make_tool_call, mark_cut_call
from cub.agent.tools.tool import ToolOutput
from cub.tokens import TokenUsage
from tests.agent.doubles import (
    FakeModel,
    Step,
    call,
    echo,
    make_session,
    make_tool,
    make_toolbox,
    say,
)

READ = make_tool("Read", echo)


def work(session: AgentSession, prompt: str = "go") -> list[SessionEvent]:
    events = list(session.work_on(prompt))
    assert isinstance(events[-1], SessionEnd)
    assert isinstance(events[-2], CacheStatistics)
    assert session.messages == repair_conversation(session.messages)
    return events


def get_end(events: list[SessionEvent]) -> SessionEnd:
    assert isinstance(events[-1], SessionEnd)
    return events[-1]


def test_tools_are_run_until_the_model_has_nothing_to_do(tmp_path: Path) -> None:
    model = FakeModel(call(("Read", "a"), ("Read", "b")), call(("Read", "c")), say("All done."))
    session = make_session(make_toolbox(tmp_path, [READ]), model)
    events = work(session)
    assert get_end(events) == SessionEnd("end_turn", "All done.")
    assert [event.number for event in events if isinstance(event, TurnEnd)] == [1, 2, 3]
    assert [event.result.text for event in events if isinstance(event, ToolEnd)] == [
        "a!", "b!", "c!",
    ]  # fmt: skip
    last = model.requests[2]
    assert [message.role for message in last.messages] == [
        "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    assert [tool.name for tool in last.tools] == ["Read"]
    assert len({request.system for request in model.requests}) == 1


def test_a_session_goes_on_with_the_next_prompt(tmp_path: Path) -> None:
    model = FakeModel(say("One."), say("Two."))
    session = make_session(make_toolbox(tmp_path, [READ]), model)
    work(session, "first")
    work(session, "second")
    assert [message.text for message in model.requests[1].messages] == ["first", "One.", "second"]


def test_a_reply_that_is_refused_ends_the_session(tmp_path: Path) -> None:
    model = FakeModel(say("Half", ReplyEnd("refusal")))
    ended = get_end(work(make_session(make_toolbox(tmp_path, [READ]), model)))
    assert (ended.reason, ended.text) == ("refusal", "Half")
    assert ended.message


CUT = ReplyEnd("max_tokens")


def test_a_reply_that_is_cut_goes_on_where_it_stopped(tmp_path: Path) -> None:
    model = FakeModel(say("It is half", CUT), say(" done", CUT), say(" and whole."))
    end = get_end(work(make_session(make_toolbox(tmp_path, [READ]), model)))
    assert end == SessionEnd("end_turn", "It is half done and whole.")
    last = model.requests[2].messages
    assert [message.role for message in last] == ["user", "assistant"] * 2 + ["user"]
    note = "Your reply was cut at the limit of 1,000 tokens. Go on exactly where it stopped."
    assert last[2].text == last[4].text == note


def test_a_reply_without_text_is_cut_as_well(tmp_path: Path) -> None:
    model = FakeModel([CUT], say("Done."))
    assert get_end(work(make_session(make_toolbox(tmp_path, [READ]), model))).text == "Done."
    (message,) = model.requests[1].messages
    assert message.text.startswith("go\nYour reply was cut")


def test_after_too_many_replies_that_are_cut_the_session_ends(tmp_path: Path) -> None:
    model = FakeModel(*[say("more ", CUT)] * 9)
    end = get_end(work(make_session(make_toolbox(tmp_path, [READ]), model)))
    assert (end.reason, end.text) == ("max_tokens", "more " * 4)
    assert end.message == "4 replies were cut at 1,000 tokens; see code.max_output_tokens"
    assert len(model.requests) == MAX_CUT_REPLIES + 1


def test_whole_replies_between_those_that_are_cut_count(tmp_path: Path) -> None:
    pair = (say("x", CUT), call(("Read", "a")), call(("Read", "b")))
    replies = [step for number in range(4) for step in (*pair[:1], call(("Read", f"{number}")))]
    model = FakeModel(*replies, say("Done."))
    assert get_end(work(make_session(make_toolbox(tmp_path, [READ]), model))).reason == "end_turn"


def test_a_call_that_is_cut_has_a_result_that_says_so(tmp_path: Path) -> None:
    half_call = mark_cut_call(make_tool_call("2", "Read", '{"word": '))
    model = FakeModel([*call(("Read", "a"))[:-1], half_call, CUT], say("Done."))
    session = make_session(make_toolbox(tmp_path, [READ]), model)
    assert get_end(work(session)).reason == "end_turn"
    message = model.requests[1].messages[-1]
    whole, half = message.results
    assert (whole.text, whole.is_error) == ("a!", False)
    assert half.text.startswith("error: the reply was cut at its length limit before the call was")
    assert "make smaller calls" in half.text
    assert half.is_error
    assert message.text == ""


def test_a_whole_call_of_a_reply_that_is_cut_is_made(tmp_path: Path) -> None:
    model = FakeModel([*call(("Read", "a"))[:-1], TextDelta("and n"), CUT], say("Done."))
    work(make_session(make_toolbox(tmp_path, [READ]), model))
    message = model.requests[1].messages[-1]
    assert message.results[0].text == "a!"
    assert message.text.startswith("Your reply was cut")


def test_a_failure_ends_the_session_with_its_kind(tmp_path: Path) -> None:
    error = ModelError("wrong key", "login", status=401)
    session = make_session(make_toolbox(tmp_path, [READ]), FakeModel(call(("Read", "a")), [error]))
    assert get_end(work(session)) == SessionEnd("error", "", "wrong key", "login")


def test_turns_are_limited(tmp_path: Path) -> None:
    model = FakeModel(call(("Read", "a")), call(("Read", "b")), say("never"))
    limits = SessionLimits(100, 160_000, max_turns=2)
    end = get_end(work(make_session(make_toolbox(tmp_path, [READ]), model, limits=limits)))
    assert (end.reason, end.message) == ("max_turns", "stopped after 2 turns")
    assert len(model.requests) == 2


def test_dollars_are_limited_and_counted(tmp_path: Path) -> None:
    pytest.importorskip("genai_prices")
    used = ReplyEnd("tool_use", TokenUsage(100_000, 10_000))
    steps: list[Step] = [*call(("Read", "a"))[:-1], used]
    model = FakeModel(steps, say("never"), name="claude-sonnet-4-20250514")
    session = make_session(make_toolbox(tmp_path, [READ]), model)
    session.budget.max_usd = 0.10
    events = work(session)
    assert get_end(events).reason == "budget"
    (turn,) = (event for event in events if isinstance(event, TurnEnd))
    assert turn.usd == pytest.approx(0.45)


def test_a_price_that_is_not_known_stays_unknown(tmp_path: Path) -> None:
    used = ReplyEnd("end_turn", TokenUsage(10, 10))
    session = make_session(make_toolbox(tmp_path, [READ]), FakeModel(say("x", used)))
    work(session)
    assert session.budget.usd is None
    assert session.budget.usage == TokenUsage(10, 10)


EMPTY: list[list[Step]] = [[ReplyEnd("end_turn")], say(" \n")]


@pytest.mark.parametrize("empty", EMPTY)
def test_an_empty_reply_is_asked_for_again(tmp_path: Path, empty: list[Step]) -> None:
    model = FakeModel(call(("Read", "a")), empty, say("Done."))
    events = work(make_session(make_toolbox(tmp_path, [READ]), model))
    assert get_end(events) == SessionEnd("end_turn", "Done.")
    (retry,) = (event for event in events if isinstance(event, RequestRetry))
    assert retry.reason == "the model's reply was empty"
    assert "was empty" in model.requests[2].messages[-1].text


@pytest.mark.parametrize("empty", EMPTY)
def test_two_empty_replies_in_a_row_end_the_session(tmp_path: Path, empty: list[Step]) -> None:
    start = [TextDelta("First."), *call(("Read", "a"))]
    model = FakeModel(start, empty, call(("Read", "b")), empty, empty)
    end = get_end(work(make_session(make_toolbox(tmp_path, [READ]), model)))
    assert (end.reason, end.message) == ("empty", "the model's reply was empty")
    assert len(model.requests) == 5
    model = FakeModel(empty, empty)
    assert get_end(work(make_session(make_toolbox(tmp_path, [READ]), model))).reason == "empty"


def test_the_same_call_over_and_over_ends_the_session(tmp_path: Path) -> None:
    model = FakeModel(*[call(("Read", "a"))] * 20)
    end = get_end(work(make_session(make_toolbox(tmp_path, [READ]), model)))
    assert end.reason == "repetition"
    assert end.message == "Read was called 5 times with the same result"
    assert len(model.requests) == MAX_REPEATS
    notes = [request.messages[-1].text for request in model.requests]
    assert [note.startswith("You have called Read 3 times") for note in notes] == [
        False, False, False, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "circle",
    [
        pytest.param([call(("Read", word)) for word in "abcd"], id="four turns"),
        pytest.param([call(("Read", "a"), ("Read", "b")), call(("Read", "c"))], id="two turns"),
        pytest.param([call(("Nothing", "a"))], id="an unknown tool"),
    ],
)
def test_a_circle_of_calls_ends_the_session(tmp_path: Path, circle: list[list[Step]]) -> None:
    model = FakeModel(*circle * 20)
    assert get_end(work(make_session(make_toolbox(tmp_path, [READ]), model))).reason == "repetition"
    assert len(model.requests) <= MAX_REPEATS * len(circle)


def test_calls_may_be_repeated_while_others_are_new(tmp_path: Path) -> None:
    model = FakeModel(*(call(("Read", "a"), ("Read", f"new {n}")) for n in range(20)), say("Done."))
    assert get_end(work(make_session(make_toolbox(tmp_path, [READ]), model))).reason == "end_turn"


def test_a_call_whose_result_changes_may_be_repeated(tmp_path: Path) -> None:
    numbers = iter(range(100))

    def count(*_: object) -> ToolOutput:
        return ToolOutput(str(next(numbers)))

    model = FakeModel(*[call(("Poll", "a"))] * 10, say("Done."))
    toolbox = make_toolbox(tmp_path, [make_tool("Poll", count, "command")])
    assert get_end(work(make_session(toolbox, model))).reason == "end_turn"


def test_a_stop_leaves_a_conversation_that_can_go_on(tmp_path: Path) -> None:
    toolbox = make_toolbox(tmp_path, [READ])
    steps: list[Step] = [*call(("Read", "a"))[:-1], toolbox.context.stop.request]
    session = make_session(toolbox, FakeModel([*steps, *say("never")]))
    assert get_end(work(session)).reason == "cancelled"
    assert len(session.messages) == 3


def test_a_conversation_that_was_left_open_is_repaired_first(tmp_path: Path) -> None:
    model = FakeModel(say("On we go."))
    session = make_session(make_toolbox(tmp_path, [READ]), model)
    one_call = call(("Read", "a"))[0]
    assert not isinstance(one_call, ModelError)
    session.messages = [
        make_user_message("before"),
        Message("assistant", (TextBlock("I read."), one_call)),  # type: ignore[arg-type]
    ]
    work(session)
    assert model.requests[0].messages[2].results[0].is_error


class Reviewer:
    """Sends the model back to work as often as it has words."""

    def __init__(self, *words: str) -> None:
        self.words = [*words]
        self.prompts: list[str] = []

    def review_end(
        self, session: AgentSession, prompt: str, number: int
    ) -> Generator[SessionEvent, None, ReviewResult]:
        self.prompts.append(f"{prompt} {number}")
        yield session.toolbox.cache.statistics
        return ReviewResult(self.words.pop(0) if self.words else "")


def test_a_review_of_the_end_sends_the_model_back_to_work(tmp_path: Path) -> None:
    model = FakeModel(say("Done."), say("Now it is."), say("Really."))
    session = make_session(make_toolbox(tmp_path, [READ]), model)
    first, second = Reviewer("Check it."), Reviewer("And write it down.")
    session.end_reviews += [first.review_end, second.review_end]
    events = work(session, "the task")
    assert get_end(events).text == "Really."
    assert [m.text for m in session.messages if m.role == "user"] == [
        "the task", "Check it.", "And write it down.",
    ]  # fmt: skip
    assert first.prompts == ["the task 1", "the task 2", "the task 2"]
    assert second.prompts == ["the task 1", "the task 2"]


def test_an_end_that_is_none_is_not_reviewed(tmp_path: Path) -> None:
    session = make_session(make_toolbox(tmp_path, [READ]), FakeModel(say("x", ReplyEnd("refusal"))))
    reviewer = Reviewer("Go on.")
    session.end_reviews.append(reviewer.review_end)
    assert get_end(work(session)).reason == "refusal"
    assert reviewer.prompts == []


def test_notices_reach_the_model_with_the_results_before_its_next_turn(tmp_path: Path) -> None:
    notices = ["", "The agent has ended.", ""]
    model = FakeModel(call(("Read", "a")), say("Done."))
    session = make_session(make_toolbox(tmp_path, [READ]), model)
    session.take_notices = lambda: notices.pop(0)
    work(session)
    results, notice = model.requests[1].messages[-1].blocks
    assert isinstance(results, ToolResult)
    assert notice == TextBlock("The agent has ended.")
