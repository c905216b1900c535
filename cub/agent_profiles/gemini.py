"""Describe Gemini CLI."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from cub.agent_profiles.agent_files import AgentFiles, AgentReading, LoadedFile
from cub.agent_profiles.agent_profile import (
    DUMMY_KEY,
    AgentProfile,
    ReadingList,
    ServerSettings,
    SessionSteps,
)
from cub.agent_profiles.user_folders import AGENT_SETTINGS, UserFolder
from cub.config_edit.config_text import STRICT_JSON

_CODE = re.compile(r"(`+).*?\1", re.DOTALL)
_IMPORT = re.compile(r"(?<!\S)@([./A-Za-z]\S*)")
_READ_ONLY = (*AGENT_SETTINGS, "trustedFolders.json", ".env", "policies")
_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "model": {"compressionThreshold": 0.05},  # for proofs: some 50,000 tokens, by its estimate
}
GEMINI_LIST = ReadingList(
    (".gemini/settings.json",),
    ("context", "fileName"),
    STRICT_JSON,
    # It resolves imports, and looks for these names in every directory.
    lambda required: required.entry,
    # The first name is also the one under which it keeps its own memory.
    default=("GEMINI.md",),
)


def get_gemini_file_names(files: AgentFiles) -> tuple[str, ...]:
    """Return the names of the instruction files that Gemini CLI loads in this project.

    GEMINI.md is always one of them, as Gemini CLI adds what the setting names. A settings file that
    can't be read is ignored.
    """
    homes = [home] if (home := files.find_user_folder("GEMINI_CLI_HOME", "")) else []
    paths = (f"{folder}/{GEMINI_LIST.files[0]}" for folder in (files.start, *homes))
    found = (files.read_list(path, GEMINI_LIST.keys, GEMINI_LIST.format) for path in paths)
    listed = next((names for names in found if names is not None), [])
    names = (posixpath.normpath(name.strip()) for name in listed if name.strip())
    return tuple(dict.fromkeys((*names, *GEMINI_LIST.default)))


def _list_gemini_entries(files: AgentFiles) -> Iterator[LoadedFile]:
    home = files.find_user_folder("GEMINI_CLI_HOME", "")
    names = get_gemini_file_names(files)
    if home:
        yield from (LoadedFile(f"{home}/.gemini/{one}", limit=f"{home}/.gemini") for one in names)
    folders = files.list_repository_folders()
    for folder in folders:
        yield from (LoadedFile(posixpath.join(folder, one), limit=folders[0]) for one in names)


def _find_gemini_imports(data: bytes) -> list[str]:
    """Return what Gemini CLI imports, each time: anything after a blank, except in backticks."""
    text = _CODE.sub(lambda code: "`" * len(code[0]), data.decode("utf-8-sig", "replace"))
    return _IMPORT.findall(text)


GEMINI = AgentProfile(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    resume=("gemini", "--resume"),
    oldest_version="0.61.0",
    installation="npm install -g @google/gemini-cli",
    login="run `gemini` and log in, or set GEMINI_API_KEY",
    project_files=("GEMINI.md",),
    user_files=(".gemini/GEMINI.md",),
    outside=(
        "$GEMINI_CLI_HOME",
        "$GEMINI_SYSTEM_MD",
        "~/.gemini/settings.json",
        "~/.gemini/extensions",
        "/etc/gemini-cli",
        "/Library/Application Support/GeminiCli",
    ),
    folder=".gemini",
    own_folders=(UserFolder("~", ("GEMINI_CLI_HOME",), (".gemini",), read_only=_READ_ONLY),),
    settings=(r"\.gemini/settings\.json",),
    executables=(r"\.gemini/(?:agents?|commands?|extensions|policies|skills)/.*",),
    reading_list=GEMINI_LIST,
    server=ServerSettings(
        "gemini-2.5-pro",  # the default asks a model first which one to use
        {
            "GEMINI_API_KEY": DUMMY_KEY,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GOOGLE_GEMINI_BASE_URL": "{url}",
            "GEMINI_MODEL": "{model}",
        },
        {GEMINI_LIST.files[0]: _SETTINGS},
    ),
    steps=SessionSteps(
        ("--resume", "latest"),
        ("invoke_agent", {"agent_name": "generalist"}),
        compact=("Go on.",),
        environ={"GEMINI_CLI_NO_RELAUNCH": "true"},  # it starts itself again with more memory
    ),
    reading=AgentReading(_list_gemini_entries, _find_gemini_imports, 5, repeats_imports=True),
)
