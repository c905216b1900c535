from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cub.agent.model_settings import (
    DEFAULT_MODEL,
    DEFAULT_SMALL_MODEL,
    load_models,
    resolve_model_settings,
    split_model_name,
)
from cub.errors import CubError, UsageError

UNSET: dict[str, Any] = {
    "code.model": None,
    "code.small_model": None,
    "code.base_url": None,
    "code.api_key": None,
    "code.timeout": "5m",
    "code.max_output_tokens": None,
    "code.compaction_threshold": None,
    "code.debug": False,
}


def write_claude_settings(home: Path, **variables: Any) -> None:
    (home / ".claude").mkdir(exist_ok=True)
    path = home / ".claude/settings.json"
    path.write_text(json.dumps({"env": variables, "model": "opus"}), encoding="utf-8")


def test_the_defaults_are_those_of_the_document() -> None:
    settings = resolve_model_settings(UNSET, {}, None)
    assert (settings.model, settings.small_model) == (DEFAULT_MODEL, DEFAULT_SMALL_MODEL)
    assert (settings.max_output_tokens, settings.compaction_threshold) == (16_384, 160_000)
    assert (settings.timeout, settings.is_debug) == (300.0, False)


def test_the_configuration_comes_first_then_claude_settings_then_the_environment(
    tmp_path: Path,
) -> None:
    environ = {
        "ANTHROPIC_MODEL": "from-environment",
        "ANTHROPIC_SMALL_FAST_MODEL": "small-from-environment",
        "ANTHROPIC_MAX_OUTPUT_TOKENS": "1000",
        "ANTHROPIC_COMPACTION_THRESHOLD": "2000",
        "CODINGAGENT_DEBUG": "true",
    }
    settings = resolve_model_settings(UNSET, environ, tmp_path)
    assert settings[:2] == ("from-environment", "small-from-environment")
    assert settings[5:8] == (1000, 2000, True)
    write_claude_settings(tmp_path, ANTHROPIC_MODEL="from-claude", ANTHROPIC_MAX_OUTPUT_TOKENS=500)
    settings = resolve_model_settings(UNSET, environ, tmp_path)
    assert settings[:2] == ("from-claude", "small-from-environment")
    assert settings[5:7] == (500, 2000)
    own = {**UNSET, "code.model": "ours", "code.max_output_tokens": 7}
    settings = resolve_model_settings(own, environ, tmp_path)
    assert (settings.model, settings.max_output_tokens) == ("ours", 7)


def test_another_provider_summarizes_with_its_own_model() -> None:
    settings = resolve_model_settings({**UNSET, "code.model": "ollama/qwen3"}, {}, None)
    assert settings.small_model == "ollama/qwen3"


@pytest.mark.parametrize("text", ["many", "0", "-5", "1.5"])
def test_a_number_that_is_none_names_its_variable(text: str) -> None:
    with pytest.raises(CubError, match="not a number of tokens") as caught:
        resolve_model_settings(UNSET, {"ANTHROPIC_MAX_OUTPUT_TOKENS": text}, None)
    assert caught.value.where == "ANTHROPIC_MAX_OUTPUT_TOKENS"


def test_settings_of_claude_that_cannot_be_read_are_an_error(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text('{"env": ', encoding="utf-8")
    with pytest.raises(CubError) as caught:
        resolve_model_settings(UNSET, {}, tmp_path)
    assert caught.value.where.startswith("~/.claude/settings.json:1")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("claude-x", ("anthropic", "claude-x")),
        ("openai/gpt-5", ("openai", "gpt-5")),
        ("vllm/Qwen/Qwen3", ("vllm", "Qwen/Qwen3")),
        ("scripted/a/b.yaml", ("scripted", "a/b.yaml")),
    ],
)
def test_a_name_may_begin_with_a_provider(name: str, expected: tuple[str, str]) -> None:
    assert split_model_name(name) == expected


@pytest.mark.parametrize("name", ["nobody/model", "openai/", "/x"])
def test_an_unknown_provider_is_an_error(name: str) -> None:
    with pytest.raises(UsageError, match="unknown model") as caught:
        split_model_name(name)
    assert "ollama" in caught.value.hint


def test_a_key_that_is_missing_names_the_variable(tmp_path: Path) -> None:
    settings = resolve_model_settings({**UNSET, "code.model": "openai/gpt-5"}, {}, None)
    with pytest.raises(CubError, match="missing API key for api") as caught:
        load_models(settings, tmp_path)
    assert "OPENAI_API_KEY" in caught.value.hint


def test_scripts_are_relative_to_the_folder(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("conversations: [{replies: []}]", encoding="utf-8")
    settings = resolve_model_settings({**UNSET, "code.model": "scripted/s.yaml"}, {}, None)
    assert [model.name for model in load_models(settings, tmp_path)] == ["scripted/s.yaml"] * 2


def test_the_small_model_of_the_environment_is_for_its_own_service(tmp_path: Path) -> None:
    environ = {"ANTHROPIC_SMALL_FAST_MODEL": "small"}
    values = {**UNSET, "code.model": "ollama/qwen3"}
    assert resolve_model_settings(values, environ, tmp_path).small_model == "ollama/qwen3"
    values["code.small_model"] = "small"
    assert resolve_model_settings(values, environ, tmp_path).small_model == "small"
