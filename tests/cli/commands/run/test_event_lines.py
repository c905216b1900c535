"""The lines of events: what is not known is named."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from cub.actions.ledger_report import count_attempts
from cub.actions.run.run_context import Budget
from cub.actions.run.run_status import RunStatus
from cub.cli.commands.ledger import format_attempt_row, format_stats_rows
from cub.cli.commands.run.event_lines import format_event_lines
from cub.cli.commands.run.live_view import list_status_rows
from cub.cli.event_format import format_attempt_details, format_event
from cub.cli.terminal import strip_styles
from cub.store.events import Event, tokens_to_json
from cub.tokens import TokenUsage

TOKENS = {"in": 1200, "out": 300, "cache_read": 9000, "cache_write": 0}


def attempt(**facts: Any) -> str:
    (line,) = format_event_lines({"ev": "attempt_end", "ok": True, "dur_s": 12.0, **facts})
    return line.partition("no change ")[2]


def lines(event: Event) -> list[str]:
    return [strip_styles(line) for line in format_event_lines(event)]


def run_end(**facts: Any) -> str:
    event = {"ev": "run_end", "tasks": {}, "end": "done", "ok": True, "ready": 0, "attempts": 2}
    return [*format_event_lines({**event, **facts})][-1]


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({}, "usage not reported"),
        ({"tok": dict.fromkeys(TOKENS, 0), "usd": None, "usd_src": "none"}, "usage not reported"),
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
    assert run_end(attempts=0) == "Done: no ready tasks left."


def test_the_details_of_a_failure_are_told_once() -> None:
    check = {"cmd": "make", "exit": 1, "n": 2}
    fail = {"class": "checks_failed", "reason": "too loud", "charge": True}
    event: Event = {"ev": "attempt_end", "n": 2, "ok": False, "dur_s": 0.0, "fail": fail}
    event["checks"] = [check]
    assert lines(event) == ["  checks_failed: too loud (no change, 0.0 s)"]
    details = [*format_attempt_details(event)]
    assert details[1:] == ["reason  too loud", "check   make: exit 1, 2 failing"]
    event["fail"] = {**fail, "same": 1}
    assert lines(event) == ["  checks_failed as in attempt 1 (no change, 0.0 s)"]
    assert [*format_attempt_details(event)][1:] == ["reason  as in attempt 1"]
    ended = {"ev": "check_end", "base": False, "dur_s": 0.1, **check, "same": 1}
    assert lines(ended) == ["  check: make failed as in attempt 1, 2 failing (0.1 s)"]


@pytest.mark.parametrize(
    ("facts", "outcome"),
    [
        ({}, "ok"),
        ({"excused": 0}, "ok"),
        ({"excused": "1"}, "ok"),
        ({"excused": 1}, "ok, 1 known failure excused"),
        ({"excused": 3}, "ok, 3 known failures excused"),
        ({"known_failures": 1}, "ok, 1 known failure left as before"),
    ],
)
def test_known_failures_that_are_left_are_named(facts: Event, outcome: str) -> None:
    event = {"ev": "attempt_end", "n": 1, "ok": True, "dur_s": 0.0, **facts}
    assert lines(event) == [f"  {outcome}: no change (0.0 s)"]
    assert format_event(event).endswith(f"attempt 1: {outcome}")
    assert format_attempt_row(event)[-1] == outcome


def test_a_run_that_fixes_no_known_failure_says_so_and_what_to_do() -> None:
    event = {"ev": "run_end", "tasks": {}, "end": "not_mended", "ok": False, "attempts": 0}
    assert lines({**event, "why": "2 known failures", "hint": "pass --x"})[1:] == [
        "Stopped: the checks failed before the attempt, and no known failure is fixed.",
        "hint: pass --x",
    ]


def test_a_question_is_told_by_the_attempt_and_not_once_more() -> None:
    why = {"why": "it waits for an answer: Which: oven?", "question": "Which: oven?"}
    event = {"ev": "task_state", "task": "s-1", "status": "parked", **why}
    assert [*format_event_lines(event)] == [
        "  s-1 is parked: it waits for an answer",
        "  answer with `cub task edit s-1 --note TEXT`, then `cub task reopen s-1`",
    ]


def test_the_commits_of_a_branch_are_told_once() -> None:
    made = {"n": 1, "list": [{"id": "abc", "subject": "Bake", "task": "s-1"}]}
    branch = {"name": "night", "n": 2, "commits": ["abd Knead", "abc Bake"], "merge": "git merge"}
    event = {"ev": "run_end", "tasks": {}, "end": "done", "ok": True, "attempts": 0}
    assert lines({**event, "commits": made, "branch": branch})[2:] == [
        "", "2 commits are on night:", "  abd Knead", "  abc Bake (s-1)", "", "  git merge",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({}, "Stopped: this machine has no room, or has reached a limit."),
        (
            {"failures": 6, "class": "service_failed"},
            "Stopped: 6 attempts in a row failed outside the tasks (service_failed).",
        ),
    ],
)
def test_an_end_that_is_not_the_tasks_fault_is_told_as_it_is(
    facts: dict[str, Any], text: str
) -> None:
    assert run_end(attempts=0, end="machine", ok=False, why="429", **facts) == text


def test_a_wait_names_what_it_is_for() -> None:
    why = "the service of codex failed (stream cut)"
    (line,) = lines({"ev": "waiting", "until": "2026-11-21T12:03:00.000Z", "why": why})
    assert line.endswith(f":00: {why}")


@pytest.mark.parametrize(
    ("failures", "text"),
    [
        (1, "Stopped: the agent can't work (auth)."),
        (3, "Stopped: 3 attempts in a row failed outside the tasks (auth)."),
    ],
)
def test_an_agent_that_can_not_work_is_told_from_a_row_of_failures(
    failures: int, text: str
) -> None:
    event = {"ev": "run_end", "tasks": {}, "end": "machine", "ok": False, "ready": 1, "attempts": 1}
    assert text in "\n".join(lines({**event, "failures": failures, "class": "auth"}))


def test_lines_of_several_attempts_name_their_task() -> None:
    check = {"ev": "check_end", "base": False, "cmd": "make", "exit": 0, "dur_s": 1.0}
    start = {"ev": "attempt_start", "ts": "2026-01-01T08:00:00.000Z", "title": "Bake", "n": 1}
    newer = "the branch has newer commits: checking both together"
    events: list[Event] = [
        start, check, {"ev": "notice", "text": newer}, {"ev": "task_state", "status": "closed"},
    ]  # fmt: skip
    lines = [
        strip_styles(line)
        for event in events
        for line in format_event_lines({**event, "task": "t-3"}, names_tasks=True)
    ]
    assert [line.partition(" ")[2] for line in lines[:1]] == ["t-3: Bake"]
    assert lines[1:] == ["  t-3: check: make passed (1.0 s)", f"  t-3: {newer}", "  t-3 is closed"]
    assert max(map(len, lines)) <= 80
    (line,) = format_event_lines({"ev": "notice", "text": "of the run"}, names_tasks=True)
    assert line == "  of the run"
