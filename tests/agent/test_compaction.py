from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from cub.agent.context_window import SessionLimits
from cub.agent.conversation import Message, TextBlock, make_user_message, repair_conversation
from cub.agent.events import Compaction, ReplyText, SessionEnd, SessionEvent, ToolEnd
from cub.agent.loop import AgentSession
from cub.agent.model import ModelError, ModelRequest, ReplyEnd, ReplyEvent, TextDelta
from cub.agent.tools.tool import ToolContext, ToolOutput
from cub.tokens import TokenUsage, estimate_tokens
from tests.agent.doubles import (
    FakeModel,
    NamedRules,
    Step,
    WordArguments,
    call,
    echo,
    make_session,
    make_tool,
    make_toolbox,
    say,
)
from tests.agent.exchanges import make_conversation

READ = make_tool("Read", echo)


def work(session: AgentSession, prompt: str = "go") -> list[SessionEvent]:
    events = list(session.work_on(prompt))
    assert session.messages == repair_conversation(session.messages)
    return events


def get_end(events: list[SessionEvent]) -> SessionEnd:
    assert isinstance(events[-1], SessionEnd)
    return events[-1]


def list_compactions(events: list[SessionEvent]) -> list[Compaction]:
    return [event for event in events if isinstance(event, Compaction)]


def read_much(arguments: WordArguments, _: ToolContext) -> ToolOutput:
    """A file of so many thousand words."""
    return ToolOutput("word " * 1_000 * int(arguments.word.rpartition("-")[2]))


LARGE = make_tool("Read", read_much)


def test_old_results_are_cut_before_a_request(tmp_path: Path) -> None:
    def print_much(arguments: WordArguments, _: ToolContext) -> ToolOutput:
        return ToolOutput(f"{arguments.word} " * 10_000)

    model = FakeModel(*(call(("Read", word)) for word in "abcd"), say("Done."))
    session = make_session(make_toolbox(tmp_path, [make_tool("Read", print_much)]), model)
    session.cutter.clock = count(0, 301).__next__  # after each request, a break
    events = work(session)
    (compaction,) = (event for event in events if isinstance(event, Compaction))
    assert compaction.kind == "micro"
    results = [r.text for message in model.requests[-1].messages for r in message.results]
    assert results[0] == "[content truncated — 20000 chars]"
    assert [len(text) for text in results[1:]] == [20_000] * 3


def test_a_long_conversation_is_summarized_by_the_small_model(tmp_path: Path) -> None:
    model = FakeModel(*(call(("Read", word * 300)) for word in "abcdef"), say("Done."))
    used = ReplyEnd("end_turn", TokenUsage(50, 5))
    small = FakeModel(*[say("We read files.", used)] * 5, name="small")
    toolbox = make_toolbox(tmp_path, [READ])
    toolbox.context.reads.record_file(tmp_path, b"x")
    limits = SessionLimits(100, 500)
    session = make_session(toolbox, model, small, limits)
    events = work(session, "the task")
    compactions = [event for event in events if isinstance(event, Compaction)]
    assert [one.kind for one in compactions] == ["auto"] * len(compactions)
    assert compactions[0].tokens_after < compactions[0].tokens_before
    assert compactions[0].usage == TokenUsage(50, 5)
    assert session.budget.usage.input == 50 * len(compactions)
    assert "We read files." in model.requests[-1].messages[0].text
    assert model.requests[-1].messages[0].text.startswith("the task")
    assert toolbox.context.reads.explain_unknown(tmp_path, b"x")
    assert small.requests[0].tools == ()
    assert ReplyText("We read files.") not in events


def test_the_main_model_writes_a_summary_if_the_small_one_does_not(tmp_path: Path) -> None:
    for reply in ([ModelError("no such model", "request", status=404)], say(" ")):
        replies = (call(("Read", word * 300)) for word in "abcdef")
        model = FakeModel(*replies, say("We read files."), say("Done."))
        limits = SessionLimits(100, 500)
        toolbox = make_toolbox(tmp_path, [READ])
        session = make_session(toolbox, model, FakeModel(reply), limits)
        assert get_end(work(session)).reason == "end_turn"
        assert "We read files." in model.requests[-1].messages[0].text


