"""Take the texts of a context, each once, with everything in them expanded.

A text goes in once under all names of its file, by imports too, and so does cub's shared section,
of which several files have a copy.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from cub.context.expansion import MAX_IMPORT_DEPTH, TextExpansion
from cub.context.front_matter import MarkdownText, read_flag, split_front_matter
from cub.context.rules import RuleFile
from cub.context.task_files import TaskFile
from cub.context.text_reader import FileIdentity, TextFile, TextReader
from cub.edit.document import Document
from cub.edit.plan import PlanWarning
from cub.edit.section_writer import remove_section
from cub.edit.sections import find_section_or_none
from cub.errors import CubError
from cub.masking import mask_text
from cub.project.instruction_files import SHARED_WORDS

_SHARED = SHARED_WORDS.decode()
RunCommand = Callable[[str], str | None]


class ContextPart(NamedTuple):
    """Hold one part of a context: where it is from, and its text.

    `kind` is rule, command, stdin, task or prompt; `reason` says why it is left out, "" if it
    is in.
    """

    kind: str
    name: str
    scope: str
    agents: tuple[str, ...]
    text: str
    reason: str = ""


class TextCollector:
    """Take each text once, with its imports."""

    def __init__(
        self, reader: TextReader, parameters: Mapping[str, str], import_depth: int
    ) -> None:
        self.reader, self.parameters, self.import_depth = reader, parameters, import_depth
        self.warnings: list[PlanWarning] = []
        self.names: dict[FileIdentity, str] = {}
        self.bodies: dict[str, str] = {}
        self.has_shared_section = False
        self._own_texts: dict[str, str] = {}

    def take_rule(self, rule: RuleFile, reason: str) -> ContextPart:
        """Return a rule with its text, or with the reason why it is left out."""
        text = ""
        if not reason:
            if holder := self.names.get(rule.identity):
                reason = f"{holder} imports it"
            else:
                self.names[rule.identity] = rule.name
                text, reason = self._expand_rule(rule)
        agents = rule.location.agents
        return ContextPart("rule", rule.name, rule.location.scope, agents, text, reason)

    def take_task(self, task: TaskFile, run_command: RunCommand | None) -> ContextPart:
        """Return the task file with everything in it expanded."""
        self.names[task.identity] = task.name
        expansion = TextExpansion(task.name, first_line=task.text.line)
        if task.expands:
            expansion.parameters = self.parameters
            expansion.imports = self.make_imports(
                task.path, task.name, MAX_IMPORT_DEPTH, is_users=not task.is_project
            )
        if task.runs_commands:
            expansion.run_command = run_command
        text = self.mask(expansion.expand(task.text.body), task.name)
        self.warnings += expansion.warnings
        scope = "project" if task.is_project else "user"
        return ContextPart("task", task.name, scope, (), _trim(text))

    def mask(self, text: str, name: str) -> str:
        """Return a text without its secrets, with a warning if it has any."""
        masked = mask_text(text)
        if masked != text:
            hint = "keep secrets in files that no rule imports"
            self.warnings.append(PlanWarning("secrets in this text are masked", name, hint=hint))
        return masked

    def _expand_rule(self, rule: RuleFile) -> tuple[str, str]:
        """Return a rule's text, and why there is none."""
        flag, depth = read_flag(rule.text.fields, "expand"), self.import_depth
        is_users = rule.location.scope == "user"
        imports = self.make_imports(rule.path, rule.name, depth, is_users=is_users)
        expansion = TextExpansion(
            rule.name,
            self.parameters if flag else None,
            imports if flag is not False else None,
            first_line=rule.text.line,
        )
        body, own = self._take_section_once(rule.text, rule.name)
        if not rule.location.is_folder:
            if body == own and (holder := self._own_texts.get(_trim(own))):
                return "", f"{holder} has the same text"
            body = self._remove_repeated_text(body, _trim(own), rule.name)
        expanded = expansion.expand(body)
        text = _trim(self.mask(expanded, rule.name))
        self.warnings += expansion.warnings
        if not text:
            has_text = bool(rule.text.body.strip())
            return "", "other sources have all of it" if has_text else "it is empty"
        if (holder := self.bodies.setdefault(text, rule.name)) != rule.name:
            return "", f"{holder} has the same text"
        return text, ""

    def _take_section_once(self, text: MarkdownText, name: str) -> tuple[str, str]:
        """Return a file's text, and what of it a person wrote.

        After cub's shared section, the text is without another section of cub.
        """
        own = _remove_section(text.body, name) if "<!--" in text.body else text.body
        if not self.has_shared_section and own != text.body:
            # Other sections are short, and may stand before the import of a shared one.
            self.has_shared_section = text.body.count(_SHARED) > own.count(_SHARED)
            return text.body, own
        return own, own

    def _remove_repeated_text(self, body: str, own: str, name: str) -> str:
        """Return a file's text without what a person wrote in an earlier file, too.

        `own` is the text without cub's section. Many projects have an AGENTS.md and a CLAUDE.md
        with the same text, or one that quotes the other as a whole.
        """
        for other in self._own_texts:
            shared = other if _has_lines(own, other) else own if _has_lines(other, own) else ""
            body, own = body.replace(shared, "", 1), own.replace(shared, "", 1)
        self._own_texts.setdefault(_trim(own), name)
        return body

    def make_imports(self, path: Path, name: str, depth: int, *, is_users: bool) -> _Imports | None:
        """Return what loads the imports of a file; None if none may be followed."""
        return _Imports(self, path, name, depth, is_users) if depth else None

    def take_import(self, path: Path, file: TextFile, depth: int, *, is_users: bool) -> str:
        """Return the text of an imported file, with its own imports."""
        target = self.reader.describe(Path(file.real))
        text = split_front_matter(file.data, target)
        imports = _Imports(self, path, target, depth - 1, is_users)
        expansion = TextExpansion(target, imports=imports, first_line=text.line)
        body = self.mask(self._take_section_once(text, target)[0], target)
        expanded = expansion.expand(body).strip("\n")
        self.warnings += expansion.warnings
        return expanded


