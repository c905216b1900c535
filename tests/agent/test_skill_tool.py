from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cub.agent.agent_types import BUILT_IN_AGENTS
from cub.agent.conversation import ToolCall
from cub.agent.events import SessionEnd, SessionEvent, SubagentEvent, ToolEnd
from cub.agent.model import ModelError, ReplyEnd, TextDelta
from cub.agent.skill_invocation import find_invocation
from cub.agent.skill_tool import add_skill_tool, work_on_skill
from cub.agent.skills import Skill, SkillSet
from cub.agent.subagents import SKILL, Subagents
from tests.agent.doubles import (
    FakeModel,
    Step,
    call,
    close_stops,
    echo,
    make_session,
    make_tool,
    make_toolbox,
    say,
)


@pytest.fixture(autouse=True)
def _close_stops() -> Iterator[None]:
    yield
    close_stops()


def load(name: str, arguments: str = "") -> list[Step]:
    values = {"skill": name, "args": arguments}
    return [ToolCall("s1", SKILL, values), ReplyEnd("tool_use")]


class Lab:
    """A session with skills and sub-agents, which plays the replies of both in their order."""

    def __init__(self, folder: Path, *replies: list[Step], **small: list[Step]) -> None:
        review = Skill("review", "Reviews.", "Review $ARGUMENTS.", folder, tools=("Read",))
        skills = (
            review,
            replace(review, name="release", is_for_model=False),
            replace(review, name="audit", is_fork=True),
            replace(review, name="find", is_fork=True, agent="Explore", tools=None),
            replace(review, name="odd", is_fork=True, agent="nobody"),
        )
        tools = [make_tool("Read", echo), make_tool("Edit", echo, "edit")]
        toolbox = make_toolbox(folder, tools)
        context = replace(toolbox.context, skills=SkillSet({skill.name: skill for skill in skills}))
        self.model, self.small = FakeModel(*replies), FakeModel(*small.values())
        self.session = make_session(replace(toolbox, context=context), self.model, self.small)
        types = {row.name: row for row in BUILT_IN_AGENTS}
        self.subagents = Subagents(self.session, types, lambda role: role, lambda _: self.model)
        self.subagents.add_to_session()
        add_skill_tool(self.subagents)

    def work(self, prompt: str) -> list[SessionEvent]:
        invocation = find_invocation(self.session.toolbox.context.skills, prompt)
        if invocation is None:
            return list(self.session.work_on(prompt))
        text = invocation.text
        return list(work_on_skill(self.subagents, invocation, text))

    def load(self, name: str, arguments: str = "") -> ToolEnd:
        """What the model gets for a skill."""
        self.model.replies[:0] = [load(name, arguments)]
        return next(event for event in self.work("go") if isinstance(event, ToolEnd))


def list_results(events: list[SessionEvent]) -> list[tuple[str, str]]:
    inner = [event.event if isinstance(event, SubagentEvent) else event for event in events]
    return [(event.source, event.result.text) for event in inner if isinstance(event, ToolEnd)]


def get_end(events: list[SessionEvent]) -> SessionEnd:
    assert isinstance(events[-1], SessionEnd)
    return events[-1]


@pytest.mark.parametrize("name", ["review", "Review", " /review "])
def test_the_model_gets_the_instructions(tmp_path: Path, name: str) -> None:
    end = Lab(tmp_path, say("done")).load(name, "a.py")
    assert (end.result.text, end.result.is_error) == ("Review a.py.", False)


def test_an_unknown_name_has_near_misses(tmp_path: Path) -> None:
    end = Lab(tmp_path, say("done")).load("reveiw")
    assert end.result.text == "error: there is no skill 'reveiw'\nhint: did you mean review?"
    assert end.result.is_error


def test_the_user_alone_calls_for_a_hidden_skill(tmp_path: Path) -> None:
    lab = Lab(tmp_path, say("done"), say("released"))
    assert "suggest `/release` to the user" in lab.load("release").result.text
    assert get_end(lab.work("/release")).text == "released"


def test_a_skill_that_the_model_loads_limits_nothing(tmp_path: Path) -> None:
    lab = Lab(tmp_path, load("review"), call(("Edit", "a")), say("done"))
    assert list_results(lab.work("go")) == [("tool", "Review ."), ("tool", "a!")]


