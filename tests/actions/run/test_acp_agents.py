"""Whole runs with an agent that speaks the Agent Client Protocol, and misbehaves on demand."""

from __future__ import annotations

from typing import Any

import pytest

from cub.actions.run.failures import counts_as_attempt
from tests.actions.run.shop import CHECK, Done, Shop
from tests.examples import keep_few
from tests.harness.acp.talks import USAGE, Step, ask, command, error, result, said, update
from tests.processes.programs import is_running, make_sleep

_MAKE: Step = {"do": "echo made > made.txt"}
_DONE = said("Status: done\nSummary: it is made", messageId="last")


def run(shop: Shop, *steps: Step, **asked: Any) -> Done:
    """Have the agent work on the task s-1."""
    shop.configure(harnesses={"mine": {"acp": command(*steps)}}, run=asked.pop("run", {}))
    shop.task()
    return shop.run(**{"iterations": 1, **asked})


def charges(shop: Shop) -> list[bool]:
    """For each attempt, whether it counts as one of the task's."""
    return [counts_as_attempt(event) for event in shop.ledger("attempt_end")]


def test_work_that_passes_is_committed_with_its_tokens_and_dollars(bakery: Shop) -> None:
    cost = update("usage_update", used=1, size=9, cost={"amount": 0.5, "currency": "USD"})
    done = run(bakery, said("I make it."), _MAKE, cost, _DONE, result(usage=USAGE), checks=CHECK)
    assert done.outcomes == ["ok"]
    assert bakery.status() == "closed"
    assert "task(s-1): Do s-1" in bakery.log()
    (end,) = bakery.ledger("attempt_end")
    assert (end["tok"]["in"], end["tok"]["out"], end["usd"]) == (10, 2, 0.5)
    assert end["trailer"]["summary"] == "it is made"
    assert end["session"] == "s-1"


def test_a_failing_check_comes_back_in_the_next_prompt(
    bakery: Shop, tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = tmp_path_factory.mktemp("log") / "sent.jsonl"
    bakery.environ["ACP_LOG"] = str(log)
    made: Step = {"do": "echo broken-word > wrong"}
    writable = {"writable": [str(log.parent)]}
    done = run(bakery, made, _DONE, checks=CHECK, iterations=2, run=writable)
    assert done.outcomes[0] == "checks_failed"
    assert "broken-word" in log.read_text()


_FAILURES = [
    ((error(-32000, "Authentication required"),), "auth", False),
    ((error(-32603, "x", errorKind="server_error"),), "service_failed", False),
    ((error(429, "Suggested retry after 3600s"),), "rate_limited", False),
    ((_MAKE, "die"), "harness_exit", True),
    ((_MAKE, "leave"), "harness_exit", True),
    (("garbage", "close"), "service_failed", False),
    ((result("refusal"),), "harness_exit", True),
    ((result(),), "service_failed", False),
    (("refuse session/new",), "auth", False),
    (("die in initialize",), "harness_setup", False),
    ((said("All is well."),), "no_changes", True),
    ((said("Where is it?"),), "asked_question", True),
    ((said("<stuck>no database</stuck>"),), "stuck", True),
    ((ask(kind="edit", title="Write", locations=[{"path": "/etc/x"}]), result("cancelled")),
     "permission_denied", True),
    (("flood", "garbage", "long-line", result("max_tokens")), "harness_exit", True),
    (("orphan", "cancelled", result("cancelled")), "service_failed", False),
]  # fmt: skip


@pytest.mark.parametrize(("steps", "failure", "is_charged"), keep_few(_FAILURES, 5))
def test_the_class_of_each_failure_and_its_charge(
    bakery: Shop, steps: tuple[Step, ...], failure: str, is_charged: bool
) -> None:
    limits = {"idle_timeout": "0.3s"} if "orphan" in steps else {}
    done = run(bakery, *steps, run=limits)
    assert done.outcomes[0] == failure
    assert charges(bakery)[0] is is_charged
    starts, ends = bakery.ledger("attempt_start"), bakery.ledger("attempt_end")
    assert len(starts) == len(ends)
    assert bakery.dirt() == ""


@pytest.mark.parametrize(
    "steps",
    [
        ("cancelled", result("cancelled")),
        pytest.param(("stays", "hang"), marks=pytest.mark.thorough),
    ],
)
def test_an_agent_that_is_ended_leaves_no_process(bakery: Shop, steps: tuple[Step, ...]) -> None:
    sleep = make_sleep()
    step = {"do": f"{sleep} & setsid {sleep} & echo begun > begun"}
    ready = update("tool_call", toolCallId="t", title="make", status="in_progress")
    done = run(bakery, step, ready, *steps, stop_at=lambda event: event.get("type") == "tool")
    assert done.outcomes == ["interrupted"]
    patch = done.of("attempt_end")[0]["git"]["patch"]
    assert "+begun" in (bakery.root / patch).read_text()
    assert not is_running(sleep)


def test_a_stopped_run_cancels_the_turn(bakery: Shop) -> None:
    tool = update("tool_call", toolCallId="t", title="make", status="in_progress")
    steps = (tool, "cancelled", result("cancelled", usage=USAGE))
    done = run(bakery, *steps, stop_at=lambda event: event.get("type") == "tool")
    assert done.outcomes == ["interrupted"]
    (end,) = bakery.ledger("attempt_end")
    assert end["tok"]["in"] == 10