class _Imports(NamedTuple):
    """Load what one file imports: from its own folder, or else from where the call started.

    A file that is a link has two folders. One that `is_users` may import what is in its folders,
    wherever links there lead.
    """

    texts: TextCollector
    path: Path
    name: str
    depth: int
    is_users: bool

    @property
    def folders(self) -> list[Path]:
        """Return the folder of the file, and that of the file which a link leads to."""
        links = [Path(os.path.realpath(self.path))] if self.path.is_symlink() else []
        return [path.parent for path in (self.path, *links)]

    def find(self, path: str) -> Path | None:
        """Return the file that a path means; None if there is none."""
        reader = self.texts.reader
        folders = dict.fromkeys((*self.folders, reader.start))
        if path.startswith("~/"):
            folders, path = dict.fromkeys([reader.home] if reader.home else []), path[2:]
        try:
            # Most words are no paths: to find that out takes less time without pathlib.
            names = [posixpath.join(folder.as_posix(), path) for folder in folders]
            return next(filter(_can_be_file, map(Path, filter(os.path.lexists, names))), None)
        except (OSError, ValueError):  # a name that is too long, or has a zero byte
            return None

    def load(self, path: str, file: Path, *, is_alone: bool) -> str | None:
        """Return the text of a file; None, with a warning, if it may not be read.

        What is in the context already is not put in again: of that, only the path stays.
        """
        reader, warnings = self.texts.reader, self.texts.warnings
        if not self.depth:
            message = f"@{path}: too many imports in a row; it is not imported"
            warnings.append(PlanWarning(message, self.name))
            return None
        folder, real = self.path.parent, Path(os.path.normpath(file))
        within: Path | None = reader.root if folder.is_relative_to(reader.root) else folder
        if self.is_users and any(map(real.is_relative_to, self.folders)):
            file, within = real, None
        known = len(reader.warnings)
        try:
            read = reader.read_document(file, within)
        except CubError as error:
            message = f"@{path}: {error.message}; it is not imported"
            warnings.append(PlanWarning(message, self.name))
            return None
        warnings += reader.warnings[known:]
        if read is None:
            return None
        if read.identity in self.texts.names:
            return "" if is_alone else path
        self.texts.names[read.identity] = self.name
        return self.texts.take_import(file, read, self.depth, is_users=self.is_users)


def _can_be_file(path: Path) -> bool:
    """Return whether what is there is a file, a FIFO or a link to nothing."""
    return path.is_file() or path.is_fifo() or not path.exists()


def _remove_section(text: str, name: str) -> str:
    """Return a text without cub's managed section."""
    document = Document(text.encode("utf-8", "replace"), name)
    section = find_section_or_none(document)
    return remove_section(document, section).decode("utf-8", "replace") if section else text


def _has_lines(text: str, lines: str) -> bool:
    return bool(lines.strip()) and f"\n{lines}\n" in f"\n{text}\n"


def _trim(text: str) -> str:
    return text.strip("\n") if text.strip() else ""
