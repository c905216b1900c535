"""List the agents that `cub init` can let read everything, and the settings that some need."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection
from typing import NamedTuple

from cub.config_edit.config_text import JSON, STRICT_JSON, YAML, ConfigFormat
from cub.config_edit.string_list import ListLocation, read_string_list
from cub.errors import CubError, UsageError
from cub.files import FileTree
from cub.project.targets import CLAUDE_MD, CODEX, GEMINI_MD


class RequiredFiles(NamedTuple):
    """Hold what an agent has to read in a project, as paths from its root.

    `entry`: the root's instruction file, unless GEMINI.md imports it; `whole`: the instruction
    files that together say everything, for an agent that opens no file on its own; `references`:
    what they import; `unneeded`: what they have in themselves, and files that are gone.
    """

    entry: tuple[str, ...]
    whole: tuple[str, ...]
    references: tuple[str, ...]
    unneeded: tuple[str, ...]


class AgentSettings(NamedTuple):
    """Describe an agent's setting: a list of files to read.

    `files`: where the setting may be, the one to create last; `new_file`: how a new file begins;
    `default`: what the agent reads without the setting; `select_files`: what has to be in it.
    """

    name: str
    title: str
    files: tuple[str, ...]
    keys: tuple[str, ...]
    format: ConfigFormat
    select_files: Callable[[RequiredFiles], tuple[str, ...]]
    default: tuple[str, ...] = ()
    new_file: bytes = b""

    def locate(self, tree: FileTree) -> ListLocation:
        """Return where the setting is in a project, or will be."""
        parts = ((path, *posixpath.split(path)) for path in self.files)
        existing = (path for path, folder, name in parts if name in tree.list_names(folder))
        return ListLocation(next(existing, self.files[-1]), self.keys, self.format)


GEMINI_SETTINGS = AgentSettings(
    "gemini",
    "Gemini CLI",
    (".gemini/settings.json",),
    ("context", "fileName"),
    STRICT_JSON,
    # It resolves imports, and looks for these names in every folder.
    lambda reading: reading.entry,
    # The first name is also the one under which it keeps its own memory.
    default=("GEMINI.md",),
)
AIDER_SETTINGS = AgentSettings(
    "aider",
    "aider",
    (".aider.conf.yml",),
    ("read",),
    YAML,
    lambda reading: (*reading.whole, *reading.references),
)
OPENCODE_SETTINGS = AgentSettings(
    "opencode",
    "opencode",
    ("opencode.jsonc", "opencode.json"),
    ("instructions",),
    JSON,
    # AGENTS.md it reads by itself, but it does not resolve imports.
    lambda reading: reading.references,
    # It would put this line into the file itself.
    new_file=b'{\n  "$schema": "https://opencode.ai/config.json"\n}\n',
)
AGENT_SETTINGS = (GEMINI_SETTINGS, OPENCODE_SETTINGS, AIDER_SETTINGS)
ALL_AGENTS = "all"
AGENT_TITLES = {
    "claude": CLAUDE_MD.agents[0],
    "codex": CODEX,
    **{agent.name: agent.title for agent in AGENT_SETTINGS},
}
# Files beside its settings that show that a project uses an agent.
_OWN_FILES = {
    "claude": (CLAUDE_MD.path, ".claude"),
    "codex": (".codex",),
    "gemini": (GEMINI_MD.path, ".gemini"),
}


class ChosenAgents(NamedTuple):
    """Hold the agents to set up, and those that `all` left out."""

    names: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def choose_agents(
    words: Collection[str], tree: FileTree, installed: Collection[str]
) -> ChosenAgents:
    """Return the agents that `words` name, each once.

    `all` names every agent that is installed, or that has files in the project. Raises UsageError
    for an unknown word.
    """
    known = (ALL_AGENTS, *AGENT_TITLES)
    for word in words:
        if word not in known:
            raise UsageError(f"unknown agent {word!r}; choose from {', '.join(known)}")
    names: list[str] = []
    left_out: list[str] = []
    for name in AGENT_TITLES:
        if name in words:
            names.append(name)
        elif ALL_AGENTS in words:
            is_used = name in installed or _has_files(tree, name)
            (names if is_used else left_out).append(name)
    return ChosenAgents(tuple(names), tuple(left_out))


def _has_files(tree: FileTree, name: str) -> bool:
    settings = (path for agent in AGENT_SETTINGS if agent.name == name for path in agent.files)
    paths = (*settings, *_OWN_FILES.get(name, ()))
    return any(posixpath.basename(p) in tree.list_names(posixpath.dirname(p)) for p in paths)


def get_gemini_file_names(tree: FileTree) -> tuple[str, ...]:
    """Return the names of the instruction files that Gemini CLI loads in this project.

    GEMINI.md is always one of them, as Gemini CLI adds what the setting names. A settings file that
    can't be read is ignored.
    """
    location = GEMINI_SETTINGS.locate(tree)
    try:
        data = tree.read(location.path)
        listed = read_string_list(data, location) or () if data else ()
    except CubError:
        listed = ()
    names = (posixpath.normpath(name.strip()) for name in listed if name.strip())
    return tuple(dict.fromkeys((*names, *GEMINI_SETTINGS.default)))
