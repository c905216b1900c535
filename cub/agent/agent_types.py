"""Describe the kinds of sub-agents: those that are always there, and those that users define.

A user's kind is a file of Markdown, which has its prompt.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from cub.agent.definition_files import (
    DefinitionFile,
    DefinitionFolder,
    list_definition_folders,
    read_definitions,
)
from cub.agent.model_settings import split_model_name
from cub.agent.tools.toolset import RULE_NAMES
from cub.context.text_reader import TextReader
from cub.errors import CubError
from cub.text import truncate_text

MAX_DESCRIPTION_CHARS = 500  # the model reads those of all agents
_FOLDERS = (".claude/agents", ".cub/agents")
_KEYS = ("name", "description", "tools", "model")
# Names of Claude Code, which mean a class of models and not a model of any provider.
_MODELS = {"": "", "inherit": "", "opus": "", "sonnet": "", "haiku": "small", "small": "small"}
_LOOK = ("Read", "Glob", "Grep")


class AgentType(NamedTuple):
    """Describe a kind of sub-agent, as the model that calls it and as the agent itself read it.

    `tools` are names and permission rules of those that it has, None for all. `model` is `small`,
    the name of a model, or "" for that of the agent that calls it.
    """

    name: str
    description: str
    instructions: str
    tools: tuple[str, ...] | None = None
    model: str = ""


GENERAL_PURPOSE = AgentType(
    "general-purpose",
    "Works on a task of several steps, with all tools.",
    "Do the whole task, and check what you did.",
)
BUILT_IN_AGENTS = (
    AgentType(
        "Explore",
        "Finds files and code, and answers questions about the repository, fast. It only reads.",
        "Find what is asked for in as few steps as possible. Answer with paths and lines, such as "
        "`src/a.py:12`.",
        _LOOK,
        "small",
    ),
    AgentType(
        "Plan",
        "Reads the code, and plans a change: steps, files, risks. It only reads.",
        "Read the code that the change is about, and answer with a plan: which files change, in "
        "which order and how, what can break, and how to check the result.",
        _LOOK,
    ),
    AgentType(
        "Bash",
        "Runs commands, and reports what they showed.",
        "Run the commands that the task needs. Answer with their exit codes and the "
        "part of their output that matters.",
        ("Bash",),
    ),
    GENERAL_PURPOSE,
)


def load_agent_types(reader: TextReader) -> list[AgentType]:
    """Return the kinds of the user and the project, in the order of their folders: later ones win.

    Files without front matter are not kinds of agents: people keep notes beside them. The reader
    takes warnings about files that can't be read as they should be.
    """
    folders = list_definition_folders(reader, _FOLDERS, _FOLDERS)
    files = read_definitions(reader, folders, _list_files, _KEYS)
    return [_make_type(name, file) for name, file in files.items() if file.fields]


def _make_type(name: str, file: DefinitionFile) -> AgentType:
    text = truncate_text(file.get_text("description", f"Agent: {name}"), MAX_DESCRIPTION_CHARS)
    return AgentType(name, text, file.body, file.list_tools("tools", RULE_NAMES), _get_model(file))


def _get_model(file: DefinitionFile) -> str:
    """Return the model of an agent. A project names none: that would need the user's trust."""
    name = file.get_text("model")
    if name in _MODELS:
        return _MODELS[name]
    if file.folder.base:
        return file.reject("model", f"one of {', '.join(filter(None, _MODELS))}", "")
    try:
        split_model_name(name)
    except CubError:
        return file.reject("model", "a model of a known provider", "")
    return name


def _list_files(reader: TextReader, folder: DefinitionFolder) -> list[Path]:
    try:
        return reader.list_markdown(folder.path, folder.base)
    except CubError as error:
        reader.warn(error, "it is left out")
        return []
