"""Describe Claude Code."""

from __future__ import annotations

import json

from cub.agent_profiles.agent_profile import DUMMY_KEY, AgentProfile, Redirect, is_root

_OFFLINE = {
    "ANTHROPIC_API_KEY": DUMMY_KEY,
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "false",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    "CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_GROWTHBOOK": "1",
    "CLAUDE_CODE_USE_BEDROCK": "0",
    "CLAUDE_CODE_USE_VERTEX": "0",
    "CLAUDE_CODE_USE_FOUNDRY": "0",
}


def _redirect(redirect: Redirect) -> None:
    redirect.model = "claude-sonnet-4-5"
    redirect.environ |= _OFFLINE
    redirect.environ |= {"ANTHROPIC_BASE_URL": redirect.url, "ANTHROPIC_MODEL": redirect.model}
    if is_root():  # Claude Code refuses to skip permissions then
        redirect.environ["IS_SANDBOX"] = "1"
    redirect.argv = ("--settings", json.dumps({"env": redirect.environ}))


CLAUDE = AgentProfile(
    name="claude",
    title="Claude Code",
    program="claude",
    oldest_version="2.1.197",
    installation="npm install -g @anthropic-ai/claude-code",
    login="run `claude` and log in with /login, or set ANTHROPIC_API_KEY",
    reports_cost=True,
    project_files=(".claude/rules/", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"),
    parent_files=("CLAUDE.md",),
    user_files=(".claude/CLAUDE.md", ".claude/rules/"),
    folder=".claude",
    settings=(r"\.claude/settings(?:\.local)?\.json", r"\.mcp\.json"),
    executables=(r"\.claude/(?:agents|commands|skills)/.*",),
    redirect=_redirect,
)
