"""Show a session of the built-in agent to a person: what it says, what it calls, what it changes.

`cub code -p` and the session at the terminal show it in the same words.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from cub.agent.events import (
    CacheStatistics,
    Compaction,
    GateCheck,
    GateEnd,
    GateStart,
    GateVerdict,
    Question,
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
from cub.agent.model import TextDelta
from cub.agent.session_budget import SessionBudget
from cub.agent.tools.bash import BASH, SUCCESS
from cub.cli import output
from cub.cli.markdown_lines import MARKS, PLAIN_MARKS, MarkdownLines
from cub.cli.spinner import Spinner
from cub.cli.terminal import add_style, choose_marks, get_width
from cub.text import find_first_line, truncate_text

MAX_PREVIEW_LINES, MAX_OUTPUT_LINES = 60, 5  # of a change, and of a command's output
_MAX_OUTPUT_CHARS = 200  # of a line
_INDENT = "  "


class SessionView:
    """Print the calls of a session to stderr, and texts of replies to stdout as they come.

    Without `streams_text`, texts are left to the caller, and so are outputs of commands, of which
    the end is shown. `is_debug` adds lines about each turn.
    """

    def __init__(self, *, streams_text: bool, is_debug: bool) -> None:
        self._streams_text, self._is_debug = streams_text, is_debug
        self._spinner = Spinner()
        self._asked_ids = set[str]()  # a person has seen the change of these calls
        self._started: list[ToolStart] = []  # calls that run
        self._doing = "thinking"  # while there is none
        self._shows_text: bool | None = None  # what was printed last; None before anything
        self._last_id = ""  # of the call that was printed last
        has_styles = output.has_color() and sys.stdout.isatty()
        marks = choose_marks(sys.stdout, MARKS, PLAIN_MARKS)
        self._markdown = MarkdownLines(get_width(sys.stdout), has_styles, marks)

    @contextmanager
    def follow(self) -> Iterator[None]:
        """Show inside the context that something goes on, as long as nothing else is shown."""
        self._markdown.width = get_width(sys.stdout)
        self._started.clear()
        self._doing = "thinking"
        self._shows_text = None
        with self._spinner.open():
            self._spinner.show("thinking")
            yield

    def show(self, event: SessionEvent) -> None:
        """Print what an event is worth."""
        match event:
            case TextDelta():
                self._print_text(self._markdown.feed(event.text))
                return
            case ReplyText() | RequestRetry():
                self._print_text(self._markdown.finish())
            case ToolStart():
                self._started.append(event)
            case Question():
                self._asked_ids.add(event.call.id)
            case ServersConnect():
                self._spinner.hide()
                output.print_warnings(event.warnings)
            case ToolEnd():
                self._started = [one for one in self._started if one.call.id != event.call.id]
        self._doing = _name_work(event) or self._doing
        for line in self._describe(event):
            self.print_message(line)
        if isinstance(event, Question | SessionEnd):
            self._spinner.hide()
        else:
            self.resume()

    def show_progress(self, label: str) -> None:
        """Show another thing that goes on."""
        self._spinner.show(label)

    def resume(self) -> None:
        """Show what goes on, after an event or an answer."""
        self._spinner.show(self._started[-1].summary if self._started else self._doing)

    def print_message(self, text: str) -> None:
        """Print a line to stderr."""
        self._separate(is_text=False)
        output.print_message(text)

    def print_markdown(self, text: str) -> None:
        """Print a text of its own to stdout, as that of a reply is."""
        self._markdown.width = get_width(sys.stdout)
        for line in (*self._markdown.feed(text), *self._markdown.finish()):
            output.print_line(line)

    def _print_text(self, lines: Iterator[str]) -> None:
        if not self._streams_text:
            return
        for line in lines:
            self._separate(is_text=True)
            output.print_line(line)
        sys.stdout.flush()  # before what goes to stderr
        self._spinner.show("writing")

    def _separate(self, *, is_text: bool) -> None:
        """Make room for a line: a blank one stands between texts and calls, if both are here."""
        self._spinner.hide()
        if self._streams_text and self._shows_text not in (None, is_text):
            output.print_line()
        self._shows_text = is_text

    def _describe(self, event: SessionEvent) -> Iterator[str]:
        match event:
            case SubagentEvent():  # lines about a sub-agent begin with its name
                for line in self._describe(event.event):
                    yield f"{_INDENT}{event.agent}: {line}"
            case ToolStart():
                self._last_id = event.call.id
                yield add_style(event.summary, "bold")
            case ToolEnd() if event.source != "cancelled":  # a person knows about a stop
                yield from self._describe_result(event)
            case RequestRetry():
                wait = f" in {event.seconds:.0f} s" if event.seconds else ""
                yield f"{event.reason}; retry {event.number}{wait}"
            case Compaction(kind="auto" | "cut" as kind):
                word = "summarized" if kind == "auto" else "shortened"
                yield f"{word}: {event.tokens_before:,} -> {event.tokens_after:,} tokens"
            case GateStart(round=0):
                yield "waiting for the project's checks, which run before the first change"
            case GateCheck() | GateVerdict():
                yield describe_review(event)
            case _ if self._is_debug:
                yield from _describe_details(event)

    def _describe_result(self, event: ToolEnd) -> Iterator[str]:
        """Yield why a call failed, or what it changed, unless a person was asked about that."""
        if event.result.is_error:
            lines = [add_style(find_first_line(event.result.text), "red")]
        elif event.call.name == BASH.name:
            cut = _cut_output(event.result.text, MAX_OUTPUT_LINES * self._streams_text)
            lines = [add_style(line, "dim") for line in cut]
        elif event.call.id in self._asked_ids:
            lines = []
        else:
            lines = [*map(output.style_diff_line, event.preview.splitlines())]
        if lines and event.call.id != self._last_id:  # another call was printed in between
            yield add_style(event.summary, "bold")
            self._last_id = event.call.id
        yield from (_INDENT + line for line in lines[:MAX_PREVIEW_LINES])
        if more := len(lines[MAX_PREVIEW_LINES:]):
            yield f"{_INDENT}… {more:,} more lines"


def _name_work(event: SessionEvent) -> str:
    """Return what goes on from an event on while no call runs; "" if nothing else than before."""
    match event:
        case ServersConnect(names=names) if names:
            return f"waiting for MCP servers: {', '.join(names)}"
        case GateStart() if event.round:
            return "reviewing the work"
        case ServersConnect() | GateEnd():
            return "thinking"
    return ""


def _cut_output(text: str, limit: int) -> list[str]:
    """Return the last lines of a command's output, after a line that counts the others.

    If the command failed, the first one says how; it is all that is shown with a limit of 0.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    failure = [] if SUCCESS in lines[:1] else lines[:1]
    del lines[: len(failure)]
    more = len(lines) - limit
    cut = [f"… {more:,} more lines"] if limit and more > 0 else []
    shown = (truncate_text(line, _MAX_OUTPUT_CHARS) for line in lines[max(0, more) :])
    return [*failure, *cut, *shown]


