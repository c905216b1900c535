"""Each agent that cub knows does a task: a scripted model edits a file, and a check decides."""

from __future__ import annotations

import pytest

from cub.harness.harness_registry import NATIVE_HARNESSES
from tests.agents.conftest import StartAgent, write_file
from tests.model_server.faults import Reply

_AGENTS = [harness.facts.name for harness in NATIVE_HARNESSES]
# aider has no tools: it edits what the model's text says.
_EDIT = "new.txt\n```\n<<<<<<< SEARCH\n=======\nbread\n>>>>>>> REPLACE\n```\n"


@pytest.mark.thorough
@pytest.mark.timeout(600)
@pytest.mark.parametrize("agent", _AGENTS)
def test_an_agent_closes_a_task(start_agent: StartAgent, agent: str) -> None:
    replies = [Reply(_EDIT)] if agent == "aider" else [write_file("bread"), Reply("It is there.")]
    project = start_agent(agent, replies)
    done = project.run()
    assert done.outcomes == ["ok"]
    assert project.shop.status() == "closed"
    assert project.shop.log()[0] == "task(s-1): Do s-1"
    assert (project.shop.root / "new.txt").read_text() == "bread\n"
    (end,) = done.of("attempt_end")
    assert end["tok"]["in"] > 0
