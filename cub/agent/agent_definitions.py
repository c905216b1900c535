"""Load the kinds of sub-agents that users define: a file of Markdown for each, with its prompt."""

from __future__ import annotations

from pathlib import Path

from cub.agent.agent_types import AgentType
from cub.agent.definition_files import (
    DefinitionFile,
    DefinitionFolder,
    list_definition_folders,
    read_definitions,
)
from cub.agent.model_settings import split_model_name
from cub.context.text_reader import TextReader
from cub.errors import CubError
from cub.text import truncate_text

MAX_DESCRIPTION_CHARS = 500  # the model reads those of all agents
_FOLDERS = (".claude/agents", ".cub/agents")
_KEYS = ("name", "description", "tools", "model")
# Names of Claude Code, which mean a class of models and not a model of any provider.
_MODELS = {"": "", "inherit": "", "opus": "", "sonnet": "", "haiku": "small", "small": "small"}


def load_agent_types(reader: TextReader) -> list[AgentType]:
    """Return the kinds of the user and the project, in the order of their folders: later ones win.

    Files without front matter are not kinds of agents: people keep notes beside them. The reader
    takes warnings about files that can't be read as they should be.
    """
    folders = list_definition_folders(reader, _FOLDERS, _FOLDERS)
    files = read_definitions(reader, folders, _list_files, _KEYS)
    return [_make_type(name, file) for name, file in files.items() if file.fields]


def _make_type(name: str, file: DefinitionFile) -> AgentType:
    description = truncate_text(
        file.get_text("description", f"Agent: {name}"), MAX_DESCRIPTION_CHARS
    )
    return AgentType(name, description, file.body, file.list_tools("tools"), _get_model(file))


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


def _list_files(reader: TextReader, folder: DefinitionFolder) -> list[tuple[str, Path]]:
    try:
        return [(path.stem, path) for path in reader.list_markdown(folder.path, folder.base)]
    except CubError as error:
        reader.warn(error, "it is left out")
        return []
