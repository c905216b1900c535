"""Runs with real agents over the Agent Client Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from tests.agents.agent_runs import DONE, AgentRuns, Start, failure, limit_attempts_of_gemini
from tests.agents.conftest import write_file
from tests.model_server.faults import Reply


class AcpRuns(AgentRuns):
    """What a run must do over the protocol: tokens come with the end of a turn."""

    reports_tokens_as_they_come = False
    model: ClassVar[str] = ""  # another one that it has

    def test_a_model_is_chosen(self, start: Start) -> None:
        if not self.model:
            pytest.skip(f"{self.agent} has one model here")
        made = start(write_file("a"), DONE)
        assert made.run(model=self.model).outcomes == ["ok"]
        assert self.model in made.requests[0].model

    def test_a_budget_in_tokens_ends_the_run_after_the_attempt(self, start: Start) -> None:
        made = start(write_file("a"), DONE)
        made.shop.task("s-2")
        done = made.run(tokens=self.tokens[0])
        assert done.outcomes == ["ok"]
        assert done.end["end"] == "budget"


class TestClaude(AcpRuns):
    agent = "claude-acp"
    settings: ClassVar = {"acp": ["claude-agent-acp"], "env": {"CLAUDE_CODE_MAX_RETRIES": "1"}}
    model = "haiku"

    @pytest.mark.parametrize("mode", ["default", "acceptEdits"])
    def test_commands_are_allowed_if_it_asks(self, start: Start, mode: str) -> None:
        made = start(write_file("a"), DONE)
        settings = {**self.settings, "modes": {"auto": mode}}
        made.shop.configure(harnesses={self.agent: settings})
        assert made.run().outcomes == ["ok"]


class TestCodex(AcpRuns):
    agent = "codex-acp"
    settings: ClassVar = {"acp": ["codex"]}
    notice = (
        "Warning: Model metadata for `gpt-5` not found. Defaulting to fallback metadata; "
        "this can degrade performance and cause issues.\n\n"
    )

    def test_a_model_that_it_does_not_have_is_named(self, start: Start) -> None:
        made = start(write_file("a"), DONE)
        done = made.run(model="no-such-model", iterations=1)
        assert done.outcomes == ["harness_setup"]
        assert "no-such-model" in failure(done)["reason"]

    def test_a_command_is_enough(self, start: Start) -> None:
        made = start(write_file("a"), DONE)
        made.shop.configure(harnesses={})
        assert made.run(harness="acp:codex-acp").outcomes == ["ok"]


class TestGemini(AcpRuns):
    agent = "gemini"
    settings: ClassVar = {"acp": ["gemini", "--acp"]}
    model = "gemini-3.5-flash-lite"
    denial = "denied by policy"  # it does not say of what

    def prepare(self, home: Path) -> None:
        limit_attempts_of_gemini(home)


class TestOpencode(AcpRuns):
    agent = "opencode"
    settings: ClassVar = {"acp": ["opencode"]}
    limit = "Rate limit reached."
    tokens = (1000, 50)  # of the last request

    def test_a_command_outside_of_the_project_is_refused(self, start: Start) -> None:
        made = start(Reply("I read.", "cat /etc/hostname"))
        done = made.run(iterations=1)
        assert done.outcomes == ["permission_denied"]
        assert "cat /etc/hostname" in failure(done)["reason"]
