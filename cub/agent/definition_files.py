"""Read the files that define a skill or a sub-agent: front matter with typed fields, and a text.

A wrong field is a warning with its line, and its default is used. If the front matter as a whole
is not YAML, each field is read by itself, so that one broken line does not hide the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from cub.config_edit.yaml_text import parse_yaml
from cub.context.front_matter import split_front_matter
from cub.context.text_reader import TextReader
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.source_text import decode_source
from cub.text import join_first, list_similar

T = TypeVar("T")
SKILL_FILE = "SKILL.md"
MAX_NAME_CHARS = 64
_FIELD = re.compile(r"^([\w-]+)[ \t]*:.*(?:\n(?:[ \t#-].*)?$)*", re.MULTILINE)
_MIN_LIKENESS = 0.74  # less than that of Raed and Read, more than of TaskGet and Task
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_TOOL = re.compile(r"\w[^\s,()\[\]\"']*(?:\([^)]*\))?|\*")
_UNENDED = re.compile(r"---[ \t]*\n(?!(?:.*\n)*---)[\w-]+:")
_NO_NAME = re.compile(r"[^\w.:-]+")  # what can't be typed in a command `/name`


class DefinitionFolder(NamedTuple):
    """Describe a folder that definitions are in. Nothing in it may lead out of its `base`.

    `setting` is where the folder is configured; "" for one that is looked for in every project.
    """

    path: Path
    base: Path | None = None
    setting: str = ""


@dataclass(frozen=True, slots=True)
class DefinitionFile:
    """Hold a file's fields and its text; the reader takes warnings about its fields."""

    path: Path
    folder: DefinitionFolder
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

    def get_name(self) -> str:
        """Return the field `name`, or else the file's or the skill's folder's, as it can be typed.

        `My name` becomes `My-name`. Raises CubError if neither has a letter or digit.
        """
        default = self.path.parent.name if self.path.name == SKILL_FILE else self.path.stem
        names = (self.get_text("name"), default)
        typed = (_NO_NAME.sub("-", name)[:MAX_NAME_CHARS].strip("-.:") for name in names)
        if name := next(filter(None, typed), ""):
            return name
        raise CubError("its name has no letter or digit", where=self.reader.describe(self.path))

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

    def list_tools(self, key: str, known: Collection[str]) -> tuple[str, ...] | None:
        """Return the tools or permission rules in a field; None, for all tools, if it is not set.

        It is a list, or a text with commas or spaces between them. `known` are the names of tools.
        """
        value = self.fields.get(key, "*")
        tools = _TOOL.findall(value) if isinstance(value, str) else value
        if not isinstance(tools, list) or not all(isinstance(tool, str) for tool in tools):
            return self.reject(key, "a list of tools", None)
        if "*" in tools:
            return None
        rules = tuple(tool.strip() for tool in tools)
        self._warn_of_unknown_tools(key, rules, known)
        return rules

    def _warn_of_unknown_tools(
        self, key: str, rules: Iterable[str], known: Collection[str]
    ) -> None:
        """Warn of names that are like a tool's, and of all if none of them is a tool's.

        Others are no mistake: people share these files with agents that have more tools.
        """
        tools = {name.lower(): name for name in known}
        names = dict.fromkeys(rule.partition("(")[0] for rule in rules)
        # Those of MCP servers are not known yet.
        unknown = [name for name in names if name not in known and not name.startswith("mcp__")]
        near = dict[str, str]()
        for name in unknown:
            for similar in list_similar(name.lower(), tools, 1, _MIN_LIKENESS):
                near[name] = tools[similar]
        allows_none = len(unknown) == len(names)
        if wrong := unknown if allows_none else list(near):
            hint = f"did you mean {join_first(list(near.values()))}?"
            hint = hint if near else f"choose from {', '.join(known)}"
            end = "; it allows none" * allows_none
            self._warn(key, f"{key} has unknown tools: {join_first(wrong)}{end}", hint)

    def reject(self, key: str, expected: str, default: T) -> T:
        """Return the default, and note that a field is not what it should be."""
        self._warn(key, f"{key} is not {expected}; it is ignored")
        return default

    def _warn(self, key: str, message: str, hint: str = "") -> None:
        place, line = self.reader.describe(self.path), self.lines.get(key)
        self.reader.warnings.append(PlanWarning(message, place, line, hint))


def list_definition_folders(
    reader: TextReader, user_names: Sequence[str], project_names: Sequence[str]
) -> list[DefinitionFolder]:
    """Return folders of these names: first those in the home folder, then the project's.

    Those of the project are in its root, and in the folders down to the reader's start.
    """
    users = [reader.home / name for name in user_names] if reader.home else []
    projects = [
        folder / name for folder in reversed(reader.project_folders) for name in project_names
    ]
    # The home folder may be a project, too.
    own = [DefinitionFolder(path, reader.root) for path in projects if path not in users]
    return [*map(DefinitionFolder, users), *own]


def read_definitions(
    reader: TextReader,
    folders: Iterable[DefinitionFolder],
    list_files: Callable[[TextReader, DefinitionFolder], Iterable[Path]],
    keys: Sequence[str],
) -> dict[str, DefinitionFile]:
    """Return the definitions in folders by name, with those fields that are in `keys`.

    The later one of a name counts, and also takes the later place. The reader takes warnings about
    files that can't be used, and about a name that comes twice in a folder.
    """
    found = dict[str, DefinitionFile]()
    for folder in folders:
        for path in list_files(reader, folder):
            try:
                if not (file := _read_file(reader, path, folder, keys)):
                    continue
                name = file.get_name()
            except CubError as error:
                reader.warn(error, "it is left out")
                continue
            other = found.pop(name, None)
            if other and other.folder is folder and not other.path.samefile(path):
                message = f"the name {name} is also that of {reader.describe(other.path)}"
                reader.warn(CubError(message, where=reader.describe(path)), "this file is used")
            found[name] = file
    return found


def _read_file(
    reader: TextReader, path: Path, folder: DefinitionFolder, keys: Sequence[str]
) -> DefinitionFile | None:
    """Return a file; None if there is none. Raises CubError for one that can't be used."""
    if not (file := reader.read_document(path, folder.base)):
        return None
    place = reader.describe(path)
    text = split_front_matter(file.data, place)
    if not text.body.strip():
        raise CubError("no text below the front matter", where=place)
    if _UNENDED.match(text.body):
        message = "the front matter has no last line `---`; its fields are ignored"
        reader.warnings.append(PlanWarning(message, place, 1))
    front = file.data.decode("utf-8", "replace").splitlines()[: max(text.line - 2, 0)]
    found = {match[1]: match for match in _FIELD.finditer("\n".join(front))}
    fields = {key: text.fields[key] for key in keys if key in text.fields}
    for key in keys:
        if text.error and key in found and key not in fields:
            fields[key] = _read_field(found[key])
    lines = {key: match.string.count("\n", 0, match.start()) + 1 for key, match in found.items()}
    given = {key: value for key, value in fields.items() if value is not None}
    return DefinitionFile(path, folder, text.body.strip("\n"), reader, given, lines)


def _read_field(match: re.Match[str]) -> Any:
    """Return the value of one field, or else its text, as the front matter is not YAML."""
    try:
        root = parse_yaml(decode_source(match[0].encode(), ""))
    except CubError:
        return match[0].partition(":")[2].strip()
    return root.to_python()[match[1]] if root else None
