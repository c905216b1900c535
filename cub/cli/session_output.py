"""Show what happens in a session of the built-in agent: as text, as one JSON value, or as events.

The events are those of the protocol that `cub run` reads from any agent, and some more, which it
passes over: `reasoning`, `tool_result`, `retry`, `compaction`, `cache` and `end`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cub.agent.conversation import ReasoningBlock
from cub.agent.events import (
    CacheStatistics,
    Compaction,
    GateCheck,
    GateEnd,
    GateStart,
    GateVerdict,
    ReplyText,
    RequestRetry,
    ServersConnect,
    SessionEnd,
    SessionEvent,
    SubagentEvent,
    ToolEnd,
    ToolStart,
    TurnEnd,
)
from cub.agent.loop import AgentSession
from cub.agent.session_budget import SessionBudget
from cub.agent.session_store import make_session_id
from cub.cli import output
from cub.cli.session_view import SessionView, describe_use
from cub.masking import mask_text
from cub.tokens import TokenUsage

JsonTree = dict[str, Any]
_MAX_RESULT = 2_000  # characters of a tool's result in an event


class _SummaryPrinter:
    """Print the answer, as text or JSON, and what is done on the way to stderr.

    On a terminal, text is printed as it comes; elsewhere stdout gets the last reply alone, since
    only the end tells which one that is.
    """

    def __init__(self, root: Path, *, is_json: bool, is_debug: bool) -> None:
        self._root, self._is_json = root, is_json
        self._streams = not is_json and sys.stdout.isatty()
        self._view = SessionView(streams_text=self._streams, is_debug=is_debug)
        self._denied: list[str] = []
        self._last_text = ""
        self._session_id = ""

    @contextmanager
    def follow(self, session_id: str) -> Iterator[None]:
        """Show inside the context that something goes on; `session_id` is "" if it is not saved."""
        self._session_id = session_id
        with self._view.follow():
            yield

    def show(self, event: SessionEvent) -> None:
        """Print a line for a call or a retry; with debug, for all else."""
        match event:
            case ReplyText():
                self._last_text = event.text
            case ToolStart():  # the answer is the text that no call follows
                for line in () if self._streams else self._last_text.splitlines():
                    self._view.print_message(line)
                self._last_text = ""
            case ToolEnd(source="denied", summary=summary):
                self._denied.append(summary)
            case SubagentEvent(agent, ToolEnd(source="denied", summary=summary)):
                self._denied.append(f"{agent}: {summary}")
        self._view.show(event)

    def resume(self) -> None:
        """Show that work goes on after an answer."""
        self._view.resume()

    def finish(self, session: AgentSession, end: SessionEnd) -> None:
        """Print the answer, and why the session ended if the answer does not say."""
        if self._is_json:
            output.print_json(self._to_json(session, end))
        elif end.text and not self._streams:
            output.print_bytes(f"{end.text.rstrip()}\n".encode("utf-8", "replace"))
        if end.message:
            output.print_message(f"The session ended: {end.message}")
        output.print_message(describe_use(session.budget))

    def _to_json(self, session: AgentSession, end: SessionEnd) -> JsonTree:
        return {
            "v": 1,
            "root": self._root.as_posix(),
            "result": end.text,
            "session": self._session_id or None,
            "reason": end.reason,
            "message": end.message,
            "model": session.model.name,
            "turns": session.budget.turns,
            "tokens": session.budget.usage._asdict() if any(session.budget.usage) else None,
            "usd": session.budget.usd if any(session.budget.usage) else None,
            "denied": self._denied,
        }


class _StreamPrinter:
    """Print an event a line.

    Agents in the background have used more than the events of the session say: that comes at the
    end, when they have ended.
    """

    def __init__(self) -> None:
        self._reported = SessionBudget()

    @contextmanager
    def follow(self, session_id: str) -> Iterator[None]:
        """Print the session's id; a new one if it is "", as the session is not saved."""
        _print_events([{"type": "session", "id": session_id or make_session_id()}])
        yield

    def show(self, event: SessionEvent) -> None:
        """Print what corresponds to an event."""
        inner = event.event if isinstance(event, SubagentEvent) else event
        if isinstance(inner, TurnEnd | Compaction | GateVerdict) and any(inner.usage):
            self._reported.add_cost(inner.usage, inner.usd)
        if isinstance(event, ServersConnect):
            output.print_warnings(event.warnings)
        elif not isinstance(event, SessionEnd):
            _print_events(_list_json_events(event))

    def resume(self) -> None:
        """Print nothing."""

    def finish(self, session: AgentSession, end: SessionEnd) -> None:
        """Print what was used besides, and the end."""
        total, reported = session.budget, self._reported
        usage, usd = total.usage.subtract(reported.usage), None
        if any(usage) and total.usd is not None and reported.usd is not None:
            usd = round(total.usd - reported.usd, 6)
        _print_events(_list_usage_events(usage, usd))
        _print_events(_list_json_events(end))


