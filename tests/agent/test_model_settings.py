from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cub.agent.anthropic_model import AnthropicModel
from cub.agent.model_settings import (
    PROVIDERS,
    find_model_window,
    load_models,
    require_model_server,
    resolve_model_settings,
    split_model_name,
)
from cub.agent.openai_model import OpenAIModel
from cub.errors import CubError, UsageError
from cub.tokens import TokenUsage, compute_dollars, has_price_table

UNSET: dict[str, Any] = {
    "code.model": None,
    "code.small_model": None,
    "code.base_url": None,
    "code.api_key": None,
    "code.timeout": "5m",
    "code.effort": None,
    "code.max_output_tokens": None,
    "code.compaction_threshold": None,
    "code.debug": False,
}


def write_claude_settings(home: Path, **variables: Any) -> None:
    (home / ".claude").mkdir(exist_ok=True)
    path = home / ".claude/settings.json"
    path.write_text(json.dumps({"env": variables, "model": "opus"}), encoding="utf-8")


VENDORS = [row for row in PROVIDERS if row.model]
BY_KEY = {row.key_variable: row for row in VENDORS}


def test_the_defaults_are_those_of_the_table() -> None:
    settings = resolve_model_settings(UNSET, {}, None)
    assert (settings.model, settings.small_model, settings.choice) == ("", "", "")
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
    assert settings[:2] == ("anthropic/from-environment", "anthropic/small-from-environment")
    assert settings[5:8] == (1000, 2000, True)
    write_claude_settings(tmp_path, ANTHROPIC_MODEL="from-claude", ANTHROPIC_MAX_OUTPUT_TOKENS=500)
    settings = resolve_model_settings(UNSET, environ, tmp_path)
    assert settings[:2] == ("anthropic/from-claude", "anthropic/small-from-environment")
    assert settings[5:7] == (500, 2000)
    own = {**UNSET, "code.model": "ollama/ours", "code.max_output_tokens": 7}
    settings = resolve_model_settings(own, environ, tmp_path)
    assert (settings.model, settings.max_output_tokens) == ("ollama/ours", 7)


@pytest.mark.parametrize("variable", BY_KEY)
def test_without_a_model_the_key_that_is_set_decides(variable: str) -> None:
    provider = BY_KEY[variable]
    settings = resolve_model_settings(UNSET, {variable: "sk-1"}, None)
    assert settings.model == f"{provider.name}/{provider.model}"
    assert settings.small_model == f"{provider.name}/{provider.small_model}"
    assert settings.choice == f"{provider.model} ({variable} is set)"


@pytest.mark.parametrize(
    ("environ", "own", "expected"),
    [
        (dict.fromkeys(BY_KEY, "k"), {}, "anthropic"),
        ({"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": " "}, {}, "openai"),
        ({"OPENAI_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://x"}, {}, "openai"),
        ({"OPENAI_BASE_URL": "http://x"}, {}, "openai"),
        # A key of cub's own configuration goes where it always went.
        ({"OPENAI_API_KEY": "k"}, {"code.api_key": "other"}, "anthropic"),
        ({"OPENAI_API_KEY": "k", "ANTHROPIC_MODEL": "claude-x"}, {}, "openai"),
        ({"OPENAI_API_KEY": "k", "ANTHROPIC_MODEL": "ollama/x"}, {}, "ollama"),
    ],
)
def test_which_key_or_address_counts_first(
    environ: dict[str, str], own: dict[str, str], expected: str
) -> None:
    settings = resolve_model_settings({**UNSET, **own}, environ, None)
    assert split_model_name(settings.model)[0] == expected


def test_a_configured_model_is_no_choice() -> None:
    environ = {"ANTHROPIC_API_KEY": "k"}
    assert resolve_model_settings({**UNSET, "code.model": "gpt-5"}, environ, None).choice == ""
    environ["ANTHROPIC_MODEL"] = "claude-x"
    settings = resolve_model_settings(UNSET, environ, None)
    assert (settings.model, settings.choice) == ("anthropic/claude-x", "")


def test_at_another_address_the_main_model_summarizes() -> None:
    environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    settings = resolve_model_settings(UNSET, environ, None)
    assert settings.small_model == settings.model


def test_the_price_table_knows_each_default_model() -> None:
    if not has_price_table():
        pytest.skip("genai-prices is not installed")
    names = [name for row in VENDORS for name in (row.model, row.small_model)]
    dollars = [compute_dollars(name, TokenUsage(1_000_000, 1_000_000)) for name in names]
    assert [name for name, usd in zip(names, dollars, strict=True) if not usd] == []


def test_the_price_table_has_retired_no_default_model() -> None:
    """An older model of the same name, such as claude-sonnet-4-0, would not be in the last half."""
    snapshot = pytest.importorskip("genai_prices.data_snapshot").get_snapshot()
    models = {
        model.id: model
        for provider in snapshot.providers
        if provider.id in ("anthropic", "openai", "google")
        for model in provider.models
    }
    for name in (name for row in VENDORS for name in (row.model, row.small_model)):
        assert name in models, name  # its own entry, and not one that a prefix matches
        assert not models[name].deprecated, name


