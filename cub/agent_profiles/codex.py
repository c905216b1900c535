"""Describe Codex."""

from __future__ import annotations

from cub.agent_profiles.agent_profile import DUMMY_KEY, AgentProfile, Redirect

CODEX_OVERRIDE = "AGENTS.override.md"  # it takes the place of AGENTS.md
CODEX_MAX_BYTES = 32 * 1024  # its `project_doc_max_bytes`, unless set
_CONFIG = """\
model = "{model}"
model_provider = "local"
check_for_update_on_startup = false

[model_providers.local]
name = "local"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"

[analytics]
enabled = false

[features]
enable_request_compression = false
plugins = false
"""


def _redirect(redirect: Redirect) -> None:
    redirect.model = "gpt-5"  # the default model has no plain shell tool
    redirect.environ["OPENAI_API_KEY"] = DUMMY_KEY
    config = _CONFIG.format(model=redirect.model, url=redirect.url)
    redirect.write_settings(".codex/config.toml", config)
    redirect.argv = ("-c", 'model_provider="local"', "-c", f'model="{redirect.model}"')


CODEX = AgentProfile(
    name="codex",
    title="Codex",
    program="codex",
    oldest_version="0.169.0",
    installation="npm install -g @openai/codex",
    login="run `codex login`",
    project_files=("AGENTS.md",),
    user_files=(".codex/AGENTS.md",),
    folder=".codex",
    settings=(r"\.codex/config\.toml",),
    executables=(r"\.codex/prompts/.*",),
    redirect=_redirect,
)
