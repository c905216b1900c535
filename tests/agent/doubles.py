"""Tools, toolboxes and models for the tests of the built-in agent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from cub.agent.context_window import SessionLimits
from cub.agent.conversation import ToolCall
from cub.agent.executor import Toolbox
from cub.agent.explore_cache import ExploreCache
from cub.agent.loop import AgentSession
from cub.agent.memory import Memory
from cub.agent.model import Model, ModelError, ModelRequest, ReplyEnd, ReplyEvent, TextDelta
from cub.agent.permissions import PermissionMode, Permissions
from cub.agent.tools.tool import Tool, ToolContext, ToolEffect, ToolOutput, define_tool
from cub.processes.command import StopRequest


class WordArguments(NamedTuple):
    word: str = ""


def make_tool(
    name: str,
    run: Callable[[WordArguments, ToolContext], ToolOutput],
    effect: ToolEffect = "read",
) -> Tool:
    return define_tool(name, f"Does {name}.", WordArguments, run, effect, subject="word")


def echo(arguments: WordArguments, _: ToolContext) -> ToolOutput:
    return ToolOutput(f"{arguments.word}!")


OPEN_STOPS: list[StopRequest] = []  # each has two open files, which are closed after the test


def close_stops() -> None:
    while OPEN_STOPS:
        OPEN_STOPS.pop().close()


class NamedRules(Memory):
    """Rules for files, by their names."""

    def __init__(self, **rules: str) -> None:
        super().__init__(Path())
        self.rules = rules
        self.restored = 0

    def take_rules(self, path: Path) -> str:
        return self.rules.get(path.stem, "")

    def restore_rules(self) -> None:
        self.restored += 1

    def copy(self) -> NamedRules:
        return NamedRules(**self.rules)


def make_toolbox(
    folder: Path,
    tools: Iterable[Tool],
    mode: PermissionMode = "bypass",
    rules: Memory | None = None,
) -> Toolbox:
    folder, stop = folder.resolve(), StopRequest()
    OPEN_STOPS.append(stop)
    return Toolbox(
        {tool.name: tool for tool in tools},
        ToolContext(folder, folder, {"PATH": "/usr/bin:/bin"}, stop),
        Permissions(mode),
        ExploreCache(),
        rules or NamedRules(),
    )


Step = ReplyEvent | ModelError | Callable[[], object]


class FakeModel:
    """Plays one list of steps for each request, and keeps the requests."""

    def __init__(self, *replies: Iterable[Step], name: str = "fake") -> None:
        self.name = name
        self.replies = [list(reply) for reply in replies]
        self.requests: list[ModelRequest] = []

    def stream_reply(self, request: ModelRequest) -> Iterator[ReplyEvent]:
        self.requests.append(request)
        for step in self.replies.pop(0):
            if isinstance(step, ModelError):
                raise step
            if callable(step):
                step()
            else:
                yield step

    def close(self) -> None:
        self.replies.clear()


Replies = Callable[[ModelRequest], Iterable[ReplyEvent]]


class PromptModel:
    """Answers each request by a function of it: agents ask at the same time."""

    def __init__(self, reply: Replies, name: str = "main") -> None:
        self.name, self.reply = name, reply
        self.requests: list[ModelRequest] = []
        self.is_closed = False

    def stream_reply(self, request: ModelRequest) -> Iterator[ReplyEvent]:
        self.requests.append(request)
        yield from self.reply(request)

    def close(self) -> None:
        self.is_closed = True


def say(text: str, end: ReplyEnd | None = None) -> list[Step]:
    return [TextDelta(text), end or ReplyEnd("end_turn")]


def call(*calls: tuple[str, str]) -> list[Step]:
    """A reply that calls tools, each with a word."""
    steps: list[Step] = [
        ToolCall(f"{name}-{word}-{number}", name, {"word": word})
        for number, (name, word) in enumerate(calls)
    ]
    return [*steps, ReplyEnd("tool_use")]


def make_session(
    toolbox: Toolbox,
    model: Model,
    small_model: Model | None = None,
    limits: SessionLimits | None = None,
) -> AgentSession:
    limits = limits or SessionLimits(1_000, 160_000)
    return AgentSession(
        model, small_model or FakeModel(), toolbox, "Be good.", limits, get_random=lambda: 0.5
    )