def _describe_details(event: SessionEvent) -> Iterator[str]:
    match event:
        case TurnEnd():
            counts = ", ".join(f"{k} {v:,}" for k, v in event.usage._asdict().items() if v)
            price = "" if event.usd is None else f", ${event.usd:.4f}"
            yield f"turn {event.number}: {counts or 'tokens not reported'}{price}"
        case Compaction():
            yield f"old results cut: {event.tokens_before:,} -> {event.tokens_after:,} tokens"
        case CacheStatistics():
            yield f"explore cache: {event.hits} hits, {event.misses} misses"


def describe_review(event: GateCheck | GateVerdict) -> str:
    """Return what a check, or a judge, says of the work."""
    if isinstance(event, GateVerdict):
        words = {True: "complete", False: "not complete", None: "no verdict"}
        return f"judge {event.judge}: {words[event.is_complete]}: {event.reasoning}"
    what, about = f"check `{event.command}`", f": {event.summary}" * bool(event.summary)
    if event.is_ok and about:  # it did not pass, but is no objection
        return what + about
    state = add_style("passed", "green") if event.is_ok else add_style("failed", "red")
    return f"{what} {state}{about}"


def describe_use(budget: SessionBudget) -> str:
    """Return how many turns, tokens, and dollars were used; what is not known says so."""
    turns, usage, usd = budget.turns, budget.usage, budget.usd
    parts = [f"{turns} turn{'s' * (turns != 1)}"]
    if any(usage):
        parts.append(f"{usage.total:,} tokens")
        parts += [f"{usage.cache_read:,} more from the cache"] * bool(usage.cache_read)
        parts.append("cost not known" if usd is None else f"${usd:.4f}")
    else:
        parts.append("tokens not reported")
    return ", ".join(parts)
