"""Describe opencode."""

from __future__ import annotations

from collections.abc import Iterator

from cub.agent_profiles.agent_files import AgentFiles, AgentReading, LoadedFile
from cub.agent_profiles.agent_profile import (
    DUMMY_KEY,
    AgentProfile,
    ReadingList,
    ServerSettings,
    SessionSteps,
)
from cub.agent_profiles.user_folders import UserFolder
from cub.config_edit.config_text import JSON

_CLAUDE_FLAGS = ("OPENCODE_DISABLE_CLAUDE_CODE", "OPENCODE_DISABLE_CLAUDE_CODE_PROMPT")
OPENCODE_LIST = ReadingList(
    ("opencode.jsonc", "opencode.json"),
    ("instructions",),
    JSON,
    # AGENTS.md it reads by itself, but it does not resolve imports.
    lambda required: required.references,
    # It would put this line into the file itself.
    new_file=b'{\n  "$schema": "https://opencode.ai/config.json"\n}\n',
)


_PROVIDER, _MODEL = "local", "scripted"
_OFFLINE = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_SHARE": "1",
    "OPENCODE_DISABLE_TERMINAL_TITLE": "1",
    # It installs a package into each of its directories, if it finds the registry.
    "npm_config_registry": "{url}",
}
_SETTINGS = {
    "model": "{model}",
    "small_model": "{model}",
    "autoupdate": False,
    "share": "disabled",
    "snapshot": False,  # it copies the project's files
    "agent": {"title": {"disable": True}},
    "enabled_providers": [_PROVIDER],
    "provider": {
        _PROVIDER: {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "{url}/v1", "apiKey": DUMMY_KEY},
            "models": {_MODEL: {"limit": {"context": 200_000, "output": 8_000}}},
        }
    },
}


def _list_opencode_entries(files: AgentFiles) -> Iterator[LoadedFile]:
    is_set = files.environ.get
    folders = [] if is_set("OPENCODE_DISABLE_PROJECT_CONFIG") else files.list_repository_folders()
    reads_claude = not any(map(is_set, _CLAUDE_FLAGS))
    claude = ("CLAUDE.md", ".claude/CLAUDE.md") if reads_claude else ("", "")
    for name in filter(None, ("AGENTS.md", claude[0], "CONTEXT.md")):
        if found := [f"{folder}/{name}" for folder in folders if name in files.list_names(folder)]:
            yield from map(LoadedFile, found)
            break
    config = files.find_user_folder("XDG_CONFIG_HOME", ".config")
    named = files.find_user_folder("OPENCODE_CONFIG_DIR", "")
    named = "" if named == files.home else named
    users = list(filter(None, (named, f"{config}/opencode" * bool(config))))
    texts = [f"{folder}/AGENTS.md" for folder in users]
    texts += [f"{files.home}/{claude[1]}"] if files.home and claude[1] else []
    yield from map(LoadedFile, [path for path in texts if files.read(path)][:1])
    inner = [f"{folder}/.opencode" for folder in folders]
    settings = [f"{folder}/{name}" for folder in (*users, *folders, *inner)
                for name in OPENCODE_LIST.files]  # fmt: skip
    settings += [files.find_user_folder("OPENCODE_CONFIG", "")] * bool(is_set("OPENCODE_CONFIG"))
    for path in settings:
        listed = files.read_list(path, OPENCODE_LIST.keys) or ()
        texts = [one for folder in folders or [files.start] for one in files.expand(listed, folder)]
        yield from map(LoadedFile, texts)


OPENCODE = AgentProfile(
    name="opencode",
    title="opencode",
    program="opencode",
    resume=("opencode", "-s"),
    oldest_version="1.18.33",
    installation="npm install -g opencode-ai",
    login="run `opencode auth login`",
    reports_cost=True,
    project_files=("AGENTS.md",),
    user_files=(".config/opencode/AGENTS.md",),
    outside=(
        "$OPENCODE_CONFIG",
        "$OPENCODE_CONFIG_DIR",
        "$OPENCODE_CONFIG_CONTENT",
        "$XDG_CONFIG_HOME",
        "~/.config/opencode/opencode.jsonc",
        "~/.config/opencode/opencode.json",
        "~/.claude/CLAUDE.md",
        "/etc/opencode",
    ),
    folder=".opencode",
    own_folders=(
        UserFolder(
            "~/.config",
            ("XDG_CONFIG_HOME",),
            ("opencode",),
            read_only=(
                "*.json",
                "*.jsonc",
                "*.md",
                "agent*",
                "command*",
                "mode*",
                "plugin*",
                "skill*",
                "tool*",
            ),
        ),
        UserFolder("~/.local/share", ("XDG_DATA_HOME",), ("opencode",), read_only=("bin",)),
        UserFolder("~/.local/state", ("XDG_STATE_HOME",), ("opencode",)),
        UserFolder("~/.cache", ("XDG_CACHE_HOME",), ("opencode",), read_only=("bin",)),
    ),
    settings=(r"opencode\.jsonc?", r"\.opencode/plugins?/.*"),
    executables=(r"\.opencode/(?:agents?|commands?|modes?|skills?|tools?)/.*",),
    reading_list=OPENCODE_LIST,
    server=ServerSettings(
        f"{_PROVIDER}/{_MODEL}", _OFFLINE, {".config/opencode/opencode.json": _SETTINGS}
    ),
    steps=SessionSteps(
        ("--continue",),
        ("task", {"description": "Test", "subagent_type": "general"}),
        full_tokens=199_000,
    ),
    reading=AgentReading(_list_opencode_entries),
)
