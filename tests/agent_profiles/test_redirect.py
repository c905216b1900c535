"""What an agent gets to use the server; the real ones try it with `-m agents`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from cub.agent_profiles.profiles import redirect_agent

URL = "http://127.0.0.1:7"
FILES = {
    "claude": [],
    "claude-acp": [],
    "codex": [".codex/config.toml"],
    "codex-acp": [".codex/config.toml"],
    "gemini": [".gemini/settings.json"],
    "opencode": [".config/opencode/opencode.json"],
    "pi": [".pi/agent/models.json", ".pi/agent/settings.json"],
    "aider": [".aider/caches/model_prices_and_context_window.json"],
    "builtin": [],
}


@pytest.mark.parametrize("agent", FILES)
def test_the_address_and_the_model_are_named_in_home_or_environment(
    agent: str, tmp_path: Path
) -> None:
    redirect = redirect_agent(agent, URL, tmp_path)
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert [path.relative_to(tmp_path).as_posix() for path in files] == FILES[agent]
    texts = [*redirect.environ.values(), *(path.read_text(encoding="utf-8") for path in files)]
    assert any(URL in text for text in texts)
    assert any(redirect.model in text for text in texts)
    assert redirect.environ["HOME"] == str(tmp_path)
    assert Path(redirect.environ["TMPDIR"]).parent == tmp_path
    assert not redirect.environ["HTTPS_PROXY"]


def test_arguments_win_over_settings_of_the_project(tmp_path: Path) -> None:
    flag, settings = redirect_agent("claude", URL, tmp_path).argv
    assert flag == "--settings"
    assert json.loads(settings)["env"]["ANTHROPIC_BASE_URL"] == URL
    assert f"{URL}/v1" in redirect_agent("aider", URL, tmp_path).argv
    assert redirect_agent("claude-acp", URL, tmp_path).argv == ()


def test_codex_has_a_provider_of_its_own(tmp_path: Path) -> None:
    redirect_agent("codex", URL, tmp_path)
    config = tomllib.loads((tmp_path / ".codex/config.toml").read_text(encoding="utf-8"))
    provider = config["model_providers"][config["model_provider"]]
    assert (provider["base_url"], provider["wire_api"]) == (f"{URL}/v1", "responses")


def test_opencode_has_a_provider_of_its_own(tmp_path: Path) -> None:
    redirect = redirect_agent("opencode", URL, tmp_path)
    config = json.loads((tmp_path / ".config/opencode/opencode.json").read_bytes())
    provider, _, name = redirect.model.partition("/")
    assert config["enabled_providers"] == [provider]
    assert name in config["provider"][provider]["models"]


def test_an_agent_that_is_not_known_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        redirect_agent("nobody", URL, tmp_path)
