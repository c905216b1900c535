"""Define the events that a session of the agent yields; whoever shows them decides how."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from cub.agent.conversation import ReasoningBlock, ToolCall, ToolResult
from cub.agent.model import FailureKind, StopReason, TextDelta
from cub.edit.plan import PlanWarning
from cub.tokens import TokenUsage

# How a session may end. `error`: the model did not answer; `repetition`: it made the same call over
# and over; `budget`: it cost more than it may; `empty`: it gave neither text nor a call, twice;
# `gate`: the project's checks still fail.
SessionEndReason = Literal[
    "end_turn", "max_tokens", "refusal", "cancelled", "max_turns", "budget", "repetition", "empty",
    "gate",
    "error",
]  # fmt: skip
ResultSource = Literal["tool", "cache", "denied", "cancelled"]


class ReplyText(NamedTuple):
    """Hold a text of a reply up to a call or its end, which came in pieces before."""

    text: str


class RequestRetry(NamedTuple):
    """Say that a request failed and is made again; pieces of its text no longer count.

    `number` counts the retries from 1; `seconds` is the time until the next one.
    """

    number: int
    seconds: float
    kind: FailureKind
    reason: str


class ToolStart(NamedTuple):
    """Say that a call begins; `summary` has the tool and what the call is about, on one line."""

    call: ToolCall
    summary: str


class Answer(NamedTuple):
    """Hold what a person answers to a question; the model gets `words` if the answer is no."""

    choice: Literal["once", "always", "no"]
    words: str = ""


class Question(NamedTuple):
    """Ask whether a call may run: all that it is about, and why it needs approval.

    Whoever shows the events calls `answer`, now or later, in any thread; until then the call waits,
    and all that come after it. `rule` is the permission rule that `always` adds to the session, ""
    for a call that is not to be allowed for good. `is_allowed` tells whether a rule that was added
    since allows the call. `agent` is the sub-agent that makes it, "" for the session itself.
    """

    call: ToolCall
    text: str
    reason: str
    rule: str
    answer: Callable[[Answer], None]
    is_allowed: Callable[[], bool] = lambda: False
    agent: str = ""


class ToolEnd(NamedTuple):
    """Hold what a call has led to, and where that is from; `preview` is for people, or ""."""

    call: ToolCall
    result: ToolResult
    source: ResultSource
    seconds: float
    summary: str
    preview: str = ""


class TurnEnd(NamedTuple):
    """Say that a turn is over: a request, its reply, and the calls in it.

    Turns count from 1; `usd` is None if the price is not known. `usage` is the turn's own.
    """

    number: int
    stop_reason: StopReason
    usage: TokenUsage
    usd: float | None
    model: str


class Compaction(NamedTuple):
    """Say that the conversation was made shorter: by how many tokens, as an estimate.

    `micro` cuts old results of tools; `auto` replaces old messages with a summary, whose request
    used `usage`; `cut` shortens recent results or removes old messages without a summary.
    """

    kind: Literal["micro", "auto", "cut"]
    tokens_before: int
    tokens_after: int
    usage: TokenUsage = TokenUsage()
    usd: float | None = None


class CacheStatistics(NamedTuple):
    """Count what the explore cache did in a session."""

    entries: int
    hits: int
    misses: int
    invalidations: int
    evictions: int


class SessionEnd(NamedTuple):
    """Say why a session has ended; `text` is the last reply's, `message` explains a failure.

    `kind` is the kind of failure for `error`, else "".
    """

    reason: SessionEndReason
    text: str
    message: str = ""
    kind: FailureKind | Literal[""] = ""


class ServersConnect(NamedTuple):
    """Name the MCP servers that the first request waits for, or tell which tools are missing now.

    There are no names once each server is connected or has failed.
    """

    names: tuple[str, ...]
    warnings: tuple[PlanWarning, ...] = ()


class GateStart(NamedTuple):
    """Say that a round of reviewing the end of the work begins, by how many judges.

    In round 0, a call waits for the checks of the files as they are before the first change.
    """

    round: int
    judges: int


class GateCheck(NamedTuple):
    """Hold what a check of the project says: nothing is worse, or what is, in one line and all."""

    command: str
    is_ok: bool
    summary: str = ""
    details: str = ""


class GateVerdict(NamedTuple):
    """Hold what a judge says; None for `is_complete` if it gave no verdict, for this reason.

    `suggestions` say what is left to do.
    """

    judge: str
    is_complete: bool | None
    reasoning: str
    usage: TokenUsage = TokenUsage()
    usd: float | None = None
    suggestions: tuple[str, ...] = ()


class GateEnd(NamedTuple):
    """Say whether a round has accepted the work, and what the model is told if it has not."""

    round: int
    is_accepted: bool
    request: str = ""


class SubagentEvent(NamedTuple):
    """Hold what happens in a sub-agent, which has a name such as `Explore 2`."""

    agent: str
    event: RequestRetry | ToolStart | ToolEnd | TurnEnd | Compaction


# What a tool may have to show while it runs.
ToolEvent = SubagentEvent | Question | GateStart
SessionEvent = (
    TextDelta | ReasoningBlock | ReplyText | RequestRetry | ToolStart | Question
    | ToolEnd | SubagentEvent | TurnEnd | GateStart | GateCheck | GateVerdict | GateEnd | Compaction
    | ServersConnect | CacheStatistics | SessionEnd
)  # fmt: skip
