from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from cub.agent.agent_types import BUILT_IN_AGENTS, AgentType
from cub.agent.conversation import ToolCall
from cub.agent.events import (
    Answer,
    Question,
    SessionEnd,
    SessionEvent,
    SubagentEvent,
    ToolEnd,
    ToolStart,
    TurnEnd,
)
from cub.agent.loop import AgentSession
from cub.agent.model import ModelRequest, ReplyEnd, ReplyEvent, TextDelta
from cub.agent.permissions import PermissionMode
from cub.agent.session_budget import SessionBudget
from cub.agent.subagents import MAX_DEPTH, TASK, Subagents
from cub.agent.tools.tool import ToolContext, ToolOutput
from cub.errors import CubError
from cub.tokens import TokenUsage
from tests.agent.doubles import (
    NamedRules,
    PromptModel,
    Replies,
    WordArguments,
    call,
    close_stops,
    echo,
    make_session,
    make_tool,
    make_toolbox,
)

TIMEOUT = 20
USED = TokenUsage(100, 10)


@pytest.fixture(autouse=True)
def _close_stops() -> Iterator[None]:
    yield
    close_stops()


def delegate(*tasks: Mapping[str, object]) -> list[ReplyEvent]:
    calls = [ToolCall(f"t{number}", TASK, task) for number, task in enumerate(tasks)]
    return [*calls, ReplyEnd("tool_use", USED)]


def say(text: str) -> list[ReplyEvent]:
    return [TextDelta(text), ReplyEnd("end_turn", USED)]


def run_tool(name: str, word: str) -> list[ReplyEvent]:
    return [step for step in call((name, word)) if isinstance(step, ToolCall | ReplyEnd)]


class Family:
    """A session that can start sub-agents; its model answers by the first prompt of each."""

    def __init__(
        self, folder: Path, reply: Replies, mode: PermissionMode = "bypass",
        run: Callable[[WordArguments, ToolContext], ToolOutput] = echo,
    ) -> None:  # fmt: skip
        self.model, self.small = PromptModel(reply), PromptModel(reply, "small")
        self.named: dict[str, PromptModel] = {}
        tools = [make_tool("Read", run), make_tool("Bash", run, "command")]
        self.rules = NamedRules()
        toolbox = make_toolbox(folder, tools, mode, self.rules)
        self.session: AgentSession = make_session(toolbox, self.model, self.small)

        def load_named(name: str) -> PromptModel:
            self.named[name] = PromptModel(reply, name)
            return self.named[name]

        own = AgentType("critic", "Criticizes.", "Be strict.", ("Read",), "other/critic-1")
        types = {row.name: row for row in (*BUILT_IN_AGENTS, own)}
        self.agents = Subagents(self.session, types, lambda role: role, load_named)
        self.agents.add_to_session()

    def work(self, prompt: str = "main", answer: Answer | None = None) -> list[SessionEvent]:
        events: list[SessionEvent] = []
        for event in self.session.work_on(prompt):
            events.append(event)
            if isinstance(event, Question):
                assert answer
                event.answer(answer)
        return events


def first_prompt(request: ModelRequest) -> str:
    return request.messages[0].text


def test_the_answer_comes_back_and_not_the_transcript(tmp_path: Path) -> None:
    def reply(request: ModelRequest) -> list[ReplyEvent]:
        if first_prompt(request) == "find it":
            return run_tool("Read", "a.py") if len(request.messages) == 1 else say("In a.py:1.")
        if len(request.messages) == 1:
            return delegate({"prompt": "find it", "subagent_type": "Explore"})
        return say("Found.")

    family = Family(tmp_path, reply)
    events = family.work()
    assert family.session.messages[2].results[0].text == "In a.py:1."
    assert "a.py!" not in str(family.session.messages)
    inner = [e.event for e in events if isinstance(e, SubagentEvent)]
    assert [type(e) for e in inner] == [ToolStart, ToolEnd, TurnEnd, TurnEnd]
    assert {e.agent for e in events if isinstance(e, SubagentEvent)} == {"Explore 1"}
    assert {len(r.tools) for r in family.small.requests} == {1}  # of its tools, Read is here
    assert family.small.requests[0].system.startswith("Find what is asked for")
    assert family.session.budget.usage.input == 300  # two turns of the session, one with usage here
    assert [(run.state, run.answer, run.budget.turns) for run in family.agents.runs] == [
        ("done", "In a.py:1.", 2)
    ]


def test_a_call_without_a_description_is_shown_by_its_prompt(tmp_path: Path) -> None:
    tool = Family(tmp_path, lambda _: say("Done.")).agents.make_tool(SessionBudget())
    assert tool.get_subject({"prompt": "Look around."}) == "Look around."
    assert tool.get_subject({"prompt": "Look around.", "description": "Look"}) == "Look"


