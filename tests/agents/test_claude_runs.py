"""Runs with the real Claude Code."""

from __future__ import annotations

import pytest

from cub.model_server.exchange import Reply
from tests.agents.conftest import StartAgent, write_file

pytestmark = pytest.mark.agents


def test_an_edit_is_committed_and_the_task_closed(start_agent: StartAgent) -> None:
    made = start_agent("claude", [write_file("a"), Reply("Status: done")])
    done = made.run()
    assert done.outcomes == ["ok"]
    assert made.shop.status() == "closed"
    assert len(made.shop.log()) == 3
