"""Runs with the real Codex."""

from __future__ import annotations

from tests.agents.agent_runs import DONE, AgentRuns, Start, failure
from tests.agents.conftest import write_file
from tests.model_server.faults import Reply, count_occurrences


class TestCodex(AgentRuns):
    agent = "codex"

    def test_the_end_of_a_limit_is_known(self, start: Start) -> None:
        made = start(then=Reply(status=429, headers={"retry-after": "3600"}))
        done = made.run(each=made.hurry, iterations=1)
        assert done.outcomes == ["rate_limited"]
        assert "try again in 3599 s" in failure(done)["reason"]

    def test_a_read_only_sandbox_denies_an_edit(self, start: Start) -> None:
        made = start(write_file("a"), DONE)
        settings = {"args": ["--sandbox", "read-only"]}
        made.shop.configure(harnesses={"codex": settings})
        done = made.run(iterations=1)
        assert done.outcomes == ["permission_denied"]
        reason = failure(done)["reason"]
        assert "new.txt" in reason or "by the sandbox" in reason

    def test_a_task_is_closed_from_within_the_sandbox(self, start: Start) -> None:
        close = Reply("I close it.", "echo a > new.txt; cub task close s-1 --reason done")
        made = start(close, DONE)
        done = made.run(iterations=1)
        assert done.outcomes == ["ok"]
        assert count_occurrences(made.requests[1], "Asked the run to close s-1")