def test_a_skill_of_the_user_limits_the_tools_until_its_end(tmp_path: Path) -> None:
    edit, read = ("Edit", "a"), ("Read", "a")
    lab = Lab(tmp_path, call(edit, read), say("done"), call(edit), say("done"))
    (_, refusal), (_, text) = list_results(lab.work("/review it"))
    assert refusal == "not allowed: the skill /review may use only: Read"
    assert text == "a!"
    assert list_results(lab.work("go")) == [("tool", "a!")]
    assert lab.session.messages[0].text == "Review it."


def test_a_sub_agent_of_the_model_works_apart_and_within_the_limits(tmp_path: Path) -> None:
    lab = Lab(
        tmp_path,
        load("audit", "a.py"),
        call(("Edit", "a"), ("Read", "a")),  # the sub-agent's
        say("It is fine."),
        call(("Edit", "b")),
        say("done"),
    )
    events = lab.work("go")
    assert list_results(events) == [
        ("denied", "not allowed: the skill /audit may use only: Read"),
        ("tool", "a!"),
        ("tool", "It is fine."),
        ("tool", "b!"),
    ]
    _, first, *_ = lab.model.requests
    assert [message.text for message in first.messages] == ["Review a.py."]
    assert SKILL not in {tool.name for tool in first.tools}
    assert lab.subagents.runs[0].name == "general-purpose 1"
    assert lab.subagents.runs[0].description == "/audit"


def test_the_user_gets_the_answer_of_a_sub_agent_and_the_conversation_no_more(
    tmp_path: Path,
) -> None:
    lab = Lab(tmp_path, say("I know."), a=call(("Read", "a")), b=say("It is fine."))
    events = lab.work("/find a.py")
    assert get_end(events) == SessionEnd("end_turn", "It is fine.")
    assert TextDelta("It is fine.") in events  # so it is shown
    assert list_results(events) == [("tool", "a!")]
    assert lab.model.requests == []
    assert lab.small.requests[0].system == BUILT_IN_AGENTS[0].instructions
    lab.work("And now?")
    texts = [message.text for message in lab.model.requests[0].messages]
    assert texts == ["/find a.py", "It is fine.", "And now?"]


def test_a_sub_agent_that_fails_ends_the_work_with_its_reason(tmp_path: Path) -> None:
    lab = Lab(tmp_path, [ModelError("no such model", "request")], say("done"))
    end = get_end(lab.work("/audit"))
    assert end.reason == "error"
    assert end.message == "general-purpose 1 did not finish: no such model"
    assert get_end(lab.work("go")).text == "done"
    assert lab.session.messages[1].text == f"error: {end.message}"


def test_an_unknown_kind_of_agent_has_near_misses(tmp_path: Path) -> None:
    lab = Lab(tmp_path, say("done"))
    assert "there is no agent 'nobody'" in lab.load("odd").result.text
    assert "there is no agent 'nobody'" in get_end(lab.work("/odd")).message


def test_a_stop_ends_the_sub_agent(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    stop = lab.session.toolbox.context.stop
    lab.model.replies = [[stop.request, *say("late")]]
    assert get_end(lab.work("/audit")).reason == "cancelled"


def test_a_bug_in_a_sub_agent_does_not_hang(tmp_path: Path) -> None:
    lab = Lab(tmp_path)  # which has no reply
    with pytest.raises(IndexError):
        lab.work("/audit")


def test_long_instructions_stay_when_old_results_are_cut(tmp_path: Path) -> None:
    lines = "".join(f"{number}. {'x' * 90}\n" for number in range(400)) + "y" * 20_000
    reads = [call(("Read", "z" * 20_000 + str(number))) for number in range(6)]
    lab = Lab(tmp_path, load("long"), *reads, say("done"))
    skills = lab.session.toolbox.context.skills.skills
    skills["long"] = replace(skills["review"], name="long", instructions=lines)
    lab.work("go")
    texts = [r.text for m in lab.model.requests[-1].messages for r in m.results]
    assert texts[0].replace("\n", "") == lines.replace("\n", "")
    assert len(texts[1]) < 100
