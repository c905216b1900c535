"""Runs with the real pi."""

from __future__ import annotations

from tests.agents.agent_runs import DONE, AgentRuns, Start, failure
from tests.agents.conftest import write_file
from tests.model_server.faults import Reply


class TestPi(AgentRuns):
    agent = "pi"

    def test_a_limit_is_waited_for(self, start: Start) -> None:
        """It tries a request four times in 14 seconds by itself."""
        refused = Reply(status=429, message="Slow down.", headers={"retry-after": "3600"})
        made = start(*[refused] * 4, write_file("a"), DONE)
        done = made.run()
        assert done.outcomes == ["rate_limited", "ok"]
        assert failure(done)["charge"] is False
