"""Describe cub's own agent, `cub code`."""

from __future__ import annotations

import sys

from cub.agent_profiles.agent_profile import DUMMY_KEY, AgentProfile, ServerSettings

BUILTIN = AgentProfile(
    name="builtin",
    title="cub code",
    program=sys.executable,
    login="set the key of the model's service, such as ANTHROPIC_API_KEY or OPENAI_API_KEY",
    reports_cost=True,
    outside=(
        "~/.claude/CLAUDE.md",
        "~/.claude/rules",
        "~/.codex/AGENTS.md",
        "~/.gemini/GEMINI.md",
        "~/.agents/rules",
        "~/.config/opencode/AGENTS.md",
    ),
    # Variables of cub win over the project's configuration.
    server=ServerSettings(
        "claude-sonnet-4-5",
        {
            "CUB_CODE_BASE_URL": "{url}",
            "CUB_CODE_API_KEY": DUMMY_KEY,
            "CUB_CODE_MODEL": "{model}",
        },
    ),
)
