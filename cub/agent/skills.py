"""Load skills: instructions for a kind of work, which the model or the user calls for by name.

A skill is a folder with a file SKILL.md. The system prompt has only the descriptions, so that many
skills cost little; the instructions come when they are needed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from cub.agent.definition_files import (
    SKILL_FILE,
    DefinitionFile,
    DefinitionFolder,
    list_definition_folders,
    read_definitions,
)
from cub.agent.model_settings import read_claude_settings
from cub.context.text_reader import OutsideProjectError, TextReader
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.files.read_files import list_names
from cub.project.config_layers import ConfigValue
from cub.text import join_first, truncate_text
from cub.tokens import estimate_tokens

MAX_DESCRIPTION_CHARS = 200  # of one skill, in the system prompt
MAX_DESCRIPTION_TOKENS = 4_000  # of all skills together: about a hundred
_USER_FOLDERS = (".agents/skills", ".claude/skills")
_PROJECT_FOLDERS = (".claude/skills", ".agents/skills")
_MAX_DEPTH = 2  # of the folders with skills: SKILLS/NAME or SKILLS/GROUP/NAME
_MAX_LISTED = 50  # names of skills whose descriptions have no room
_CLAUDE_KEY = "skillDirs"
_TRUSTED_ORIGINS = ("user", "environment")
_HIDING_KEY = "disable-model-invocation"
_KEYS = (
    "name", "description", _HIDING_KEY, "user-invocable", "allowed-tools", "context", "agent"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Skill:
    """Hold a skill. `tools` are names and permission rules; None allows all.

    `folder` is a real path; the skill's other files are in it. A skill that `is_fork` is for a
    sub-agent of the kind `agent`.
    """

    name: str
    description: str
    instructions: str
    folder: Path
    is_for_model: bool = True
    is_for_user: bool = True
    tools: tuple[str, ...] | None = None
    is_fork: bool = False
    agent: str = "general-purpose"

    @property
    def summary(self) -> str:
        """Return what lists have of the description."""
        return truncate_text(self.description, MAX_DESCRIPTION_CHARS)


@dataclass(frozen=True, slots=True)
class SkillSet:
    """Hold skills by name, those of the later folders last."""

    skills: dict[str, Skill] = field(default_factory=dict)

    def has_file(self, path: Path) -> bool:
        """Return whether a real path is in the folder of a skill, or is that folder."""
        return any(path.is_relative_to(skill.folder) for skill in self.skills.values())

    @property
    def for_user(self) -> list[Skill]:
        """Return the skills that the user can call for, by name: for lists and completion."""
        skills = (skill for skill in self.skills.values() if skill.is_for_user)
        return sorted(skills, key=lambda skill: skill.name.casefold())

    @property
    def for_model(self) -> list[Skill]:
        """Return the skills that the model can load, those of the later folders first."""
        return [skill for skill in reversed(self.skills.values()) if skill.is_for_model]

    def find_skill(self, name: str) -> Skill | None:
        """Return the skill of a name, in whatever case; None if there is none."""
        folded = {key.casefold(): skill for key, skill in self.skills.items()}
        return self.skills.get(name) or folded.get(name.casefold())

    @property
    def without_room(self) -> list[Skill]:
        """Return those of them whose descriptions don't fit into the budget."""
        skills = self.for_model
        totals = accumulate(estimate_tokens(_describe(skill)) for skill in skills)
        return skills[sum(total <= MAX_DESCRIPTION_TOKENS for total in totals) :]

    def describe_for_model(self) -> str:
        """Return a line for each skill that the model can load, and one for those without room."""
        others = self.without_room
        lines = [_describe(skill) for skill in self.for_model[: len(self.for_model) - len(others)]]
        if others:
            names = join_first([skill.name for skill in others], _MAX_LISTED)
            lines.append(f"- {len(others)} more, without room for descriptions: {names}")
        return "\n".join(lines)


def _describe(skill: Skill) -> str:
    return f"- {skill.name}: {skill.summary}"


def load_skills(reader: TextReader, setting: ConfigValue, known_tools: Collection[str]) -> SkillSet:
    """Return the skills of the user, of the project, and of the directories that settings name.

    Later ones win on a name. `setting` is the value of `code.skill_dirs`: what a project's own
    configuration names has to be in the project, as reading it needs no trust. `known_tools` are
    the names of tools. The reader takes warnings about skills and folders that can't be read as
    they should be. Raises CubError for settings of Claude Code that can't be read.
    """
    base = None if setting.origin in _TRUSTED_ORIGINS else reader.root
    folders = list_definition_folders(reader, _USER_FOLDERS, _PROJECT_FOLDERS)
    folders += _list_claude_folders(reader)
    for number, text in enumerate(setting.value):
        where = setting.item_places[number] if setting.item_places else setting.where
        folders.append(DefinitionFolder(_resolve(text, reader.root, reader), base, where))
    files = read_definitions(reader, folders, _list_files, _KEYS)
    loaded = SkillSet({name: _make_skill(name, file, known_tools) for name, file in files.items()})
    if others := loaded.without_room:
        names = join_first([skill.name for skill in others])
        message = f"the descriptions of {len(others)} skills don't fit into the system prompt"
        hint = f"add `{_HIDING_KEY}: true` to skills that only you call for"
        reader.warnings.append(PlanWarning(f"{message}: {names}", hint=hint))
    return loaded


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


def _list_files(reader: TextReader, folder: DefinitionFolder) -> Iterator[Path]:
    if folder.setting and not folder.path.is_dir():
        message = f"no such directory: {folder.path.as_posix()}"
        reader.warnings.append(PlanWarning(message, folder.setting))
    for path in _find_skill_folders(reader, folder.path, folder.base, 0):
        yield path / SKILL_FILE


def _find_skill_folders(
    reader: TextReader, folder: Path, base: Path | None, depth: int
) -> Iterator[Path]:
    """Yield the folders with a SKILL.md, sorted by name, but none that is inside another."""
    place = reader.describe(folder)
    try:
        if base and not Path(os.path.realpath(folder)).is_relative_to(base):
            hint = "name the directory in code.skill_dirs of your own config.yaml"
            raise OutsideProjectError("this leads out of the project", hint=hint)
        names = sorted(list_names(folder))
    except CubError as error:
        reader.warn(CubError(error.message, where=place, hint=error.hint), "it is left out")
        return
    if SKILL_FILE in names:
        yield folder
    elif depth < _MAX_DEPTH:
        for name in names:
            if not name.startswith("."):  # a file has no names in it
                yield from _find_skill_folders(reader, folder / name, base, depth + 1)


def _make_skill(name: str, file: DefinitionFile, known_tools: Collection[str]) -> Skill:
    return Skill(
        name,
        file.get_text("description", f"Skill: {name}"),
        file.body,
        Path(os.path.realpath(file.path.parent)),
        is_for_model=not file.get_flag(_HIDING_KEY, default=False),
        is_for_user=file.get_flag("user-invocable", default=True),
        tools=file.list_tools("allowed-tools", known_tools),
        is_fork=file.get_choice("context", ("inline", "fork")) == "fork",
        agent=file.get_text("agent", "general-purpose"),
    )