SessionPrinter = _SummaryPrinter | _StreamPrinter


def choose_printer(output_format: str, root: Path, *, is_debug: bool) -> SessionPrinter:
    """Return the printer for text, json or stream-json; `is_debug` adds lines to stderr."""
    if output_format == "stream-json":
        return _StreamPrinter()
    is_json = output_format == "json"
    return _SummaryPrinter(root, is_json=is_json, is_debug=is_debug)


def _print_events(trees: Iterable[JsonTree]) -> None:
    for tree in trees:
        masked = {k: mask_text(v) if isinstance(v, str) else v for k, v in tree.items()}
        output.print_json_line(masked)


def _list_json_events(event: SessionEvent) -> Iterator[JsonTree]:
    """Yield events of the protocol; calls of a sub-agent begin with its name."""
    match event:
        case SubagentEvent():
            for tree in _list_own_events(event.event):
                is_call = tree["type"] in ("tool", "denied")
                yield {**tree, "text": f"{event.agent}: {tree['text']}"} if is_call else tree
        case GateStart() | GateCheck() | GateVerdict() | GateEnd():
            yield from _list_gate_events(event)
        case _:
            yield from _list_own_events(event)


def _list_own_events(event: SessionEvent) -> Iterator[JsonTree]:
    match event:
        case ReplyText():
            yield {"type": "text", "text": event.text}
        case ReasoningBlock(text=str(text)) if text:
            yield {"type": "reasoning", "text": text}
        case ToolStart():
            yield {"type": "tool", "text": event.summary}
        case ToolEnd():
            yield from _list_tool_events(event)
        case RequestRetry():
            yield from _list_failure_events(event.kind, event.reason)
            yield {"type": "retry", "n": event.number, "seconds": round(event.seconds, 1)}
        case TurnEnd():
            yield {"type": "model", "text": event.model}
            yield from _list_usage_events(event.usage, event.usd)
        case Compaction():
            yield from _list_usage_events(event.usage, event.usd)
            tokens = {"tokens_before": event.tokens_before, "tokens_after": event.tokens_after}
            yield {"type": "compaction", "kind": event.kind, **tokens}
        case CacheStatistics():
            yield {"type": "cache", **event._asdict()}
        case SessionEnd():
            yield from _list_failure_events(event.kind, event.message)
            yield from _list_end_events(event)


def _list_gate_events(
    event: GateStart | GateCheck | GateVerdict | GateEnd,
) -> Iterator[JsonTree]:
    match event:
        case GateStart():
            yield {"type": "eval_start", "round": event.round, "judges": event.judges}
        case GateCheck():
            facts = {"command": event.command, "ok": event.is_ok, "text": event.summary}
            yield {"type": "eval_check", **facts}
        case GateVerdict():
            yield from _list_usage_events(event.usage, event.usd)
            facts = {"judge": event.judge, "complete": event.is_complete}
            yield {"type": "eval_judge_verdict", **facts, "text": event.reasoning}
        case GateEnd():
            facts = {"round": event.round, "passed": event.is_accepted, "text": event.request}
            yield {"type": "eval_complete", **facts}


def _list_failure_events(kind: str, reason: str) -> Iterator[JsonTree]:
    """Yield an event for what keeps the model from replying."""
    if kind:
        yield {"type": "setup" if kind == "request" else kind, "text": reason}


def _list_end_events(end: SessionEnd) -> Iterator[JsonTree]:
    """Yield the end and the result; why there was no reply is no word of the model's."""
    texts = [end.text, end.message]
    if end.reason in ("error", "cancelled"):
        yield {"type": "text", "text": texts.pop(), "failed": True}
    yield {"type": "end", "reason": end.reason, "message": end.message}
    text = "\n\n".join(filter(None, texts))
    yield {"type": "result", "text": text, "failed": end.reason != "end_turn"}


def _list_tool_events(event: ToolEnd) -> Iterator[JsonTree]:
    if event.source == "denied":
        yield {"type": "denied", "text": event.summary}
    yield {
        "type": "tool_result",
        "tool": event.call.name,
        "text": mask_text(event.result.text)[:_MAX_RESULT],
        "is_error": event.result.is_error,
        "source": event.source,
        "seconds": round(event.seconds, 3),
    }


def _list_usage_events(usage: TokenUsage, usd: float | None) -> Iterator[JsonTree]:
    if any(usage):
        yield {"type": "usage", **usage._asdict()}
    if usd is not None:
        yield {"type": "cost", "usd": usd}
