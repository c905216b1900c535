"""Load the skills of a session, also from the directories that settings name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cub.agent.definition_files import DefinitionFolder
from cub.agent.model_settings import read_claude_settings
from cub.agent.skills import SkillSet, load_skills
from cub.context.text_reader import TextReader
from cub.edit.plan import PlanWarning
from cub.project.config_layers import ConfigValue

_CLAUDE_KEY = "skillDirs"
_TRUSTED_ORIGINS = ("user", "environment")


def load_configured_skills(reader: TextReader, setting: ConfigValue) -> SkillSet:
    """Return all skills; `setting` is the value of `code.skill_dirs`. The reader takes warnings.

    What a project's own configuration names has to be in the project, as reading it needs no trust.
    Raises CubError for settings of Claude Code that can't be read.
    """
    base = None if setting.origin in _TRUSTED_ORIGINS else reader.root
    folders = list(_list_claude_folders(reader))
    for number, text in enumerate(setting.value):
        where = setting.item_places[number] if setting.item_places else setting.where
        folders.append(DefinitionFolder(_resolve(text, reader.root, reader), base, where))
    return load_skills(reader, folders)


def _list_claude_folders(reader: TextReader) -> Iterator[DefinitionFolder]:
    """Yield the directories in the user's settings of Claude Code, relative to the start."""
    source, root = read_claude_settings(reader.home)
    entry = root.find_entry(_CLAUDE_KEY) if root else None
    if entry is None:
        return
    line = source.get_line_number(entry.key.start)
    texts = entry.value.to_python()
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        message = f"{_CLAUDE_KEY} is not a list of strings; it is ignored"
        reader.warnings.append(PlanWarning(message, source.path, line))
        return
    for text in texts:
        yield DefinitionFolder(_resolve(text, reader.start, reader), None, f"{source.path}:{line}")


def _resolve(text: str, folder: Path, reader: TextReader) -> Path:
    if reader.home and (text == "~" or text.startswith("~/")):
        return reader.home / text[2:]
    return folder / text
