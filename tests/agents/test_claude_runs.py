"""Runs with the real Claude Code."""

from __future__ import annotations

from typing import ClassVar

from tests.agents.agent_runs import AgentRuns


class TestClaude(AgentRuns):
    agent = "claude"
    settings: ClassVar = {"env": {"CLAUDE_CODE_MAX_RETRIES": "1"}}
