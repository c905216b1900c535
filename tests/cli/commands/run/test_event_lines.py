"""The lines of events: what is not known is named."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from cub.actions.ledger_report import count_attempts
from cub.actions.run.run_context import Budget
from cub.actions.run.run_status import RunStatus
from cub.cli.commands.ledger import format_attempt_details, format_attempt_row, format_stats_rows
from cub.cli.commands.run.event_lines import format_event_lines
from cub.cli.commands.run.live_view import list_status_rows
from cub.store.events import Event, tokens_to_json
from cub.tokens import TokenUsage

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


def test_tokens_are_counted_in_one_way_everywhere() -> None:
    usage = TokenUsage(400, 100, 2000, 80)
    event: Event = {"ev": "attempt_end", "ok": True, "dur_s": 1.0, "usd": 0.5, "usd_src": "none"}
    event["tok"] = tokens_to_json(usage)
    status = RunStatus()
    status.apply_event({"ev": "client", "type": "usage", **usage._asdict()})
    used = Budget(tokens=580).with_attempt(usage, None)
    stats = format_stats_rows(count_attempts([event]))
    assert "580 tokens" in attempt(**event)
    assert "580 tokens" in run_end(**used.to_json())
    assert "580 tokens" in "\n".join(format_attempt_details(event))
    assert format_attempt_row(event)[5] == "580"
    assert [row[4] for row in stats] == ["580", "580"]
    assert "580 tokens" in dict(list_status_rows(status, datetime.now(UTC)))["run"]
    assert (used.is_exceeded, used.describe_overrun()) == (True, "580 of 580 tokens are used up")


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
