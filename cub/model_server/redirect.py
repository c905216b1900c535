"""Point agents at a model server, with a HOME of their own that keeps them off the network."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

_KEY = "dummy"
_COMMON = {
    "TERM": "dumb",
    "LANG": "C.UTF-8",
    "NO_COLOR": "1",
    "DO_NOT_TRACK": "1",
    "OTEL_SDK_DISABLED": "true",
    **{f"{name}_PROXY": "" for name in ("HTTP", "HTTPS", "ALL")},
    **{f"{name}_proxy": "" for name in ("http", "https", "all")},
    "NO_PROXY": "*",
    "no_proxy": "*",
}
_CLAUDE = {
    "ANTHROPIC_API_KEY": _KEY,
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
_GEMINI = {"GEMINI_API_KEY": _KEY, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
_OPENCODE = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_SHARE": "1",
    "OPENCODE_DISABLE_TERMINAL_TITLE": "1",
}
_AIDER = {
    "OPENAI_API_KEY": _KEY,
    "AIDER_ANALYTICS": "false",
    "AIDER_CHECK_UPDATE": "false",
    "AIDER_SHOW_RELEASE_NOTES": "false",
    "AIDER_SHOW_MODEL_WARNINGS": "false",
    "AIDER_DISABLE_PLAYWRIGHT": "true",
    "AIDER_DETECT_URLS": "false",
    "AIDER_MAP_TOKENS": "0",  # its map of the project has a cache in the project
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}
_GEMINI_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
}
_MODELS = {
    "claude": "claude-sonnet-4-5",
    "codex": "gpt-5",  # Codex's default model has no plain shell tool
    "gemini": "gemini-2.5-pro",  # the default asks a model first which one to use
    "opencode": "local/scripted",
    "aider": "openai/gpt-4o",
    "builtin": "claude-sonnet-4-5",
}
_CODEX_CONFIG = """\
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


class Redirect(NamedTuple):
    """Hold what makes an agent use a model server: its whole environment except PATH, and more.

    `argv` are arguments that a project's own settings, which may name another address, can't
    override. The environment names the model, too.
    """

    environ: Mapping[str, str]
    argv: tuple[str, ...]
    model: str


def redirect_agent(agent: str, url: str, home: Path) -> Redirect:
    """Write an agent's settings into a new HOME; return its environment, arguments and model.

    The agent is claude, codex, gemini, opencode, aider or builtin; `claude-acp` and `codex-acp` are
    the adapters of two of them, which take no arguments. The others are the same over the protocol.
    """
    name = agent.removesuffix("-acp")
    model = _MODELS[name]
    temporary = home / "tmp"  # they leave files of megabytes there
    temporary.mkdir(exist_ok=True)
    environ = {**_COMMON, "HOME": os.fspath(home), "TMPDIR": os.fspath(temporary)}
    argv: tuple[str, ...] = ()
    match name:
        case "claude":
            environ |= {**_CLAUDE, "ANTHROPIC_BASE_URL": url, "ANTHROPIC_MODEL": model}
            if hasattr(os, "geteuid") and os.geteuid() == 0:
                environ["IS_SANDBOX"] = "1"  # Claude refuses to skip permissions as root
            argv = ("--settings", json.dumps({"env": environ}))
        case "codex":
            environ["OPENAI_API_KEY"] = _KEY
            _write(home / ".codex/config.toml", _CODEX_CONFIG.format(model=model, url=url))
            argv = ("-c", 'model_provider="local"', "-c", f'model="{model}"')
        case "gemini":
            environ |= {**_GEMINI, "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_MODEL": model}
            _write(home / ".gemini/settings.json", json.dumps(_GEMINI_SETTINGS))
        case "opencode":
            # opencode installs a package into each of its folders, if it finds the registry.
            environ |= {**_OPENCODE, "npm_config_registry": url}
            config = _build_opencode_config(url, model)
            _write(home / ".config/opencode/opencode.json", json.dumps(config))
        case "aider":
            environ |= {**_AIDER, "OPENAI_API_BASE": f"{url}/v1", "AIDER_MODEL": model}
            # A project's .env replaces variables, and may hold a key that works.
            argv = ("--openai-api-base", f"{url}/v1", "--openai-api-key", _KEY)
            argv += ("--model", model, "--weak-model", model)
            for kind in ("CHAT", "INPUT"):
                environ[f"AIDER_{kind}_HISTORY_FILE"] = str(home / f".aider.{kind}.history")
            # aider downloads the prices unless this file has some of today.
            _write(home / ".aider/caches/model_prices_and_context_window.json", '{"local": {}}')
        case "builtin":
            # Variables of cub win over the project's configuration.
            environ |= {"CUB_CODE_BASE_URL": url, "CUB_CODE_API_KEY": _KEY, "CUB_CODE_MODEL": model}
    return Redirect(environ, () if agent != name else argv, model)


def _build_opencode_config(url: str, model: str) -> dict[str, Any]:
    provider, _, name = model.partition("/")
    return {
        "model": model,
        "small_model": model,
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,  # it copies the project's files
        "agent": {"title": {"disable": True}},
        "enabled_providers": [provider],
        "provider": {
            provider: {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": f"{url}/v1", "apiKey": _KEY},
                "models": {name: {"limit": {"context": 200_000, "output": 8_000}}},
            }
        },
    }


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