def test_the_table_is_the_only_place_with_the_ids_of_default_models() -> None:
    ids = {name for row in VENDORS for name in (row.model, row.small_model)}
    root = Path(__file__).parents[2] / "cub"
    found = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if any(name in path.read_text(encoding="utf-8") for name in ids)
    }
    assert found == {"agent/model_settings.py"}


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
        ("gpt-5", ("openai", "gpt-5")),
        ("o3", ("openai", "o3")),
        ("chatgpt-4o-latest", ("openai", "chatgpt-4o-latest")),
        ("codex-mini", ("openai", "codex-mini")),
        ("ft:gpt-4o:me", ("openai", "ft:gpt-4o:me")),
        ("gemini-2.5-pro", ("gemini", "gemini-2.5-pro")),
        ("vllm/Qwen/Qwen3", ("vllm", "Qwen/Qwen3")),
        ("scripted/a/b.yaml", ("scripted", "a/b.yaml")),
    ],
)
def test_a_name_may_begin_with_a_provider(name: str, expected: tuple[str, str]) -> None:
    assert split_model_name(name) == expected


@pytest.mark.parametrize("name", ["nobody/model", "openai/", "/x", "qwen3", "gpt-oss-20b", "opus"])
def test_an_unknown_provider_is_an_error(name: str) -> None:
    with pytest.raises(UsageError, match="unknown model") as caught:
        split_model_name(name)
    assert "ollama" in caught.value.hint


def test_a_key_that_is_missing_names_the_variable(tmp_path: Path) -> None:
    settings = resolve_model_settings({**UNSET, "code.model": "openai/gpt-5"}, {}, None)
    with pytest.raises(CubError, match="missing API key for api") as caught:
        load_models(settings, tmp_path)
    assert "OPENAI_API_KEY" in caught.value.hint


def test_without_a_key_the_error_names_all_of_them_and_a_local_server(tmp_path: Path) -> None:
    with pytest.raises(CubError, match="missing API key") as caught:
        load_models(resolve_model_settings(UNSET, {}, None), tmp_path)
    for word in (*BY_KEY, "`--model ollama/NAME`"):
        assert word in caught.value.hint


@pytest.mark.parametrize(
    ("address", "key"), [("ANTHROPIC_BASE_URL", "token"), ("OPENAI_BASE_URL", "key")]
)
def test_a_token_is_for_a_gateway_alone(tmp_path: Path, address: str, key: str) -> None:
    """As Claude Code's users set it; the key stays for the vendor."""
    variables = {"ANTHROPIC_API_KEY": "key", address: "http://127.0.0.1:1"}
    write_claude_settings(tmp_path, ANTHROPIC_AUTH_TOKEN="token", **variables)
    values = {**UNSET, "code.model": "anthropic/m"}
    model, _ = load_models(resolve_model_settings(values, {}, tmp_path), tmp_path)
    assert isinstance(model, AnthropicModel)
    assert model.endpoint.key == key


def test_white_space_around_an_address_and_a_key_does_not_count(tmp_path: Path) -> None:
    values = {**UNSET, "code.model": "openai/m", "code.base_url": " http://127.0.0.1:1/v1 "}
    settings = resolve_model_settings(values, {"OPENAI_API_KEY": "k-1\n"}, None)
    for model in load_models(settings, tmp_path):
        assert isinstance(model, OpenAIModel)
        assert model.endpoint[1:3] == ("http://127.0.0.1:1/v1", "k-1")


def test_the_effort_is_the_main_models(tmp_path: Path) -> None:
    values = {**UNSET, "code.model": "ollama/q", "code.small_model": "ollama/s"}
    values["code.effort"] = "high"
    models = load_models(resolve_model_settings(values, {}, None), tmp_path)
    efforts = [model.endpoint.effort for model in models if isinstance(model, OpenAIModel)]
    assert efforts == ["high", ""]


@pytest.mark.parametrize("variable", BY_KEY)
def test_each_vendor_needs_its_own_key(tmp_path: Path, variable: str) -> None:
    model = f"{BY_KEY[variable].name}/some"
    environ = dict.fromkeys(BY_KEY, "sk-1")
    load_models(resolve_model_settings({**UNSET, "code.model": model}, environ, None), tmp_path)
    environ[variable] = ""
    settings = resolve_model_settings({**UNSET, "code.model": model}, environ, None)
    with pytest.raises(CubError, match="missing API key for ") as caught:
        load_models(settings, tmp_path)
    assert f"set {variable}" in caught.value.hint


def test_a_server_on_this_machine_has_to_answer(closed_port: int) -> None:
    values = {**UNSET, "code.base_url": f"http://localhost:{closed_port}/v1"}
    for model, remedy in (("ollama/q", "`ollama serve`"), ("claude-x", "start it, or set `code.")):
        settings = resolve_model_settings({**values, "code.model": model}, {}, None)
        with pytest.raises(CubError, match="can't reach the model server at http") as caught:
            require_model_server(settings)
        assert remedy in caught.value.hint


def test_services_elsewhere_and_scripts_are_not_asked() -> None:
    environ = {"ANTHROPIC_API_KEY": "k", "OPENAI_BASE_URL": "http://host.invalid:1/v1"}
    for model in ("claude-x", "gpt-5", "scripted/x.yaml"):
        require_model_server(resolve_model_settings({**UNSET, "code.model": model}, environ, None))


def test_no_table_is_loaded_for_the_window_of_a_script() -> None:
    settings = resolve_model_settings({**UNSET, "code.model": "scripted/gpt-4o"}, {}, None)
    assert find_model_window(settings, "gpt-4o") is None


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


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port of this machine that refuses connections, and that nobody else gets."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]
