"""Load the kinds of sub-agents that users define: a file of Markdown for each, with its prompt."""

from __future__ import annotations

from pathlib import Path

from cub.agent.agent_types import AgentType
from cub.agent.definition_files import (
    DefinitionFile,
    list_definition_folders,
    read_definition,
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

    The reader takes warnings about files that can't be read as they should be.
    """
    found = []
    for folder, base in list_definition_folders(reader, _FOLDERS, _FOLDERS):
        for path in _list_files(reader, folder, base):
            if file := read_definition(reader, path, base, _KEYS):
                name = file.get_name(path.stem) or path.stem
                description = file.get_text("description", f"Agent: {name}")
                found.append(
                    AgentType(
                        name,
                        truncate_text(description, MAX_DESCRIPTION_CHARS),
                        file.body,
                        file.list_tools("tools"),
                        _get_model(file, is_project=base is not None),
                    )
                )
    return found


def _get_model(file: DefinitionFile, *, is_project: bool) -> str:
    """Return the model of an agent. A project names none: that would need the user's trust."""
    name = file.get_text("model")
    if name in _MODELS:
        return _MODELS[name]
    if is_project:
        return file.reject("model", f"one of {', '.join(filter(None, _MODELS))}", "")
    try:
        split_model_name(name)
    except CubError:
        return file.reject("model", "a model of a known provider", "")
    return name


def _list_files(reader: TextReader, folder: Path, base: Path | None) -> list[Path]:
    try:
        return reader.list_markdown(folder, base)
    except CubError as error:
        reader.warn(error, "it is left out")
        return []
