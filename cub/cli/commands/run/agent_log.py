"""Print what an agent reported, without secrets: as lines for a person, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cub.actions.ledger_report import format_agent_label
from cub.actions.run.past_attempts import PastAttempt
from cub.checks.terminal_text import to_plain_text
from cub.cli import output
from cub.cli.terminal import add_style
from cub.cli.time_format import format_local_time
from cub.harness.base import AgentEvent
from cub.masking import StreamMasker, mask_text

# How lines begin that are neither text nor a tool; other kinds have no line.
_LABELS = {
    "denied": "not allowed", "limit": "limit", "login": "login", "service": "service",
    "setup": "setup",
}  # fmt: skip


class AgentLogFormatter:
    """Turn the events of one attempt into lines.

    Text is shown when its line is whole: a secret may come in several pieces.
    """

    def __init__(self) -> None:
        self._open = ""
        self._said = ""
        self._masker = StreamMasker()

    def format_event(self, event: AgentEvent) -> Iterator[str]:
        """Yield the lines that an event completes."""
        if event.kind == "text":
            self._said += event.text
            *lines, self._open = (self._open + event.text).split("\n")
            yield from map(self._mask_line, lines)
            return
        if event.kind == "tool":
            self._said = ""
            yield from self._format_tool(event.text)
        elif event.kind == "result":
            yield from self._format_result(event)
        elif label := _LABELS.get(event.kind):
            yield from self.finish_line()
            yield add_style(f"{label}: {_get_first_line(event.text)}", "yellow")

    def finish_line(self) -> Iterator[str]:
        """Yield the last line if no newline ended it."""
        if self._open:
            yield self._mask_line(self._open)
        self._open = ""

    def _format_tool(self, text: str) -> Iterator[str]:
        yield from self.finish_line()
        if line := _get_first_line(text):
            yield add_style(f"> {line}", "cyan")

    def _format_result(self, event: AgentEvent) -> Iterator[str]:
        """Yield the final message, unless the agent has just said it."""
        yield from self.finish_line()
        text = event.text.strip()
        if text and not self._said.strip().endswith(text):
            yield from map(self._mask_line, text.split("\n"))
        if event.failed:
            yield add_style("The agent says that it failed.", "red")

    def _mask_line(self, line: str) -> str:
        line = to_plain_text(line) if "\x1b" in line else line  # escapes could hide a secret
        return self._masker.mask(f"{line}\n").removesuffix("\n")


def _get_first_line(text: str) -> str:
    """Return the first line without secrets, with … if there are more."""
    first, _, rest = text.strip().partition("\n")
    return mask_text(to_plain_text(first)) + " …" * bool(rest)


class AgentLogPrinter:
    """Print attempts and their events, as lines for a person or as JSON."""

    def __init__(self, *, json: bool) -> None:
        self._json = json
        self._identity: dict[str, Any] = {}
        self._formatter: AgentLogFormatter | None = None

    def start_attempt(self, attempt: PastAttempt) -> None:
        """Print which attempt comes."""
        event = attempt.event
        if not self._json and self._formatter:
            output.print_line()
        self._identity = {name: event.get(name) for name in ("run", "task", "n")}
        self._formatter, self._masker = AgentLogFormatter(), StreamMasker()
        if not self._json:
            agent, at = format_agent_label(event), format_local_time(event.get("ts", "?"))
            output.print_heading(f"{event['task']}: attempt {event['n']}, {agent}, {at}")

    def print_event(self, event: AgentEvent) -> None:
        """Print an event, if there is something to say."""
        if self._json:
            mask = self._masker.mask if event.kind == "text" else mask_text
            masked = event._replace(text=mask(event.text))
            output.print_json_line({"v": 1, **self._identity, **masked.to_dict()})
        elif self._formatter:
            self._print_lines(self._formatter.format_event(event))

    def finish(self) -> None:
        """Print the last line of an attempt if no newline ended it."""
        if self._formatter:
            self._print_lines(self._formatter.finish_line())

    def _print_lines(self, lines: Iterator[str]) -> None:
        for line in lines:
            for part in output.wrap_line(line, ""):
                output.print_flushed_line(part)
