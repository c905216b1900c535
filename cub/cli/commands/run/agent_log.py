"""Format what an agent reported as lines for a person, without secrets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cub.checks.terminal_text import to_plain_text
from cub.cli.terminal import add_style
from cub.masking import StreamMasker, mask_text

if TYPE_CHECKING:
    from cub.harness.base import AgentEvent

# How lines begin that are neither text nor a tool; other kinds have no line.
_LABELS = {"denied": "not allowed", "limit": "limit", "login": "login", "service": "service"}


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
            yield add_style(f"{label}: {_get_first_line(event.text)}", fg="yellow")

    def finish_line(self) -> Iterator[str]:
        """Yield the last line if no newline ended it."""
        if self._open:
            yield self._mask_line(self._open)
        self._open = ""

    def _format_tool(self, text: str) -> Iterator[str]:
        yield from self.finish_line()
        if line := _get_first_line(text):
            yield add_style(f"> {line}", fg="cyan")

    def _format_result(self, event: AgentEvent) -> Iterator[str]:
        """Yield the final message, unless the agent has just said it."""
        yield from self.finish_line()
        text = event.text.strip()
        if text and not self._said.strip().endswith(text):
            yield from map(self._mask_line, text.split("\n"))
        if event.failed:
            yield add_style("The agent says that it failed.", fg="red")

    def _mask_line(self, line: str) -> str:
        line = to_plain_text(line) if "\x1b" in line else line  # escapes could hide a secret
        return self._masker.mask(f"{line}\n").removesuffix("\n")


def _get_first_line(text: str) -> str:
    """Return the first line without secrets, with … if there are more."""
    first, _, rest = text.strip().partition("\n")
    return mask_text(to_plain_text(first)) + " …" * bool(rest)
