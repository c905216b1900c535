"""Resolve which models a session uses, where they are, and the key for them.

A value comes from cub's configuration, or else from the object `env` in the user's settings of
Claude Code, from the environment, or from the table below, in this order. Without a configured
model, the first key that is set decides which provider's default model is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from cub.agent.local_server import check_local_server, find_local_window
from cub.agent.model import Model, ModelEndpoint
from cub.agent.scripted_model import load_scripted_model
from cub.config_edit.jsonc import parse_jsonc
from cub.config_edit.nodes import ConfigNode
from cub.errors import CubError, UsageError
from cub.files.single_file import read_single_file
from cub.installation import find_installation
from cub.json_values import get_object
from cub.project.setting_kinds import parse_seconds
from cub.source_text import SourceText, decode_source
from cub.tokens import TokenUsage, compute_dollars, find_context_window, has_price_table

DEFAULT_MAX_OUTPUT_TOKENS, DEFAULT_COMPACTION_THRESHOLD = 16_384, 160_000
CLAUDE_SETTINGS = ".claude/settings.json"
SCRIPTED = "scripted"
_TRUE = ("1", "true", "yes", "on")


class Provider(NamedTuple):
    """Describe who serves models: the API, the address, and the variables for address and key.

    Without a variable for the key, none is needed. A `base_url` of "" is the vendor's own. `model`
    and `small_model` are the defaults; `names` matches the models that need no `PROVIDER/`, and
    `start` is the command that starts a local server. `token_variable` replaces the key at another
    address.
    """

    name: str
    api: Literal["anthropic", "openai"]
    base_url: str = ""
    base_url_variable: str = ""
    key_variable: str = ""
    model: str = ""
    small_model: str = ""
    names: str = ""
    start: str = ""
    token_variable: str = ""


# In the order in which keys are looked for. The price table knows each model, a test says.
PROVIDERS = (
    Provider(
        "anthropic", "anthropic", "", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY",
        "claude-sonnet-5-5", "claude-haiku-5-5", names="claude",
        token_variable="ANTHROPIC_AUTH_TOKEN",  # noqa: S106 - a name
    ),
    Provider(
        "openai", "openai", "", "OPENAI_BASE_URL", "OPENAI_API_KEY",
        # gpt-6.1-sol does not take tools through Chat Completions.
        "gpt-6-sol", "gpt-6-luna", names=r"(?:ft:)?(?:gpt-(?!oss)|chatgpt-|codex-|o\d)",
    ),
    Provider(
        "gemini", "openai", "https://generativelanguage.googleapis.com/v1beta/openai", "",
        "GEMINI_API_KEY", "gemini-3.8-flash", "gemini-3.5-flash-lite", names="gemini-",
    ),
    Provider("ollama", "openai", "http://127.0.0.1:11434/v1", start="ollama serve"),
    Provider("lmstudio", "openai", "http://127.0.0.1:1234/v1", start="lms server start"),
    Provider("vllm", "openai", "http://127.0.0.1:8000/v1", start="vllm serve MODEL"),
)  # fmt: skip
_MODEL_VARIABLE, _SMALL_MODEL_VARIABLE = "ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL"


class ModelSettings(NamedTuple):
    """Hold what a session needs to know of its models.

    `base_url` and `key` are those of cub's own configuration, for the provider of the main model;
    "" if it has none. `effort` is for the main model alone. `variables` are the environment below
    Claude Code's settings. `reason` says why a model was chosen that nobody configured; without any
    key, `model` is "".
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
    reason: str = ""
    effort: str = ""

    @property
    def choice(self) -> str:
        """Return the model that cub chose, and why; "" for a model that is configured."""
        return f"{split_model_name(self.model)[1]} ({self.reason})" if self.reason else ""


def resolve_model_settings(
    values: Mapping[str, Any], environ: Mapping[str, str], home: Path | None
) -> ModelSettings:
    """Return the settings; `values` has those of cub's configuration, by key, None if not set.

    Raises CubError for a number that is none, and for settings of Claude Code that can't be read.
    """
    variables = {**environ, **_read_claude_variables(home)}
    model, reason = values["code.model"] or "", ""
    if not model:
        model, reason = _choose_model(values, variables)
    return ModelSettings(
        model,
        values["code.small_model"] or _choose_small_model(model, values, variables),
        values["code.base_url"] or "",
        values["code.api_key"] or "",
        parse_seconds(values["code.timeout"]),
        values["code.max_output_tokens"]
        or _read_number(variables, "ANTHROPIC_MAX_OUTPUT_TOKENS", DEFAULT_MAX_OUTPUT_TOKENS),
        values["code.compaction_threshold"]
        or _read_number(variables, "ANTHROPIC_COMPACTION_THRESHOLD", DEFAULT_COMPACTION_THRESHOLD),
        values["code.debug"] or variables.get("CODINGAGENT_DEBUG", "").lower() in _TRUE,
        variables,
        reason,
        values["code.effort"] or "",
    )


def _choose_model(values: Mapping[str, Any], variables: Mapping[str, str]) -> tuple[str, str]:
    """Return a model and why, by the first key or address that is set; "" and "" without any."""
    named = variables.get(_MODEL_VARIABLE, "")
    if "/" in named:
        return named, ""
    places = [(row, row.key_variable) for row in PROVIDERS]
    places += [(row, row.base_url_variable) for row in PROVIDERS]
    if values["code.api_key"]:  # it is never sent to another provider than it always was
        found: tuple[Provider, str] | None = (PROVIDERS[0], "code.api_key")
    else:
        found = next((place for place in places if variables.get(place[1], "").strip()), None)
    if found is None and values["code.base_url"]:
        found = PROVIDERS[0], "code.base_url"
    if found is None or (named and found[0] == PROVIDERS[0]):
        return f"{PROVIDERS[0].name}/{named}" if named else "", ""
    return f"{found[0].name}/{found[0].model}", f"{found[1]} is set"


