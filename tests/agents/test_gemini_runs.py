"""Runs with the real Gemini CLI."""

from __future__ import annotations

from tests.agents.agent_runs import AgentRuns


class TestGemini(AgentRuns):
    agent = "gemini"
    reports_tokens_as_they_come = False
