"""Read the files that define a skill or a sub-agent: front matter with typed fields, and a text.

A wrong field is a warning with its line, and its default is used. If the front matter as a whole
is not YAML, each field is read by itself, so that one broken line does not hide the others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from cub.config_edit.yaml_text import parse_yaml
from cub.context.front_matter import split_front_matter
from cub.context.text_reader import TextReader
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.source_text import decode_source

T = TypeVar("T")
MAX_NAME_CHARS = 64
_FIELD = re.compile(r"^([\w-]+)[ \t]*:.*(?:\n(?:[ \t#-].*)?$)*", re.MULTILINE)
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_TOOL = re.compile(r"\w[^\s,()\[\]\"']*(?:\([^)]*\))?|\*")
_NO_NAME = re.compile(r"[^\w.:-]+")  # what can't be typed in a command `/name`


@dataclass(frozen=True, slots=True)
class DefinitionFile:
    """Hold a file's fields and its text; the reader takes warnings about its fields."""

    path: Path
    body: str
    reader: TextReader
    fields: Mapping[str, Any]
    lines: Mapping[str, int]

    def get_text(self, key: str, default: str = "") -> str:
        """Return a field as one line."""
        value = self.fields.get(key, "")
        if isinstance(value, str):
            return " ".join(value.split()) or default
        return self.reject(key, "a string", default)

    def get_name(self, default: str) -> str:
        """Return the field `name`, or else the default, as it can be typed: `My name` as `My-name`.

        "" if neither has a letter or digit.
        """
        names = (self.get_text("name"), default)
        typed = (_NO_NAME.sub("-", name)[:MAX_NAME_CHARS].strip("-.:") for name in names)
        return next(filter(None, typed), "")

    def get_flag(self, key: str, *, default: bool) -> bool:
        """Return a field that is true or false, or a word for one of them."""
        value = self.fields.get(key, default)
        value = _WORDS.get(value.lower(), value) if isinstance(value, str) else value
        return value if isinstance(value, bool) else self.reject(key, "true or false", default)

    def get_choice(self, key: str, choices: Sequence[str]) -> str:
        """Return a field that is one of some words; the first of them is the default."""
        value = self.fields.get(key, choices[0])
        if isinstance(value, str) and value in choices:
            return value
        return self.reject(key, " or ".join(choices), choices[0])

    def list_tools(self, key: str) -> tuple[str, ...] | None:
        """Return the tools or permission rules in a field; None, for all tools, if it is not set.

        It is a list, or a text with commas or spaces between them.
        """
        value = self.fields.get(key, "*")
        tools = _TOOL.findall(value) if isinstance(value, str) else value
        if not isinstance(tools, list) or not all(isinstance(tool, str) for tool in tools):
            return self.reject(key, "a list of tools", None)
        return None if "*" in tools else tuple(tool.strip() for tool in tools)

    def reject(self, key: str, expected: str, default: T) -> T:
        """Return the default, and note that a field is not what it should be."""
        message = f"{key} is not {expected}; it is ignored"
        place, line = self.reader.describe(self.path), self.lines.get(key)
        self.reader.warnings.append(PlanWarning(message, place, line))
        return default


def list_definition_folders(
    reader: TextReader, user_names: Sequence[str], project_names: Sequence[str]
) -> list[tuple[Path, Path | None]]:
    """Return folders of these names, in which files may be, and what these may not lead out of.

    First those of the home folder, then the project's from its root down to the reader's start.
    """
    users = [reader.home / name for name in user_names] if reader.home else []
    projects = [
        folder / name for folder in reversed(reader.project_folders) for name in project_names
    ]
    # The home folder may be a project, too.
    own = [(path, reader.root) for path in projects if path not in users]
    return [*((path, None) for path in users), *own]


def read_definition(
    reader: TextReader, path: Path, base: Path | None, keys: Sequence[str]
) -> DefinitionFile | None:
    """Return a file with those of its fields that are in `keys`; None if there is no such file.

    `base` is as for `TextReader.read`. A file that can't be used is a warning, and None.
    """
    try:
        file = reader.read_document(path, base)
    except CubError as error:
        reader.warn(error, "it is left out")
        return None
    text = split_front_matter(file.data, reader.describe(path)) if file else None
    if not file or not text:
        return None
    if not text.body.strip():
        message = "no text below the front matter; it is left out"
        reader.warnings.append(PlanWarning(message, reader.describe(path)))
        return None
    front = file.data.decode("utf-8", "replace").splitlines()[: text.line - 1]
    found = {match[1]: match for match in _FIELD.finditer("\n".join(front))}
    fields = {key: text.fields[key] for key in keys if key in text.fields}
    for key in keys:
        if text.error and key in found and key not in fields:
            fields[key] = _read_field(found[key])
    lines = {key: match.string.count("\n", 0, match.start()) + 1 for key, match in found.items()}
    given = {key: value for key, value in fields.items() if value is not None}
    return DefinitionFile(path, text.body.strip("\n"), reader, given, lines)


def _read_field(match: re.Match[str]) -> Any:
    """Return the value of one field, or else its text, as the front matter is not YAML."""
    try:
        root = parse_yaml(decode_source(match[0].encode(), ""))
    except CubError:
        return match[0].partition(":")[2].strip()
    return root.to_python()[match[1]] if root else None
