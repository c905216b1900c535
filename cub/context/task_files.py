"""Find the task file of a name: `.agents/tasks/**/NAME.md` in the project and the home folder."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cub.agent_profiles.agent_profile import RuleScope
from cub.context.expansion import Parameter, list_commands, list_parameters
from cub.context.front_matter import MarkdownText, list_field, read_flag, split_front_matter
from cub.context.selectors import Selectors, explain_mismatch, format_value
from cub.context.text_reader import FileIdentity, TextReader
from cub.errors import CubError
from cub.project.rule_locations import TASK_FOLDER
from cub.text import suggest_similar, truncate_text

_SUFFIX = ".md"
RESUME = "resume"
_OWN_KEYS = ("expand", "expand_commands", "include_unmatched", "selectors", "task_name")
_MAX_SHOWN = 60  # characters of a field
_NO_CHOICE = "rename all but one of them, or give each its own value of one field"


class TaskFile(NamedTuple):
    """Hold a task file: its name in messages, its path, and whether the project brings it along."""

    name: str
    path: Path
    identity: FileIdentity
    text: MarkdownText
    is_project: bool

    @property
    def expands(self) -> bool:
        """Return whether parameters and imports in it are replaced."""
        return read_flag(self.text.fields, "expand") is not False

    @property
    def runs_commands(self) -> bool:
        """Return whether commands in its text are to be run."""
        return self.expands and read_flag(self.text.fields, "expand_commands") is True

    @property
    def commands(self) -> list[str]:
        """Return the commands in its text; none unless it has `expand_commands: true`."""
        return list_commands(self.text.body) if self.runs_commands else []

    @property
    def parameters(self) -> list[Parameter]:
        """Return the parameters in its text; none with `expand: false`."""
        return list_parameters(self.text.body) if self.expands else []

    @property
    def rule_selectors(self) -> Selectors:
        """Return what it asks rules for, in its field `selectors`."""
        values = self.text.fields.get("selectors")
        if not isinstance(values, dict):
            return {}
        return {key: tuple(map(format_value, list_field(values, key))) for key in values}

    @property
    def selectable_fields(self) -> dict[str, list[str]]:
        """Return the fields that selectors choose it by, with their values as `-s` takes them."""
        fields = self.text.fields
        keys = [key for key in fields if key not in _OWN_KEYS]
        return {key: [*map(format_value, list_field(fields, key))] for key in keys}


def find_task_file(reader: TextReader, task: str, selectors: Selectors) -> TaskFile:
    """Return the one task file that has this name and fits the selectors.

    With the selector `resume`, files that say so themselves go before those that say nothing.
    Raises CubError if there is none, or more than one.
    """
    name = task.removesuffix(_SUFFIX)
    named: dict[FileIdentity, TaskFile] = {}  # the home folder may be in the project
    for path, scope in _list_paths(reader):
        if path.name == name + _SUFFIX and (file := _read(reader, path, scope)):
            named.setdefault(file.identity, file)
    files = list(named.values())
    fitting = _select(files, selectors)
    if not fitting:
        raise _make_missing_error(reader, name, files, selectors)
    if len(fitting) > 1:
        raise _make_ambiguity_error(name, fitting)
    return fitting[0]


def _select(files: Sequence[TaskFile], selectors: Selectors) -> list[TaskFile]:
    fitting = [file for file in files if not explain_mismatch(file.text.fields, selectors)]
    if RESUME in selectors:
        variants = [file for file in fitting if list_field(file.text.fields, RESUME)]
        fitting = variants or fitting
    return fitting


def list_task_files(
    reader: TextReader, scopes: Sequence[RuleScope] = ("project",)
) -> list[TaskFile]:
    """Return all task files that can be read, each once; the reader notes the others."""
    files = dict[FileIdentity, TaskFile]()
    for path, scope in _list_paths(reader):
        try:
            file = _read(reader, path, scope) if scope in scopes else None
        except CubError as error:
            reader.warn(error, "it is left out")
            continue
        if file and file.text.error:
            reader.warn(file.text.error, "it is left out")
        elif file:
            files.setdefault(file.identity, file)
    return list(files.values())


def _list_task_folders(reader: TextReader) -> list[tuple[Path, RuleScope]]:
    folders: list[tuple[Path, RuleScope]] = [
        (folder / TASK_FOLDER, "project") for folder in reader.project_folders
    ]
    return [*folders, (reader.home / TASK_FOLDER, "user")] if reader.home else folders


def _list_paths(reader: TextReader) -> Iterator[tuple[Path, RuleScope]]:
    for folder, scope in _list_task_folders(reader):
        for path in reader.list_markdown(folder, reader.get_base(scope, folder)):
            yield path, scope


def _read(reader: TextReader, path: Path, scope: RuleScope) -> TaskFile | None:
    """Return a task file; None for a link to nothing. Raises CubError for broken front matter."""
    file = reader.read_document(path, reader.get_base(scope, path.parent))
    if file is None:
        return None
    name = reader.describe(path)
    text = split_front_matter(file.data, name)
    return TaskFile(name, path, file.identity, text, scope == "project")


def _make_missing_error(
    reader: TextReader, name: str, files: Sequence[TaskFile], selectors: Selectors
) -> CubError:
    folders = _list_task_folders(reader)
    searched = [f"- {_describe_folder(reader, folder)}/" for folder, _ in folders]
    left_out = [f"- {file.name}: {explain_mismatch(file.text.fields, selectors)}" for file in files]
    details = ["no task found with this name. Searched:", *searched]
    details += ["Left out:", *left_out] if left_out else []
    hint = _suggest_selector(files, selectors) or _suggest_name(reader, name)
    return CubError(f"task not found: {name}", hint=hint, details=details)


def _suggest_selector(files: Sequence[TaskFile], selectors: Selectors) -> str:
    """Return a hint with the values that files of this name have; "" if there is none."""
    choices = [
        f"-s {shlex.quote(f'{key}={value}')}"
        for key, wanted in selectors.items()
        for value in dict.fromkeys(
            format_value(value) for file in files for value in list_field(file.text.fields, key)
        )
        if value not in wanted
    ]
    return f"choose a value that a file has: {' or '.join(choices)}" if choices else ""


def _suggest_name(reader: TextReader, name: str) -> str:
    """Return a hint for a name that no task file has."""
    files = list_task_files(reader, ("project", "user"))
    names = [file.path.stem for file in files]
    if " " in name.strip():
        return "to print a prompt, use --prompt TEXT"
    last = name.rpartition("/")[2]
    if last != name and last in names:
        return f"give the name of the file alone: {last}"
    for file in files:
        if name in map(format_value, list_field(file.text.fields, "task_name")):
            return f"the name of the file decides, not its task_name: {file.path.stem}"
    if near := suggest_similar(last, names):
        return f"did you mean {near!r}?"
    create = f"create {TASK_FOLDER}/{last}{_SUFFIX}"
    return f"run `cub context --list` to list the task files, or {create}" if names else create


def _describe_folder(reader: TextReader, folder: Path) -> str:
    name = reader.describe(folder)
    return name if name.startswith(("~", "..", "/")) else f"./{name}"


def _make_ambiguity_error(name: str, files: Sequence[TaskFile]) -> CubError:
    keys = dict.fromkeys(key for file in files for key in file.text.fields)
    differing = [key for key in keys if len({_get_text(file, key) for file in files}) > 1]
    details = [
        f"- {file.name} ({', '.join(_list_fields(file, differing)) or 'no field distinguishes it'})"
        for file in files
    ]
    choice = _find_choice(files, differing)
    hint = f"choose by a field: -s {shlex.quote(choice)}" if choice else _NO_CHOICE
    return CubError(f"multiple tasks found: {name}", hint=hint, details=details)


def _find_choice(files: Sequence[TaskFile], keys: Sequence[str]) -> str:
    """Return a selector that leaves one file; "" if none does: without a field, a file fits."""
    for file in files:
        for key in keys:
            for value in map(format_value, list_field(file.text.fields, key)):
                if len(_select(files, {key: (value,)})) == 1:
                    return f"{key}={value}"
    return ""


def format_fields(file: TaskFile) -> str:
    """Return the fields that selectors choose a task file by, in one line."""
    return ", ".join(_list_fields(file, [*file.selectable_fields]))


def _list_fields(file: TaskFile, keys: Sequence[str]) -> list[str]:
    return [f"{key}: {_get_text(file, key)}" for key in keys if key in file.text.fields]


def _get_text(file: TaskFile, key: str) -> str:
    values = map(format_value, list_field(file.text.fields, key))
    return truncate_text(", ".join(values), _MAX_SHOWN)
