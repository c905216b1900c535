"""Runs with the real Gemini CLI."""

from __future__ import annotations

from pathlib import Path

from tests.agents.agent_runs import AgentRuns

_RULE = """
[[rule]]
toolName = "run_shell_command"
commandPrefix = "git push"
decision = "deny"
priority = 100
"""


class TestGemini(AgentRuns):
    agent = "gemini"
    reports_tokens_as_they_come = False

    def deny_pushes(self, home: Path) -> None:
        file = home / ".gemini/policies/mine.toml"
        file.parent.mkdir()
        file.write_text(_RULE)