def test_agents_of_one_reply_work_at_the_same_time(tmp_path: Path) -> None:
    meeting = threading.Barrier(3)

    def reply(request: ModelRequest) -> list[ReplyEvent]:
        if first_prompt(request) != "main":
            meeting.wait(TIMEOUT)
            return say(first_prompt(request).upper())
        if len(request.messages) == 1:
            return delegate(*({"prompt": name} for name in ("one", "two", "three")))
        return say("Done.")

    family = Family(tmp_path, reply)
    family.work()
    assert [r.text for r in family.session.messages[2].results] == ["ONE", "TWO", "THREE"]
    assert sorted(run.number for run in family.agents.runs) == [1, 2, 3]


def test_a_question_of_an_agent_reaches_the_person(tmp_path: Path) -> None:
    def reply(request: ModelRequest) -> list[ReplyEvent]:
        if first_prompt(request) == "list":
            return run_tool("Bash", "make") if len(request.messages) == 1 else say("Listed.")
        return delegate({"prompt": "list"}) if len(request.messages) == 1 else say("Done.")

    for choice, text in (("once", "make!"), ("no", "not allowed: not now")):
        family = Family(tmp_path, reply, "ask")
        answer = Answer("once") if choice == "once" else Answer("no", "not now")
        events = family.work(answer=answer)
        (question,) = [event for event in events if isinstance(event, Question)]
        assert question.agent == "general-purpose 1"
        assert question.reason == "this command needs approval"
        assert family.model.requests[2].messages[-1].results[0].text == text


def test_what_is_allowed_for_good_holds_for_all_agents(tmp_path: Path) -> None:
    family = Family(tmp_path, lambda _: say("x"), "ask")
    child = family.agents.start_session(
        BUILT_IN_AGENTS[-1],
        family.session.toolbox.context,
        SessionBudget(parent=family.session.budget),
    )
    assert child.toolbox.permissions is family.session.toolbox.permissions


def test_an_agent_knows_what_its_parent_has_read_and_keeps_its_own_to_itself(
    tmp_path: Path,
) -> None:
    family = Family(tmp_path, lambda _: say("x"))
    context = family.session.toolbox.context
    context.reads.record_file(tmp_path / "a", b"1")
    child = family.agents.start_session(
        BUILT_IN_AGENTS[-1], context, SessionBudget(parent=family.session.budget)
    ).toolbox.context
    assert child.reads.explain_unknown(tmp_path / "a", b"1") == ""
    child.reads.record_file(tmp_path / "b", b"2")
    assert context.reads.explain_unknown(tmp_path / "b", b"2")


def test_agents_start_agents_up_to_a_depth(tmp_path: Path) -> None:
    def reply(request: ModelRequest) -> list[ReplyEvent]:
        if len(request.messages) > 1:
            return say(f"done {first_prompt(request)}")
        if any(tool.name == TASK for tool in request.tools):
            return delegate({"prompt": f"{first_prompt(request)}+"})
        return say("deepest")

    family = Family(tmp_path, reply)
    family.work("0")
    assert [run.answer for run in family.agents.runs][-1] == "deepest"
    assert len(family.agents.runs) == MAX_DEPTH
    budgets = [run.budget.usage.input for run in family.agents.runs]
    assert budgets == [900, 700, 500, 300, 100]
    assert family.session.budget.usage.input == 1_100


def test_a_stop_of_the_session_ends_its_agents_and_theirs_ends_nothing_above(
    tmp_path: Path,
) -> None:
    is_running = threading.Event()

    def wait_for_stop(_: WordArguments, context: ToolContext) -> ToolOutput:
        is_running.set()
        assert context.stop.wait(TIMEOUT)
        return ToolOutput("stopped")

    def reply(request: ModelRequest) -> list[ReplyEvent]:
        if first_prompt(request) == "wait":
            return run_tool("Bash", "sleep")
        return delegate({"prompt": "wait"}) if len(request.messages) == 1 else say("Done.")

    family = Family(tmp_path, reply, run=wait_for_stop)
    stop = family.session.toolbox.context.stop

    def stop_when_running() -> None:
        assert is_running.wait(TIMEOUT)
        stop.request()

    thread = threading.Thread(target=stop_when_running)
    thread.start()
    (end,) = [event for event in family.work() if isinstance(event, SessionEnd)]
    thread.join()
    assert end.reason == "cancelled"
    assert "did not finish: cancelled" in family.session.messages[2].results[0].text
    stop.reset()
    family.model.reply = lambda _: say("On we go.")
    ends = [event for event in family.work("next") if isinstance(event, SessionEnd)]
    assert ends[0].reason == "end_turn"


