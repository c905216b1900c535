"""Describe opencode."""

from __future__ import annotations

from cub.agent_profiles.agent_profile import DUMMY_KEY, AgentProfile, ReadingList, Redirect
from cub.config_edit.config_text import JSON

OPENCODE_LIST = ReadingList(
    ("opencode.jsonc", "opencode.json"),
    ("instructions",),
    JSON,
    # AGENTS.md it reads by itself, but it does not resolve imports.
    lambda required: required.references,
    # It would put this line into the file itself.
    new_file=b'{\n  "$schema": "https://opencode.ai/config.json"\n}\n',
)


def _redirect(redirect: Redirect) -> None:
    redirect.model = "local/scripted"
    redirect.environ |= {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_SHARE": "1",
        "OPENCODE_DISABLE_TERMINAL_TITLE": "1",
        # It installs a package into each of its directories, if it finds the registry.
        "npm_config_registry": redirect.url,
    }
    provider, _, name = redirect.model.partition("/")
    settings = {
        "model": redirect.model,
        "small_model": redirect.model,
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,  # it copies the project's files
        "agent": {"title": {"disable": True}},
        "enabled_providers": [provider],
        "provider": {
            provider: {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": f"{redirect.url}/v1", "apiKey": DUMMY_KEY},
                "models": {name: {"limit": {"context": 200_000, "output": 8_000}}},
            }
        },
    }
    redirect.write_settings(".config/opencode/opencode.json", settings)


OPENCODE = AgentProfile(
    name="opencode",
    title="opencode",
    program="opencode",
    oldest_version="1.18.33",
    installation="npm install -g opencode-ai",
    login="run `opencode auth login`",
    reports_cost=True,
    project_files=("AGENTS.md",),
    user_files=(".config/opencode/AGENTS.md",),
    folder=".opencode",
    settings=(r"opencode\.jsonc?", r"\.opencode/plugins?/.*"),
    executables=(r"\.opencode/(?:agents?|commands?)/.*",),
    reading_list=OPENCODE_LIST,
    redirect=_redirect,
)
