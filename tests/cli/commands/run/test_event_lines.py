"""The lines of events: what is not known is named."""

from __future__ import annotations

from typing import Any

import pytest

from cub.cli.commands.run.event_lines import format_event_lines

TOKENS = {"in": 1200, "out": 300, "cache_read": 9000, "cache_write": 0}


def attempt(**facts: Any) -> str:
    (line,) = format_event_lines({"ev": "attempt_end", "ok": True, "dur_s": 12.0, **facts})
    return line.partition("no change ")[2]


def run_end(**facts: Any) -> str:
    event = {"ev": "run_end", "tasks": {}, "end": "done", "ok": True, "ready": 0, "attempts": 2}
    return [*format_event_lines({**event, **facts})][-1]


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({}, "usage not reported"),
        ({"tok": dict.fromkeys(TOKENS, 0), "usd": 0.0, "usd_src": "none"}, "usage not reported"),
        ({"tok": None, "usd": None, "usd_src": "none"}, "usage not reported"),
        ({"tok": TOKENS, "usd": None, "usd_src": "none"}, "1,500 tokens, cost not reported"),
        ({"usd": 0.5, "usd_src": "reported"}, "tokens not reported, $0.50"),
        ({"tok": TOKENS, "usd": 0.0, "usd_src": "reported"}, "1,500 tokens, $0.00"),
        ({"tok": TOKENS, "usd": 0.123, "usd_src": "computed"}, "1,500 tokens, ≈ $0.12"),
    ],
)
def test_what_was_used_or_that_it_is_not_known(facts: dict[str, Any], text: str) -> None:
    assert attempt(**facts) == f"(12 s, {text})"
    assert run_end(**facts) == f"2 attempts, {text}"


def test_nothing_is_said_of_what_no_agent_was_started_for() -> None:
    assert attempt(dur_s=0.0) == "(0.0 s)"
    assert run_end(attempts=0) == "All that was ready is done."


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({}, "Stopped: this machine has no room, or has reached a limit."),
        (
            {"failures": 6},
            "Stopped: 6 attempts in a row failed for the same reason, which is not the tasks'.",
        ),
    ],
)
def test_an_end_that_is_not_the_tasks_fault_is_told_as_it_is(
    facts: dict[str, Any], text: str
) -> None:
    assert run_end(attempts=0, end="machine", ok=False, why="429", **facts) == text
