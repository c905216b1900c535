"""The instruction files of a project as they stand: which exist, which are one file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property

from cub.edit import sections
from cub.edit.document import BOM, Document
from cub.edit.imports import imports
from cub.edit.sections import Section
from cub.errors import CubError
from cub.files import Tree

_BLANK_LINES = re.compile(rb"\A(?:[ \t]*(?:\r\n|\r|\n))+")


@dataclass(frozen=True)
class InstructionFile:
    """One target. `path` is its name in the project, `real` the file behind links.

    `document` is None where there is no such file; `section` where it has none; `error` says
    why it can be neither read nor edited; `misnamed` is the name that stands in its place and
    differs by case; `homeless`: even its folder is not there; `identity` is equal for two names of
    one file.
    """

    path: str
    real: str = ""
    document: Document | None = None
    section: Section | None = None
    error: CubError | None = None
    misnamed: str = ""
    homeless: bool = False
    identity: Hashable | None = None

    @property
    def exists(self) -> bool:
        """Whether the file is there and readable."""
        return self.document is not None

    @property
    def key(self) -> object:
        """Equal for two names of one file: a file has one section, whatever leads to it."""
        return self.real if self.identity is None else self.identity

    @property
    def stands(self) -> bool:
        """Whether there is something under this name, readable or not."""
        return self.exists or self.error is not None

    @cached_property
    def own(self) -> bytes:
        """The user's bytes: everything outside the section, without blank lines around it."""
        if self.document is None:
            return b""
        data = self.document.data
        own = sections.without(self.document, self.section) if self.section else data
        return _BLANK_LINES.sub(b"", own.removeprefix(BOM)).rstrip()

    @cached_property
    def imported(self) -> frozenset[str]:
        """The paths that the user's own text imports."""
        return imports(self.document.with_data(self.own).text) if self.document else frozenset()

    def is_only(self, *texts: str) -> bool:
        """Whether the file is nothing but one of `texts`."""
        return self.section is None and self.own.strip() in {text.encode() for text in texts}

    def section_says(self, word: str) -> bool:
        """Whether the body of the section has `word` in it."""
        return self.section is not None and word.encode() in b"".join(self.section.body)


def look(tree: Tree, paths: Iterable[str]) -> dict[str, InstructionFile]:
    """Look at each of `paths`; faults become `error`, never an exception."""
    listings: dict[str, frozenset[str]] = {}
    found = {}
    for path in paths:
        folder = posixpath.dirname(path)
        if folder not in listings:
            listings[folder] = tree.names(folder)
        found[path] = _look_at(tree, path, listings[folder])
    return found


def distinct(files: Iterable[InstructionFile]) -> list[InstructionFile]:
    """Each file once, under its first name, however many links lead to it."""
    found: dict[object, InstructionFile] = {}
    for file in files:
        found.setdefault(file.key, file)
    return list(found.values())


def _look_at(tree: Tree, path: str, names: frozenset[str]) -> InstructionFile:
    folder, name = posixpath.split(path)
    try:
        real = tree.real(path)
        data = tree.read(path) if name in names else None
        if data is None:
            misnamed = next((n for n in sorted(names) if n.casefold() == name.casefold()), "")
            homeless = not names and not tree.has_folder(folder)
            return InstructionFile(path, real, misnamed=misnamed, homeless=homeless)
        document = Document.parse(data, path)
        section = sections.find(document)
    except CubError as error:
        return InstructionFile(path, path, error=error)
    return InstructionFile(path, real, document, section, identity=tree.identity(path))