def test_a_summary_lets_the_rules_of_files_be_given_again(tmp_path: Path) -> None:
    rules = NamedRules()
    toolbox = make_toolbox(tmp_path, [READ], rules=rules)
    model = FakeModel(*(call(("Read", word * 300)) for word in "abcdef"), say("Done."))
    work(make_session(toolbox, model, FakeModel(say("Sum.")), SessionLimits(100, 500)))
    assert rules.restored == 1


def test_a_summary_that_calls_a_tool_runs_none(tmp_path: Path) -> None:
    model = FakeModel(*(call(("Read", word * 300)) for word in "abcdef"), say("Done."))
    small = FakeModel(*[[TextDelta("Sum."), *call(("Read", "secret"))]] * 9)
    session = make_session(make_toolbox(tmp_path, [READ]), model, small, SessionLimits(100, 500))
    events = work(session)
    assert get_end(events).reason == "end_turn"
    assert not [e for e in events if isinstance(e, ToolEnd) and "secret" in e.result.text]


class SmallModel(FakeModel):
    """Refuses a request that is longer than its window, as services do."""

    def __init__(self, *replies: list[Step], window: int, says_window: bool = True) -> None:
        super().__init__(*replies)
        self.window, self.says_window, self.refused = window, says_window, 0

    def stream_reply(self, request: ModelRequest) -> Iterator[ReplyEvent]:
        texts = [request.system]
        for message in request.messages:
            texts += [message.text, *(result.text for result in message.results)]
        if sum(map(estimate_tokens, texts)) > self.window:
            self.refused += 1
            raise ModelError(
                "answered 400: prompt is too long",
                "request",
                status=400,
                is_too_long=True,
                window=self.window if self.says_window else None,
            )
        yield from super().stream_reply(request)


@pytest.mark.parametrize("says_window", [True, False])
def test_a_conversation_that_is_refused_is_shortened_and_sent_again(
    tmp_path: Path, says_window: bool
) -> None:
    model = SmallModel(
        *(call(("Read", f"{n}-9")) for n in range(12)),
        say("Done."),
        window=40_000,
        says_window=says_window,
    )
    small = FakeModel(*[say("We read.")] * 9)
    events = work(make_session(make_toolbox(tmp_path, [LARGE]), model, small))
    assert get_end(events) == SessionEnd("end_turn", "Done.")
    assert model.refused
    assert model.refused <= (1 if says_window else 3)
    assert list_compactions(events)


