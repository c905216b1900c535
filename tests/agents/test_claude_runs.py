"""Runs with the real Claude Code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

from tests.agents.agent_runs import AgentRuns


class TestClaude(AgentRuns):
    agent = "claude"
    settings: ClassVar = {"env": {"CLAUDE_CODE_MAX_RETRIES": "1"}}

    def deny_pushes(self, home: Path) -> None:
        rules = {"permissions": {"deny": ["Bash(git push *)"]}}
        file = home / ".claude/settings.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(rules))
