"""Events of an agent as lines: text and tools, and no secret in them."""

from __future__ import annotations

import pytest

from cub.cli.commands.run.agent_log import AgentLogFormatter
from cub.cli.terminal import render_styles
from cub.harness.base import AgentEvent
from cub.tokens import TokenUsage

KEY = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
SAID = AgentEvent("text", "I look.\n")


def formatted(*events: AgentEvent) -> list[str]:
    log = AgentLogFormatter()
    lines = [line for event in events for line in log.format_event(event)]
    return [render_styles(line, use_color=False) for line in (*lines, *log.finish_line())]


@pytest.mark.parametrize(
    ("events", "lines"),
    [
        ([], []),
        ([AgentEvent("text", "I "), AgentEvent("text", "look.\n\nNow")], ["I look.", "", "Now"]),
        ([AgentEvent("text", "Now"), AgentEvent("tool", " edit a\nb\n")], ["Now", "> edit a …"]),
        ([AgentEvent("tool", "  ")], []),
        ([AgentEvent("usage", tokens=TokenUsage(1)), AgentEvent("other")], []),
        ([AgentEvent("denied", "rm -r")], ["not allowed: rm -r"]),
        ([AgentEvent("limit", "resets 3pm\nx")], ["limit: resets 3pm …"]),
        ([SAID, AgentEvent("result", "I look.")], ["I look."]),
        ([SAID, AgentEvent("tool", "edit"), AgentEvent("result", "I look.")],
         ["I look.", "> edit", "I look."]),
        ([AgentEvent("result", "a\nb", failed=True)], ["a", "b", "The agent says that it failed."]),
        ([AgentEvent("result", "", failed=False)], []),
    ],
)  # fmt: skip
def test_lines(events: list[AgentEvent], lines: list[str]) -> None:
    assert formatted(*events) == lines


@pytest.mark.parametrize(
    "events",
    [
        [AgentEvent("text", f"key {KEY[:9]}"), AgentEvent("text", f"{KEY[9:]}\n")],
        [AgentEvent("text", f"key {KEY[:9]}\x1b[0m{KEY[9:]}")],
        [AgentEvent("tool", f"curl {KEY}")],
        [AgentEvent("denied", f"curl {KEY}")],
        [AgentEvent("result", f"key {KEY}")],
    ],
)
def test_secrets_are_masked(events: list[AgentEvent]) -> None:
    (line,) = formatted(*events)
    assert "[masked]" in line
    assert KEY[9:] not in line
