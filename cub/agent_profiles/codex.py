"""Describe Codex."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cub.agent_profiles.agent_files import AgentFiles, AgentReading, LoadedFile
from cub.agent_profiles.agent_profile import DUMMY_KEY, AgentProfile, ServerSettings, SessionSteps
from cub.agent_profiles.user_folders import AGENT_SETTINGS, UserFolder

CODEX_OVERRIDE = "AGENTS.override.md"  # it takes the place of AGENTS.md
CODEX_MAX_BYTES = 32 * 1024  # its `project_doc_max_bytes`, unless set
_READ_ONLY = (*AGENT_SETTINGS, "*config.toml", "packages")
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


def _list_codex_entries(files: AgentFiles) -> Iterator[LoadedFile]:
    user = files.find_user_folder("CODEX_HOME", ".codex")
    names: tuple[str, ...] = (CODEX_OVERRIDE, "AGENTS.md")
    texts = [path for name in names if user and files.read(path := f"{user}/{name}").strip()]
    yield from map(LoadedFile, texts[:1])
    settings, folders = _read_codex_settings(files, user)
    names += _list_names(settings.get("project_doc_fallback_filenames"))
    limit = settings.get("project_doc_max_bytes")
    rest = limit if isinstance(limit, int) else CODEX_MAX_BYTES
    for folder in folders:
        if path := files.find_first(folder, names):
            yield LoadedFile(path, rest)
            rest = max(0, rest - len(files.read(path)))


def _read_codex_settings(files: AgentFiles, user: str) -> tuple[dict[str, Any], list[str]]:
    """Return Codex's settings, and the folders whose files it reads.

    It reads the settings of a project only if the user trusts it.
    """
    settings = _read_toml(files, f"{user}/config.toml") if user else {}
    if "--ignore-user-config" in files.arguments:
        settings = {}
    given = _parse_codex_arguments(files.find_arguments("-c", "--config"))
    markers = {**settings, **given}.get("project_root_markers", [".git"])
    folders = files.list_repository_folders(_list_names(markers))
    projects = settings.get("projects")
    trusted = projects.get(folders[0], {}) if isinstance(projects, dict) else {}
    if isinstance(trusted, dict) and trusted.get("trust_level") == "trusted":
        for folder in folders:
            settings |= _read_toml(files, f"{folder}/.codex/config.toml")
    return {**settings, **given}, folders


def _list_names(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _parse_toml(text: str) -> dict[str, Any]:
    """Return the settings in a text, none if it has a fault."""
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _read_toml(files: AgentFiles, path: str) -> dict[str, Any]:
    return _parse_toml(files.read(path).decode("utf-8", "replace"))


def _parse_codex_arguments(words: Iterable[str]) -> dict[str, Any]:
    pairs = (word.partition("=") for word in words)
    return {
        key.strip(): _parse_toml(f"value = {value}").get("value", value) for key, _, value in pairs
    }


def _exclude_from_codex(files: AgentFiles, paths: Sequence[str]) -> tuple[str, ...] | None:
    """Return what keeps Codex from all files of the project; None for one of the user's."""
    is_own = all(files.is_below(path, files.root) for path in paths)
    return ("-c", "project_doc_max_bytes=0") if is_own else None


CODEX = AgentProfile(
    name="codex",
    title="Codex",
    program="codex",
    resume=("codex", "resume"),
    oldest_version="0.169.0",
    installation="npm install -g @openai/codex",
    login="run `codex login`",
    project_files=("AGENTS.md",),
    user_files=(".codex/AGENTS.md",),
    outside=("$CODEX_HOME", "~/.codex/AGENTS.override.md", "~/.codex/config.toml", "/etc/codex"),
    folder=".codex",
    trusts_paths=True,
    own_folders=(UserFolder("~/.codex", ("CODEX_HOME",), read_only=_READ_ONLY),),
    settings=(r"\.codex/config\.toml",),
    executables=(r"\.codex/(?:agents|prompts|rules|skills)/.*",),
    server=ServerSettings(
        "gpt-5",  # the default model has no plain shell tool
        {"OPENAI_API_KEY": DUMMY_KEY},
        {".codex/config.toml": _CONFIG},
        ("-c", 'model_provider="local"', "-c", 'model="{model}"'),
    ),
    steps=SessionSteps(("resume", "--last"), full_tokens=260_000),
    reading=AgentReading(_list_codex_entries, prevent_load=_exclude_from_codex),
)
