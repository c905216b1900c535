"""Runs with the real opencode."""

from __future__ import annotations

from tests.agents.agent_runs import AgentRuns, Start, failure
from tests.model_server.faults import Reply


class TestOpencode(AgentRuns):
    agent = "opencode"
    limit = "Rate limit reached."  # all that its log has of it: no status, and no time

    def test_the_end_of_a_limit_is_known(self, start: Start) -> None:
        made = start(then=Reply(status=429, message="Rate limit reached, try again in 3600s."))
        done = made.run(each=made.hurry, iterations=1)
        assert done.outcomes == ["rate_limited"]
        assert "try again in 3600s" in failure(done)["reason"]
