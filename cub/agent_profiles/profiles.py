"""List the profiles of all agents, and find one by its name."""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from cub.agent_profiles.agent_profile import AgentProfile
from cub.agent_profiles.aider import AIDER
from cub.agent_profiles.builtin import BUILTIN
from cub.agent_profiles.claude import CLAUDE
from cub.agent_profiles.codex import CODEX
from cub.agent_profiles.gemini import GEMINI
from cub.agent_profiles.opencode import OPENCODE
from cub.agent_profiles.pi import PI
from cub.errors import UsageError
from cub.files.file_tree import FileTree

# In the order in which `auto` looks for them.
NAMED_PROFILES = (CLAUDE, CODEX, GEMINI, OPENCODE, AIDER, PI)
# In the order in which `cub context` puts their texts together. Without a title, a profile only
# gives files their place: those that no agent reads on its own, and AGENTS.md, which many read.
PROFILES = (
    AgentProfile(title="", project_files=(".agents/rules/",), user_files=(".agents/rules/",)),
    CODEX,
    AgentProfile(
        title="Cursor",
        project_files=(".cursor/rules/", ".cursorrules", "AGENTS.md"),
        folder=".cursor",
        settings=(r"\.cursor/mcp\.json",),
        executables=(r"\.cursor/(?:agents?|commands?)/.*",),
    ),
    AgentProfile(
        title="Copilot",
        project_files=(".github/copilot-instructions.md", ".github/instructions/", "AGENTS.md"),
        user_files=(".copilot/copilot-instructions.md", ".copilot/instructions/"),
        executables=(r"\.github/(?:agents|prompts|chatmodes)/.*",),
        settings=(r"\.vscode/mcp\.json",),
    ),
    CLAUDE,
    AgentProfile(title="", project_files=("AGENTS.md",), parent_files=("AGENTS.md",)),
    GEMINI,
    AgentProfile(title="Gemini Code Assist", project_files=(".gemini/styleguide.md",)),
    AgentProfile(title="", project_files=(".opencode/rules/",)),
    OPENCODE,
    AIDER,
    PI,
    AgentProfile(
        title="Amp",
        project_files=("AGENTS.md",),
        parent_files=("AGENTS.md",),
        user_files=(".config/amp/AGENTS.md",),
    ),
    AgentProfile(title="Zed", project_files=("AGENTS.md",), user_files=(".config/zed/AGENTS.md",)),
    AgentProfile(
        title="Windsurf", project_files=(".windsurf/rules/", ".windsurfrules", "AGENTS.md")
    ),
    AgentProfile(title="Augment", project_files=(".augment/rules/", ".augment/guidelines.md")),
    AgentProfile(
        title="Cline",
        project_files=(".clinerules", ".clinerules/", "AGENTS.md"),
        user_files=("Documents/Cline/Rules/",),
    ),
    AgentProfile(
        title="Kiro",
        project_files=(".kiro/steering/", "AGENTS.md"),
        user_files=(".kiro/steering/",),
    ),
    AgentProfile(
        title="Junie",
        project_files=(".junie/*", "AGENTS.md"),  # it has other things below
        user_files=(".junie/AGENTS.md",),
    ),
    BUILTIN,
)
ALL_AGENTS = "all"
AGENT_TITLES = {profile.name: profile.title for profile in NAMED_PROFILES}
_OFFLINE = {
    "TERM": "dumb",
    "LANG": "C.UTF-8",
    "NO_COLOR": "1",
    "DO_NOT_TRACK": "1",
    "OTEL_SDK_DISABLED": "true",
    **{f"{name}_PROXY": "" for name in ("HTTP", "HTTPS", "ALL")},
    **{f"{name}_proxy": "" for name in ("http", "https", "all")},
    "NO_PROXY": "*",
    "no_proxy": "*",
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
    for profile in NAMED_PROFILES:
        if profile.name in words:
            names.append(profile.name)
        elif ALL_AGENTS in words:
            is_used = profile.name in installed or _has_files(tree, profile)
            (names if is_used else left_out).append(profile.name)
    return ChosenAgents(tuple(names), tuple(left_out))


def _has_files(tree: FileTree, profile: AgentProfile) -> bool:
    parts = map(posixpath.split, profile.own_paths)
    return any(name in tree.list_names(folder) for folder, name in parts)


def find_profile(name: str) -> AgentProfile:
    """Return the profile of an agent that cub can start; LookupError for another name."""
    return {profile.name: profile for profile in PROFILES if profile.name}[name]


def find_program_profile(program: str) -> AgentProfile:
    """Return the profile of the agent with this program; an empty one for another program."""
    name = Path(program).name
    return next((one for one in NAMED_PROFILES if one.program == name), AgentProfile(title=""))


def list_settings_paths() -> Iterator[str]:
    """Yield the directories and files of a project that configure agents."""
    for profile in PROFILES:
        yield from (profile.folder,) if profile.folder else ()
        yield from profile.reading_list.files if profile.reading_list else ()


class Redirect(NamedTuple):
    """Hold what makes an agent use a model server: its whole environment except PATH, and more.

    `argv` are arguments that settings of the project can't override.
    """

    environ: dict[str, str]
    model: str
    argv: tuple[str, ...]


def redirect_agent(agent: str, url: str, home: Path) -> Redirect:
    """Write an agent's settings into a new HOME; return its environment, arguments and model.

    `claude-acp` and `codex-acp` are the adapters of two agents, which take no arguments. The others
    are the same over the protocol.
    """
    name = agent.removesuffix("-acp")
    server = find_profile(name).server
    assert server
    values = {"{url}": url, "{model}": server.model, "{home}": os.fspath(home)}

    def fill(text: str) -> str:
        for word, value in values.items():
            text = text.replace(word, value)
        return text

    temporary = home / "tmp"  # they leave files of megabytes there
    temporary.mkdir(exist_ok=True)
    environ = {**_OFFLINE, "HOME": os.fspath(home), "TMPDIR": os.fspath(temporary)}
    environ |= {key: fill(value) for key, value in server.environ.items()}
    values["{environ}"] = json.dumps(environ)
    for path, settings in server.files.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        text = settings if isinstance(settings, str) else json.dumps(settings)
        (home / path).write_text(fill(text), encoding="utf-8")
    return Redirect(environ, server.model, tuple(map(fill, server.argv)) if agent == name else ())
