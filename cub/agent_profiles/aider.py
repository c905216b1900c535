"""Describe aider."""

from __future__ import annotations

from collections.abc import Iterator

from cub.agent_profiles.agent_files import AgentFiles, AgentReading, LoadedFile
from cub.agent_profiles.agent_profile import DUMMY_KEY, AgentProfile, ReadingList, ServerSettings
from cub.agent_profiles.user_folders import UserFolder
from cub.config_edit.config_text import YAML

_MODEL, _BASE = "openai/gpt-4o", "{url}/v1"
_OFFLINE = {
    "OPENAI_API_KEY": DUMMY_KEY,
    "OPENAI_API_BASE": _BASE,
    "AIDER_MODEL": _MODEL,
    "AIDER_CHAT_HISTORY_FILE": "{home}/.aider.CHAT.history",
    "AIDER_INPUT_HISTORY_FILE": "{home}/.aider.INPUT.history",
    "AIDER_ANALYTICS": "false",
    "AIDER_CHECK_UPDATE": "false",
    "AIDER_SHOW_RELEASE_NOTES": "false",
    "AIDER_SHOW_MODEL_WARNINGS": "false",
    "AIDER_DISABLE_PLAYWRIGHT": "true",
    "AIDER_DETECT_URLS": "false",
    "AIDER_MAP_TOKENS": "0",  # its map of the project has a cache in the project
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}
# A project's .env replaces variables, and may hold a key that works.
_ARGUMENTS = (
    "--openai-api-base", _BASE, "--openai-api-key", DUMMY_KEY, "--model", _MODEL,
    "--weak-model", _MODEL,
)  # fmt: skip
AIDER_LIST = ReadingList(
    (".aider.conf.yml",),
    ("read",),
    YAML,
    lambda required: (*required.whole, *required.references),
)


def _list_aider_entries(files: AgentFiles) -> Iterator[LoadedFile]:
    folders = dict.fromkeys((files.start, files.list_repository_folders()[0], files.home))
    paths = [files.join(files.start, one) for one in files.find_arguments("--config", "-c")]
    paths = paths or [f"{folder}/{AIDER_LIST.files[0]}" for folder in folders if folder]
    variable = files.environ.get("AIDER_READ", "")
    given = files.find_arguments("--read") or [variable] * bool(variable)
    lists = (files.read_list(path, AIDER_LIST.keys, AIDER_LIST.format) for path in paths)
    # The first list replaces the others.
    names = given or next((listed for listed in lists if listed is not None), [])
    yield from map(LoadedFile, files.expand(names, has_globs=False))


AIDER = AgentProfile(
    name="aider",
    title="aider",
    program="aider",
    oldest_version="0.86.2",
    installation="uv tool install aider-chat",
    login="set the key of your provider, such as ANTHROPIC_API_KEY or OPENAI_API_KEY",
    reports_cost=True,
    own_folders=(UserFolder("~/.aider"),),
    settings=(r"\.aider\.(?:conf|model\.settings)\.yml",),
    reading_list=AIDER_LIST,
    outside=("$AIDER_CONFIG_FILE", "$AIDER_READ", "~/.aider.conf.yml"),
    server=ServerSettings(
        _MODEL,
        _OFFLINE,
        # aider downloads the prices unless this file has some of today.
        {".aider/caches/model_prices_and_context_window.json": {"local": {}}},
        _ARGUMENTS,
    ),
    reading=AgentReading(_list_aider_entries),
)
