"""Describe aider."""

from __future__ import annotations

from collections.abc import Iterator

from cub.agent_profiles.agent_files import AgentFiles, AgentReading, LoadedFile
from cub.agent_profiles.agent_profile import DUMMY_KEY, AgentProfile, ReadingList, Redirect
from cub.config_edit.config_text import YAML

_OFFLINE = {
    "OPENAI_API_KEY": DUMMY_KEY,
    "AIDER_ANALYTICS": "false",
    "AIDER_CHECK_UPDATE": "false",
    "AIDER_SHOW_RELEASE_NOTES": "false",
    "AIDER_SHOW_MODEL_WARNINGS": "false",
    "AIDER_DISABLE_PLAYWRIGHT": "true",
    "AIDER_DETECT_URLS": "false",
    "AIDER_MAP_TOKENS": "0",  # its map of the project has a cache in the project
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}
AIDER_LIST = ReadingList(
    (".aider.conf.yml",),
    ("read",),
    YAML,
    lambda required: (*required.whole, *required.references),
)


def _redirect(redirect: Redirect) -> None:
    model, base = "openai/gpt-4o", f"{redirect.url}/v1"
    redirect.model = model
    redirect.environ |= {**_OFFLINE, "OPENAI_API_BASE": base, "AIDER_MODEL": model}
    # A project's .env replaces variables, and may hold a key that works.
    redirect.argv = ("--openai-api-base", base, "--openai-api-key", DUMMY_KEY)
    redirect.argv += ("--model", model, "--weak-model", model)
    for kind in ("CHAT", "INPUT"):
        file = redirect.home / f".aider.{kind}.history"
        redirect.environ[f"AIDER_{kind}_HISTORY_FILE"] = file.as_posix()
    # aider downloads the prices unless this file has some of today.
    redirect.write_settings(".aider/caches/model_prices_and_context_window.json", '{"local": {}}')


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
    settings=(r"\.aider\.conf\.yml",),
    reading_list=AIDER_LIST,
    outside=("$AIDER_CONFIG_FILE", "$AIDER_READ", "~/.aider.conf.yml"),
    redirect=_redirect,
    reading=AgentReading(_list_aider_entries),
)