@pytest.mark.parametrize("waits", [True, False], ids=["headless", "interactive"])
def test_an_agent_in_the_background_is_heard_later(tmp_path: Path, waits: bool) -> None:
    go_on = threading.Event()

    def reply(request: ModelRequest) -> list[ReplyEvent]:
        if first_prompt(request) == "slow":
            assert go_on.wait(TIMEOUT)
            if len(request.messages) == 1:
                return run_tool("Bash", "rm")
            return say("The answer.")
        if len(request.messages) == 1:
            return delegate({"prompt": "slow", "description": "Look", "run_in_background": True})
        go_on.set() if waits else None
        return say("Done.")

    family = Family(tmp_path, reply, "ask")
    family.session.end_reviews += [family.agents.review_end] if waits else []
    events = family.work()
    started = family.session.messages[2].results[0].text
    assert started == "general-purpose 1 has started. Its answer comes in a later message."
    assert not [event for event in events if isinstance(event, Question)]  # nobody to answer it
    if not waits:
        go_on.set()
        family.agents.wait(family.session.toolbox.context.stop)
        family.work("next")
    notice = [m.text for m in family.session.messages if "The answer." in m.text]
    assert [text.splitlines()[-3:] for text in notice] == [
        ['<agent name="general-purpose 1" task="Look">', "The answer.", "</agent>"]
    ]
    denied = [m.results[0].text for m in family.model.requests[-1].messages if m.results]
    assert not any("can't ask" in text for text in denied)  # that is the agent's own
    shown = [e.event for e in events if isinstance(e, SubagentEvent)]
    assert [event.summary for event in shown if isinstance(event, ToolEnd)] == ["Bash rm"] * waits
    assert family.session.budget.turns == 5


def test_a_sub_agent_gets_the_answer_of_its_own_agents_at_once(tmp_path: Path) -> None:
    def reply(request: ModelRequest) -> list[ReplyEvent]:
        prompt = first_prompt(request)
        if prompt == "inner" or len(request.messages) > 1:
            return say(f"done {prompt}")
        inner = {"prompt": "inner", "run_in_background": True}
        return delegate({"prompt": "outer"} if prompt == "main" else inner)

    family = Family(tmp_path, reply)
    family.work()
    (request,) = (r for r in family.model.requests if r.messages[-1].results and
                  first_prompt(r) == "outer")  # fmt: skip
    assert request.messages[-1].results[0].text == "done inner"
    assert family.agents.take_notices() == ""


def test_closing_a_session_ends_its_agents_in_the_background(tmp_path: Path) -> None:
    is_running = threading.Event()

    def wait_for_stop(_: WordArguments, context: ToolContext) -> ToolOutput:
        is_running.set()
        assert context.stop.wait(TIMEOUT)
        return ToolOutput("stopped")

    def reply(request: ModelRequest) -> list[ReplyEvent]:
        if first_prompt(request) == "wait":
            return run_tool("Bash", "sleep")
        if len(request.messages) == 1:
            return delegate({"prompt": "wait", "run_in_background": True})
        return say("Done.")

    family = Family(tmp_path, reply, run=wait_for_stop)
    family.work()
    assert is_running.wait(TIMEOUT)
    family.session.close()
    assert [run.state for run in family.agents.runs] == ["failed"]


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ({"prompt": "x", "subagent_type": "explore"}, "there is no agent 'explore'"),
        ({"prompt": "fail"}, "did not finish: the model refused to go on"),
        ({"prompt": "silent"}, "did not finish: the model's reply was empty"),
        ({"prompt": "broken"}, "the package is missing"),
    ],
)
def test_an_agent_that_fails_is_a_result(
    tmp_path: Path, task: dict[str, object], text: str
) -> None:
    def reply(request: ModelRequest) -> list[ReplyEvent]:
        match first_prompt(request).split()[0]:
            case "fail":
                return [ReplyEnd("refusal")]
            case "silent":
                return [ReplyEnd("end_turn")]
            case "broken":
                raise CubError("the package is missing")
        return delegate(task) if len(request.messages) == 1 else say("Done.")

    family = Family(tmp_path, reply)
    family.work()
    assert text in family.session.messages[2].results[0].text
    assert {run.state for run in family.agents.runs} <= {"failed"}


def test_a_model_of_an_agents_own_is_loaded_once_and_closed(tmp_path: Path) -> None:
    def reply(request: ModelRequest) -> list[ReplyEvent]:
        if first_prompt(request) != "main":
            return say("Weak.")
        tasks = [{"prompt": name, "subagent_type": "critic"} for name in ("one", "two")]
        return delegate(*tasks) if len(request.messages) == 1 else say("Done.")

    family = Family(tmp_path, reply)
    family.work()
    (model,) = family.named.values()
    assert len(model.requests) == 2
    family.session.close()
    assert model.is_closed


def test_rules_of_files_are_given_to_an_agent_again(tmp_path: Path) -> None:
    family = Family(tmp_path, lambda _: say("x"))
    family.session.toolbox = replace(family.session.toolbox, rules=NamedRules(a="rule"))
    child = family.agents.start_session(
        BUILT_IN_AGENTS[0], family.session.toolbox.context, family.session.budget
    )
    assert child.toolbox.rules is not family.session.toolbox.rules
    assert child.toolbox.rules.take_rules(Path("a.py")) == "rule"
