"""Start agents that work on a part of a task in a conversation of their own: the Task tool.

The agent that calls one gets its answer, and not what led to it. What a sub-agent costs counts in
the session; a stop of the session ends it, and its end stops nothing above.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from threading import Thread
from typing import Annotated, Literal, NamedTuple, TypeVar

from cub.agent.agent_types import GENERAL_PURPOSE, AgentType
from cub.agent.events import (
    Answer,
    Compaction,
    GateStart,
    Question,
    RequestRetry,
    SessionEnd,
    SessionEvent,
    SubagentEvent,
    ToolEnd,
    ToolEvent,
    ToolStart,
    TurnEnd,
)
from cub.agent.loop import AgentSession, ReviewResult
from cub.agent.model import Model
from cub.agent.session_budget import SessionBudget
from cub.agent.tools.tool import Tool, ToolContext, ToolOutput, define_tool
from cub.agent.tools.tool_arguments import ToolError
from cub.processes.command import StopRequest
from cub.text import find_first_line, suggest_known

T = TypeVar("T")
TASK = "Task"
SKILL = "Skill"
MAX_DEPTH = 5
_SMALL_MODEL = "small"
_POLL_SECONDS = 0.1
_DESCRIPTION = """\
Give a part of the work to a sub-agent, which has a conversation of its own, and get its answer.
- It knows nothing of this conversation: write all that it needs into the prompt.
- Several calls in one reply run at the same time. Let no two of them change the same files.
- With run_in_background, the call returns at once, and the answer comes in a later message; not \
for a sub-agent, which gets it from the call.
- Don't use it for what one or two calls of other tools find.

