"""Runs with the real opencode."""

from __future__ import annotations

import json
from pathlib import Path

from tests.agents.agent_runs import AgentRuns, Start, failure
from tests.model_server.faults import Reply

_SETTINGS = ".config/opencode/opencode.json"


class TestOpencode(AgentRuns):
    agent = "opencode"
    limit = "Rate limit reached."  # all that its log has of it: no status, and no time

    def deny_pushes(self, home: Path) -> None:
        settings = json.loads((home / _SETTINGS).read_text())
        settings["permission"] = {"bash": {"*": "allow", "git push *": "deny"}}
        (home / _SETTINGS).write_text(json.dumps(settings))

    def test_the_end_of_a_limit_is_known(self, start: Start) -> None:
        made = start(then=Reply(status=429, message="Rate limit reached, try again in 3600s."))
        done = made.run(each=made.hurry, iterations=1)
        assert done.outcomes == ["rate_limited"]
        assert "try again in 3600s" in failure(done)["reason"]