def _choose_small_model(model: str, values: Mapping[str, Any], variables: Mapping[str, str]) -> str:
    """Return the small model of the main one's provider, or else the main one.

    A server at another address may not have it.
    """
    provider = _find_provider(model) if model else None
    if provider is None:
        return model
    if provider == PROVIDERS[0] and (named := variables.get(_SMALL_MODEL_VARIABLE)):
        return named if "/" in named else f"{provider.name}/{named}"
    has_address = values["code.base_url"] or variables.get(provider.base_url_variable)
    is_vendor = provider.small_model and not has_address
    return f"{provider.name}/{provider.small_model}" if is_vendor else model


def _find_provider(name: str) -> Provider | None:
    """Return the provider of a model; None for a script. Raises UsageError for an unknown one."""
    provider, _ = split_model_name(name)
    return next((row for row in PROVIDERS if row.name == provider), None)


def split_model_name(name: str) -> tuple[str, str]:
    """Return the provider and the model of a name such as `ollama/qwen3` or `gpt-5`.

    Raises UsageError for a name that belongs to no known provider.
    """
    provider, slash, model = name.partition("/")
    if not slash:
        matches = (row.name for row in PROVIDERS if row.names and re.match(row.names, name))
        provider, model = next(matches, ""), name
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
    if not settings.model:
        names = [row.key_variable for row in PROVIDERS if row.key_variable]
        hint = (
            f"set {', '.join(names[:-1])}, or {names[-1]}, or name a model of a server on your "
            "machine: `--model ollama/NAME`"
        )
        raise CubError("missing API key", hint=hint)
    main, small = (
        load_model(name, settings, folder) for name in (settings.model, settings.small_model)
    )
    return main, small


def require_prices(settings: ModelSettings) -> None:
    """Raise CubError if the price of a model is not known, so that no limit in dollars can hold."""
    for name in (settings.model, settings.small_model):
        if compute_dollars(split_model_name(name)[1], TokenUsage(1, 1)) is None:
            hint = "limit the session by --max-turns, or choose a model with a known price"
            if not has_price_table():
                hint = f"run `{find_installation().suggest_extra('prices')}`"
            raise CubError(f"--max-budget-usd needs a price, and {name} has none", hint=hint)


def find_model_window(settings: ModelSettings, name: str) -> int | None:
    """Return how many tokens a model can read; None if neither its server nor a table says so.

    The main model's server is asked if it is on this machine. A script reads any number.
    """
    found = _find_endpoint(settings.model, settings)
    if found is None:
        return None
    _, endpoint = found
    window = find_local_window(endpoint) if name == endpoint.model else None
    return window or find_context_window(name)


def require_model_server(settings: ModelSettings) -> None:
    """Raise CubError if the main model's server is on this machine and does not answer.

    A server at its provider's own address also has to list the model.
    """
    if found := _find_endpoint(settings.model, settings):
        provider, endpoint = found
        is_own = endpoint.base_url == provider.base_url
        check_local_server(endpoint, provider.start, lists_models=is_own)


def load_model(name: str, settings: ModelSettings, folder: Path) -> Model:
    """Return the model of this name, as `load_models` does."""
    found = _find_endpoint(name, settings)
    if found is None:
        _, script = split_model_name(name)
        return load_scripted_model(folder / script, script)
    provider, endpoint = found
    if provider.api == "anthropic":
        from cub.agent.anthropic_model import AnthropicModel

        return AnthropicModel(endpoint)
    from cub.agent.openai_model import OpenAIModel

    return OpenAIModel(endpoint)


def _find_endpoint(name: str, settings: ModelSettings) -> tuple[Provider, ModelEndpoint] | None:
    """Return who serves a model, and where; None for a script, and for "".

    Raises UsageError for a name that belongs to no known provider.
    """
    provider = _find_provider(name) if name else None
    if provider is None:
        return None
    is_main = provider.name == split_model_name(settings.model)[0]
    variables = settings.variables
    base_url = settings.base_url * is_main or variables.get(provider.base_url_variable, "")
    # Gateways have their users set a token, and leave the key for the vendor.
    token = variables.get(provider.token_variable, "") * bool(base_url)
    key = settings.key * is_main or token or variables.get(provider.key_variable, "")
    return provider, ModelEndpoint(
        split_model_name(name)[1],
        base_url.strip() or provider.base_url,
        key.strip(),
        settings.timeout,
        key_variable="" if base_url else provider.key_variable,
        effort=settings.effort if name == settings.model else "",
    )


def read_claude_settings(home: Path | None) -> tuple[SourceText, ConfigNode | None]:
    """Return the text of the user's settings of Claude Code, and its value; None without any.

    Raises CubError for a file that can't be read.
    """
    name = f"~/{CLAUDE_SETTINGS}"
    data = read_single_file(home / CLAUDE_SETTINGS, name) if home else None
    source = decode_source(data or b"", name, 1 << 20)
    return source, parse_jsonc(source)


def _read_claude_variables(home: Path | None) -> dict[str, str]:
    """Return the object `env` of the user's settings of Claude Code; {} if there is none."""
    _, root = read_claude_settings(home)
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