Types:\
"""


class TaskArguments(NamedTuple):
    """Hold what a sub-agent is to do. `description` is for people who follow a session."""

    prompt: Annotated[str, "The task, with all that the agent has to know, and what to answer."]
    description: Annotated[str, "What it does, in three to five words."] = ""
    subagent_type: Annotated[str, "The type of the agent."] = GENERAL_PURPOSE.name
    run_in_background: Annotated[bool, "Return at once, and go on with other work."] = False


@dataclass(slots=True)
class SubagentRun:
    """Hold what is known of a sub-agent: what it does now, and its answer when it has ended."""

    number: int
    agent: AgentType
    description: str
    budget: SessionBudget
    state: Literal["running", "done", "failed"] = "running"
    activity: str = ""
    answer: str = ""

    @property
    def name(self) -> str:
        """Return its name in events and messages."""
        return f"{self.agent.name} {self.number}"


@dataclass(slots=True)
class Subagents:
    """Start the sub-agents of a session, and remember them for its model and for people.

    `render_system` returns the system prompt for instructions; `load_model` raises CubError for a
    name that belongs to no provider. `announce` is called, in their threads, when agents in the
    background have ended by themselves. These work on while their session waits for a person, and
    end when it is closed.
    """

    session: AgentSession
    types: Mapping[str, AgentType]
    render_system: Callable[[str], str]
    load_model: Callable[[str], Model]
    announce: Callable[[SubagentRun], None] = lambda _: None
    runs: list[SubagentRun] = field(default_factory=list)
    _stop: StopRequest = field(default_factory=StopRequest)  # of those in the background
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))  # agents start in threads
    _threads: list[Thread] = field(default_factory=list)
    # Of those in the background: what has ended, and which calls were denied.
    unread: deque[SubagentRun] = field(default_factory=deque)
    _denied: deque[SubagentEvent] = field(default_factory=deque)
    _models: dict[str, Model] = field(default_factory=dict)  # that only agents have

    def add_to_session(self) -> None:
        """Give the session the tool that starts agents, and end them when it is closed."""
        session = self.session
        session.resources.callback(self.close)
        tools = {**session.toolbox.tools, TASK: self.make_tool(session.budget)}
        session.toolbox = replace(session.toolbox, tools=tools)
        session.take_notices = self.take_notices

    def start_session(
        self, agent: AgentType, context: ToolContext, budget: SessionBudget
    ) -> AgentSession:
        """Return a session for an agent in this context, within this budget.

        The deepest one can't start another one, and none loads skills: its prompt has no list.
        """
        toolbox, limits = self.session.toolbox, self.session.limits
        rules = toolbox.tools if agent.tools is None else agent.tools
        names = {rule.partition("(")[0] for rule in rules} - {SKILL}
        names -= {TASK} if context.depth == MAX_DEPTH else set()
        tools = {name: tool for name, tool in toolbox.tools.items() if name in names}
        if TASK in tools:
            tools[TASK] = self.make_tool(budget)
        context = context.add_limit(f"the agent {agent.name}", agent.tools)
        toolbox = replace(
            toolbox,
            tools=tools,
            context=replace(context, reads=context.reads.copy()),
            cache=toolbox.cache.copy(),
            rules=toolbox.rules.copy(),
        )
        return AgentSession(
            self._find_model(agent.model),
            self.session.small_model,
            toolbox,
            self.render_system(agent.instructions),
            limits._replace(window=None) if agent.model else limits,
            budget=budget,
        )

    def make_tool(self, budget: SessionBudget) -> Tool:
        """Return the tool with which a session, whose budget this is, starts sub-agents."""
        listed = (f"- {row.name}: {row.description}" for row in self.types.values())
        text = "\n".join([_DESCRIPTION, *listed])
        run = partial(self._run_task, budget)
        return define_tool(TASK, text, TaskArguments, run, "agent", subject="description prompt")

    def run_agent(self, run: SubagentRun, prompt: str, context: ToolContext) -> ToolOutput:
        """Have an agent work on a prompt to its end, and return its answer.

        What happens goes to the context's `send`. Raises ToolError as `follow_agent` does.
        """
        for event in self.follow_agent(run, prompt, context):
            context.send(event)
        return ToolOutput(run.answer)

    def follow_agent(
        self, run: SubagentRun, prompt: str, context: ToolContext
    ) -> Iterator[ToolEvent]:
        """Have an agent work on a prompt, yield what happens, and note its answer in the run.

        Raises ToolError if the agent did not come to its end.
        """
        try:
            with context.stop.open_child() as stop:
                child = replace(context, stop=stop, depth=context.depth + 1)
                session = self.start_session(run.agent, child, run.budget)
                end = yield from _follow_session(session, prompt, run)
        finally:
            run.state = "failed"  # unless there is an answer
        if end.reason != "end_turn":
            so_far = f"\n\nIts last words:\n{end.text}" if end.text else ""
            raise ToolError(f"{run.name} did not finish: {end.message or end.reason}{so_far}")
        run.state, run.answer = "done", end.text

    def add_run(self, name: str, description: str, budget: SessionBudget) -> SubagentRun:
        """Return the record of an agent that is about to start, within this budget.

        Raises ToolError if there is none of the name.
        """
        agent = self.types.get(name)
        if agent is None:
            raise ToolError(f"there is no agent {name!r}", hint=suggest_known(name, self.types))
        run = SubagentRun(next(self._numbers), agent, description, SessionBudget(parent=budget))
        self.runs.append(run)
        return run

    def take_notices(self) -> str:
        """Return what agents in the background have answered since the last time; "" for none."""
        return "\n\n".join(
            f'<agent name="{run.name}" task="{run.description}">\n{run.answer}\n</agent>'
            for run in _take_all(self.unread)
        )

    def review_end(
        self, session: AgentSession, _prompt: str, _number: int
    ) -> Generator[SessionEvent, None, ReviewResult]:
        """Wait for the agents in the background, and return their answers, for the session to use.

        Yield the calls that they were not allowed to make.
        """
        self.wait(session.toolbox.context.stop)
        yield from _take_all(self._denied)
        return ReviewResult(self.take_notices())

    def wait(self, stop: StopRequest) -> None:
        """Wait until no agent works in the background any more, or a stop is requested."""
        for thread in self._threads:
            while thread.is_alive() and not stop.is_requested:
                thread.join(_POLL_SECONDS)

    def close(self) -> None:
        """End the agents in the background."""
        self._stop.request()
        for thread in self._threads:
            thread.join()
        self._stop.close()

    def _find_model(self, name: str) -> Model:
        if name in ("", _SMALL_MODEL):
            return self.session.small_model if name else self.session.model
        if name not in self._models:
            self._models[name] = self.load_model(name)
            self.session.resources.callback(self._models[name].close)
        return self._models[name]

    def _run_task(
        self, budget: SessionBudget, arguments: TaskArguments, context: ToolContext
    ) -> ToolOutput:
        prompt = arguments.prompt
        title = arguments.description or find_first_line(prompt)
        run = self.add_run(arguments.subagent_type, title, budget)
        if context.depth or not arguments.run_in_background:  # a sub-agent has no later messages
            return self.run_agent(run, prompt, context)
        # The stop and the events of the call end with the call.
        context = replace(context, stop=self._stop, send=self._take_event)
        thread = Thread(target=self._work_alone, args=(run, prompt, context), daemon=True)
        self._threads.append(thread)
        thread.start()
        return ToolOutput(f"{run.name} has started. Its answer comes in a later message.")

    def _work_alone(self, run: SubagentRun, prompt: str, context: ToolContext) -> None:
        """Run an agent in a thread of its own; whatever happens becomes its answer."""
        try:
            self.run_agent(run, prompt, context)
        except Exception as error:  # noqa: BLE001 - it must not end the session
            run.answer = f"error: {error}"
        self.unread.append(run)
        if not self._stop.is_requested:
            self.announce(run)

    def _take_event(self, event: ToolEvent) -> None:
        """Take what an agent in the background would show: it can't ask."""
        match event:
            case Question():
                words = f"{event.reason}, and a background agent can't ask the user"
                event.answer(Answer("no", words))
            case SubagentEvent(event=ToolEnd(source="denied")):
                self._denied.append(event)


def _follow_session(
    session: AgentSession, prompt: str, run: SubagentRun
) -> Generator[ToolEvent, None, SessionEnd]:
    """Work on a prompt, note what is done, and yield what a person should see or answer."""
    for event in session.work_on(prompt):
        match event:
            case SessionEnd():
                return event
            case Question():
                yield event._replace(agent=event.agent or run.name)
            case SubagentEvent() | GateStart():
                yield event
            case RequestRetry() | ToolStart() | ToolEnd() | TurnEnd() | Compaction():
                run.activity = event.summary if isinstance(event, ToolStart) else run.activity
                yield SubagentEvent(run.name, event)
    raise AssertionError  # a session ends with a SessionEnd


def _take_all(items: deque[T]) -> Iterator[T]:
    """Yield and remove what is there, while threads may add more."""
    while items:
        yield items.popleft()
