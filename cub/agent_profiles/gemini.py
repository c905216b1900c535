"""Describe Gemini CLI."""

from __future__ import annotations

import posixpath

from cub.agent_profiles.agent_profile import DUMMY_KEY, AgentProfile, ReadingList, Redirect
from cub.config_edit.config_text import STRICT_JSON
from cub.config_edit.string_list import read_string_list
from cub.errors import CubError
from cub.files import FileTree

_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
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


def get_gemini_file_names(tree: FileTree) -> tuple[str, ...]:
    """Return the names of the instruction files that Gemini CLI loads in this project.

    GEMINI.md is always one of them, as Gemini CLI adds what the setting names. A settings file that
    can't be read is ignored.
    """
    location = GEMINI_LIST.locate(tree)
    try:
        data = tree.read(location.path)
        listed = read_string_list(data, location) or () if data else ()
    except CubError:
        listed = ()
    names = (posixpath.normpath(name.strip()) for name in listed if name.strip())
    return tuple(dict.fromkeys((*names, *GEMINI_LIST.default)))


def _redirect(redirect: Redirect) -> None:
    redirect.model = "gemini-2.5-pro"  # the default asks a model first which one to use
    redirect.environ |= {
        "GEMINI_API_KEY": DUMMY_KEY,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GOOGLE_GEMINI_BASE_URL": redirect.url,
        "GEMINI_MODEL": redirect.model,
    }
    redirect.write_settings(".gemini/settings.json", _SETTINGS)


GEMINI = AgentProfile(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    oldest_version="0.61.0",
    installation="npm install -g @google/gemini-cli",
    login="run `gemini` and log in, or set GEMINI_API_KEY",
    project_files=("GEMINI.md",),
    user_files=(".gemini/GEMINI.md",),
    folder=".gemini",
    settings=(r"\.gemini/settings\.json",),
    executables=(r"\.gemini/(?:agents?|commands?)/.*",),
    reading_list=GEMINI_LIST,
    redirect=_redirect,
)