@pytest.mark.parametrize("size", [8_192, 32_768])
def test_a_session_stays_within_a_small_window(tmp_path: Path, size: int) -> None:
    model = SmallModel(
        *(call(*[("Read", f"{n}.{part}-{n % 3 * 9 + 1}") for part in range(4)]) for n in range(20)),
        say("Done."),
        window=size,
    )
    small = FakeModel(*[say("We read files.")] * 20)
    limits = SessionLimits(16_384, 160_000, window=size)
    session = make_session(make_toolbox(tmp_path, [LARGE]), model, small, limits)
    events = work(session)
    assert get_end(events) == SessionEnd("end_turn", "Done.")
    assert model.refused == 0
    assert {request.max_tokens for request in model.requests} == {size // 4}


def test_eight_large_files_in_one_turn_fit(tmp_path: Path) -> None:
    model = SmallModel(call(*[("Read", f"{n}-24") for n in range(8)]), say("Done."), window=160_000)
    events = work(make_session(make_toolbox(tmp_path, [LARGE]), model))
    assert get_end(events).reason == "end_turn"
    assert (model.refused, list_compactions(events)) == (0, [])
    results = model.requests[1].messages[-1].results
    assert all("ask for the rest in smaller parts" in result.text for result in results)


def test_a_prompt_that_does_not_fit_ends_the_session_with_what_to_do(tmp_path: Path) -> None:
    model = SmallModel(window=3_000)
    events = work(make_session(make_toolbox(tmp_path, [READ]), model), "word " * 9_000)
    end = get_end(events)
    assert (end.reason, end.kind) == ("error", "request")
    assert end.message == (
        "the conversation does not fit the model's window of 3,000 tokens: answered 400: prompt is "
        "too long; write a shorter prompt, or choose a model with a larger window"
    )


def test_old_prompts_that_do_not_fit_are_removed(tmp_path: Path) -> None:
    model = SmallModel(say("Done."), window=3_000)
    session = make_session(make_toolbox(tmp_path, [READ]), model)
    for number in range(4):
        session.messages += [
            make_user_message(f"{number} " * 1_000),
            Message("assistant", (TextBlock("yes " * 500),)),
        ]
    assert get_end(work(session, "now this")).reason == "end_turn"
    assert model.requests[0].messages[-1].text == "now this"


@pytest.mark.parametrize("reply", [say(" "), [ModelError("no such model", "request")]])
def test_without_a_summary_old_messages_are_removed(tmp_path: Path, reply: list[Step]) -> None:
    replies = [call(("Read", word * 300)) for word in "abcdef"]
    model = FakeModel(*replies, reply, say("Done."))
    toolbox = make_toolbox(tmp_path, [READ])
    session = make_session(toolbox, model, FakeModel(reply), SessionLimits(100, 500))
    events = work(session, "the task")
    assert get_end(events).reason == "end_turn"
    assert [event.kind for event in list_compactions(events)] == ["cut"]
    text = model.requests[-1].messages[0].text
    assert text.startswith("the task\n\n")
    assert "No summary could be written" in text


def test_no_summary_is_bought_for_long_recent_messages(tmp_path: Path) -> None:
    model = FakeModel(*(call(("Read", f"{n}-9")) for n in range(30)), say("Done."))
    small = FakeModel(*[say("Summary.")] * 20, name="small")
    limits = SessionLimits(100, 8_000)
    session = make_session(make_toolbox(tmp_path, [LARGE]), model, small, limits)
    events = work(session)
    summaries = [one for one in list_compactions(events) if one.kind == "auto"]
    assert all(one.tokens_after < one.tokens_before * 3 // 4 for one in summaries)
    assert len(small.requests) <= 5


def test_a_file_can_be_read_and_then_changed_while_recent_messages_are_long(
    tmp_path: Path,
) -> None:
    toolbox = make_toolbox(tmp_path, [LARGE])
    toolbox.context.reads.record_file(tmp_path, b"x")
    model = FakeModel(*(call(("Read", f"{n}-9")) for n in range(3)), say("Done."))
    work(make_session(toolbox, model, limits=SessionLimits(100, 1)))
    assert toolbox.context.reads.explain_unknown(tmp_path, b"x") == ""


def test_the_usage_that_a_service_reports_decides(tmp_path: Path) -> None:
    used = ReplyEnd("tool_use", TokenUsage(200_000, 10))  # far more than the estimate
    first: list[Step] = [*call(("Read", "a"))[:-1], used]
    model, small = FakeModel(first, say("Done.")), FakeModel(say("We read."))
    session = make_session(make_toolbox(tmp_path, [READ]), model, small)
    session.messages = make_conversation(*[3_000] * 9)
    assert [event.kind for event in list_compactions(work(session))] == ["auto"]
    assert len(small.requests) == 1


def make_old_session(tmp_path: Path, count: int, *replies: list[Step]) -> AgentSession:
    session = make_session(make_toolbox(tmp_path, [READ]), FakeModel(), FakeModel(*replies))
    session.messages = make_conversation(*[12_000] * count)
    return session


def test_a_user_can_have_the_conversation_compacted(tmp_path: Path) -> None:
    session = make_old_session(tmp_path, 9, say("We read."))
    kinds = [event.kind for event in session.compact() if isinstance(event, Compaction)]
    assert kinds == ["micro", "auto"]
    assert len(session.messages) == 7
    assert "We read." in session.messages[0].text


def test_a_short_conversation_is_summarized_only_by_force(tmp_path: Path) -> None:
    session = make_old_session(tmp_path, 4, say("We read."))
    assert [e.kind for e in session.compact() if isinstance(e, Compaction)] == ["micro"]
    assert list(session.compact()) == []
    (event,) = session.compact(force=True)
    assert isinstance(event, Compaction)
    assert event.kind == "auto"
    session.messages = make_conversation(1)
    assert list(session.compact(force=True)) == []


def test_a_summary_that_fails_leaves_the_messages(tmp_path: Path) -> None:
    session = make_old_session(tmp_path, 9, [ModelError("no such model", "request")])
    session.model = FakeModel([ModelError("not there", "service", status=404)])
    before = len(session.messages)
    with pytest.raises(ModelError, match="not there"):
        list(session.compact())
    assert len(session.messages) == before
