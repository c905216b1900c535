"""Agents that wait in vain are ended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from cub.actions.run.agent_process import RefusalTimer
from cub.harness.base import AgentEvent, Transcript
from cub.harness.custom_harness import make_custom_harness
from cub.store.events import Event
from tests.actions.run.shop import Shop

START = datetime(2026, 10, 7, 12, 0, tzinfo=UTC)
HARNESS = make_custom_harness("mine", {"argv": ["mine"]})


def find_end(*events: AgentEvent) -> int | None:
    """The second in which an agent is ended; None if it is not within five minutes."""
    transcript, timer = Transcript(), RefusalTimer(HARNESS)
    for event in events:
        transcript.add_event(event)
    seconds = range(300)
    return next(
        (n for n in seconds if timer.is_over(transcript, START + timedelta(seconds=n))), None
    )


@pytest.mark.parametrize(
    ("event", "second"),
    [
        (AgentEvent("limit", "slow down"), 120),
        (AgentEvent("limit", "retry after 3600s"), 10),
        (AgentEvent("limit", "retry after 20s"), 30),
        (AgentEvent("login", "Invalid API key"), 15),
        (AgentEvent("service", "HTTP 503"), 120),
        (AgentEvent("text", "Error: 429 Too Many Requests"), None),
    ],
)
def test_an_agent_gets_time_to_try_again_by_what_keeps_it(
    event: AgentEvent, second: int | None
) -> None:
    assert find_end(event) == second


def test_an_agent_that_goes_on_is_left_alone() -> None:
    assert find_end(AgentEvent("login", "401"), AgentEvent("tool", "edit a.py")) is None


@pytest.mark.thorough
def test_an_agent_that_sleeps_through_a_limit_is_ended_and_waits_for_its_end(bakery: Shop) -> None:
    bakery.client("""
        cat > /dev/null; test $(basename "$CUB_ATTEMPT") = 2 && echo x > x && exit 0
        echo '{"type":"limit","text":"retry after 3600s"}'; sleep 600""")
    bakery.task()
    done = bakery.run()
    assert done.outcomes == ["rate_limited", "ok"]
    assert done.of("attempt_end")[0]["dur_s"] < 60
    (wait,) = done.clock.waits
    assert timedelta(minutes=55) < wait - datetime.now(UTC) < timedelta(minutes=60)


@pytest.mark.thorough
def test_what_an_agent_says_when_it_is_ended_does_not_change_why(bakery: Shop) -> None:
    bakery.client("""
        said='{"type":"text","text":"I write."}{"type":"model"}{"type":"tool","text":"ls"}'
        trap 'echo "$said" | sed "s/}{/}\\n{/g"; exit 1' INT
        cat > /dev/null; echo x > x; echo '{"type":"service","text":"HTTP 503"}'
        sleep 600 & wait""")
    bakery.task()

    def hurry(event: Event) -> None:
        if event["ev"] == "tick":
            bakery.clock.ahead += 300

    done = bakery.run(iterations=1, each=hurry)
    assert [event["type"] for event in done.of("client")] == ["service", "text", "model", "tool"]
    assert done.outcomes == ["service_failed"]
    assert done.of("attempt_end")[0]["fail"]["reason"] == "HTTP 503"
