"""Resolve which models a session uses, where they are, and the key for them.

A value comes from cub's configuration, or else from the object `env` in the user's settings of
Claude Code, from the environment, or from the defaults of the agent's design document, in this
order.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from cub.agent.model import Model, ModelEndpoint
from cub.agent.scripted_model import load_scripted_model
from cub.config_edit.jsonc import parse_jsonc
from cub.config_edit.nodes import decode_source
from cub.errors import CubError, UsageError
from cub.files.single_file import read_single_file
from cub.json_values import get_object
from cub.project.setting_kinds import parse_seconds

DEFAULT_MODEL, DEFAULT_SMALL_MODEL = "claude-sonnet-4-20250514", "claude-haiku-3-5-20241022"
DEFAULT_MAX_OUTPUT_TOKENS, DEFAULT_COMPACTION_THRESHOLD = 16_384, 160_000
CLAUDE_SETTINGS = ".claude/settings.json"
SCRIPTED = "scripted"
_TRUE = ("1", "true", "yes", "on")


class Provider(NamedTuple):
    """Describe who serves models: the API, the address, and the variables for address and key.

    Without a variable for the key, none is needed. A `base_url` of "" is the vendor's own.
    """

    name: str
    api: Literal["anthropic", "openai"]
    base_url: str = ""
    base_url_variable: str = ""
    key_variable: str = ""


PROVIDERS = (
    Provider("anthropic", "anthropic", "", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    Provider("openai", "openai", "", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    Provider("ollama", "openai", "http://127.0.0.1:11434/v1"),
    Provider("lmstudio", "openai", "http://127.0.0.1:1234/v1"),
    Provider("vllm", "openai", "http://127.0.0.1:8000/v1"),
)


class ModelSettings(NamedTuple):
    """Hold what a session needs to know of its models.

    `base_url` and `key` are those of cub's own configuration, for the provider of the main model;
    "" if it has none. `variables` are the environment below Claude Code's settings.
    """

    model: str
    small_model: str
    base_url: str
    key: str
    timeout: float
    max_output_tokens: int
    compaction_threshold: int
    is_debug: bool
    variables: Mapping[str, str]


def resolve_model_settings(
    values: Mapping[str, Any], environ: Mapping[str, str], home: Path | None
) -> ModelSettings:
    """Return the settings; `values` has those of cub's configuration, by key, None if not set.

    Raises CubError for a number that is none, and for settings of Claude Code that can't be read.
    """
    variables = {**environ, **_read_claude_variables(home)}
    model = values["code.model"] or variables.get("ANTHROPIC_MODEL") or DEFAULT_MODEL
    small_model = values["code.small_model"]
    if not small_model and split_model_name(model)[0] == PROVIDERS[0].name:
        small_model = variables.get("ANTHROPIC_SMALL_FAST_MODEL") or DEFAULT_SMALL_MODEL
    return ModelSettings(
        model,
        small_model or model,  # another service has neither the variable's nor the default one
        values["code.base_url"] or "",
        values["code.api_key"] or "",
        parse_seconds(values["code.timeout"]),
        values["code.max_output_tokens"]
        or _read_number(variables, "ANTHROPIC_MAX_OUTPUT_TOKENS", DEFAULT_MAX_OUTPUT_TOKENS),
        values["code.compaction_threshold"]
        or _read_number(variables, "ANTHROPIC_COMPACTION_THRESHOLD", DEFAULT_COMPACTION_THRESHOLD),
        values["code.debug"] or variables.get("CODINGAGENT_DEBUG", "").lower() in _TRUE,
        variables,
    )


def split_model_name(name: str) -> tuple[str, str]:
    """Return the provider and the model of a name such as `ollama/qwen3`; without one, anthropic.

    Raises UsageError for a provider that is not known.
    """
    provider, slash, model = name.partition("/")
    if not slash:
        return PROVIDERS[0].name, name
    known = [*(row.name for row in PROVIDERS), SCRIPTED]
    if provider not in known or not model:
        hint = f"write PROVIDER/MODEL; choose the provider from {', '.join(known)}"
        raise UsageError(f"unknown model {name!r}", hint=hint)
    return provider, model


def load_models(settings: ModelSettings, folder: Path) -> tuple[Model, Model]:
    """Return the main model and the small one; scripts are files relative to `folder`.

    Nothing is imported of a service before its first request. Raises CubError for a script that is
    not valid, and for a key that is missing.
    """
    main_provider, _ = split_model_name(settings.model)
    models = [
        _load_model(name, settings, folder, main_provider)
        for name in (settings.model, settings.small_model)
    ]
    return models[0], models[1]


def _load_model(name: str, settings: ModelSettings, folder: Path, main_provider: str) -> Model:
    provider_name, model = split_model_name(name)
    if provider_name == SCRIPTED:
        return load_scripted_model(folder / model, model)
    provider = next(row for row in PROVIDERS if row.name == provider_name)
    is_main, variables = provider_name == main_provider, settings.variables
    base_url = settings.base_url * is_main or variables.get(provider.base_url_variable, "")
    key = settings.key * is_main or variables.get(provider.key_variable, "")
    endpoint = ModelEndpoint(model, base_url or provider.base_url, key, settings.timeout)
    if provider.api == "anthropic":
        from cub.agent.anthropic_model import AnthropicModel

        return AnthropicModel(endpoint)
    from cub.agent.openai_model import OpenAIModel

    return OpenAIModel(endpoint)


def _read_claude_variables(home: Path | None) -> dict[str, str]:
    """Return the object `env` of the user's settings of Claude Code; {} if there is none."""
    path = home / CLAUDE_SETTINGS if home else None
    data = read_single_file(path, f"~/{CLAUDE_SETTINGS}") if path else None
    root = parse_jsonc(decode_source(data, f"~/{CLAUDE_SETTINGS}", 1 << 20)) if data else None
    tree = root.to_python() if root else {}
    env = get_object(tree, "env") if isinstance(tree, dict) else {}
    return {key: str(value) for key, value in env.items() if isinstance(value, str | int)}


def _read_number(variables: Mapping[str, str], name: str, default: int) -> int:
    text = variables.get(name, "")
    if not text:
        return default
    if not text.isdecimal() or int(text) < 1:
        raise CubError(f"{text!r} is not a number of tokens", where=name)
    return int(text)
