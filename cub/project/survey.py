"""The instruction files of a project as they stand: which exist, which are one file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property

from cub.edit import sections
from cub.edit.document import BOM, Document
from cub.edit.imports import imports
from cub.edit.sections import Section
from cub.errors import CubError
from cub.files import Missing, Tree
from cub.project import flat_links
from cub.project.targets import is_nested

_INLINED = re.compile(rb"^#{3}", re.MULTILINE)  # every inlined text begins with such a heading
_BLANK_LINES = re.compile(rb"\A(?:[ \t]*(?:\r\n|\r|\n))+")


@dataclass(frozen=True)
class InstructionFile:
    """One target. `path` is its name in the project, `real` the file behind links.

    `document` is None where there is no such file; `section` where it has none; `error` says
    why it can be neither read nor edited; `misnamed` is the name that stands in its place and
    differs by case; `homeless`: even its folder is not there; `missing`: git has it all the same;
    `identity` is equal for two names of one file, a flattened link among them.
    """

    path: str
    real: str = ""
    document: Document | None = None
    section: Section | None = None
    error: CubError | None = None
    misnamed: str = ""
    homeless: bool = False
    missing: Missing | None = None
    identity: Hashable | None = None

    @property
    def exists(self) -> bool:
        """Whether the file is there and readable."""
        return self.document is not None

    @property
    def key(self) -> Hashable:
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
        if self.document is None or b"@" not in self.own:
            return frozenset()
        return imports(self.document.with_data(self.own).text)

    def is_only(self, *texts: str) -> bool:
        """Whether the file is nothing but one of `texts`."""
        return self.section is None and self.own.strip() in {text.encode() for text in texts}

    def section_says(self, word: str) -> bool:
        """Whether cub's own words in the section, those above inlined texts, have `word`."""
        body = b"".join(self.section.body) if self.section else b""
        return word.encode() in _INLINED.split(body, maxsplit=1)[0]


class _Look:
    """One look at a tree and the files `known`: each folder listed, each file read only once."""

    def __init__(self, tree: Tree, known: Collection[str]) -> None:
        self.tree = tree
        self.known = known
        self.names = cache(tree.names)
        self.read = cache(self._read)

    def _read(self, path: str) -> bytes | None:
        folder, name = posixpath.split(path)
        return self.tree.read(path) if name in self.names(folder) else None


def look(tree: Tree, paths: Iterable[str]) -> dict[str, InstructionFile]:
    """Look at each of `paths`; faults become `error`, never an exception."""
    once = _Look(tree, tuple(paths))
    return {path: _look_at(once, path) for path in once.known}


def distinct(files: Iterable[InstructionFile]) -> list[InstructionFile]:
    """Each file once, under its first name, however many links lead to it."""
    found: dict[object, InstructionFile] = {}
    for file in files:
        found.setdefault(file.key, file)
    return list(found.values())


def _look_at(look: _Look, path: str) -> InstructionFile:
    real, identity = path, None
    try:
        there = flat_links.behind(path, look.read, look.known)
        real = look.tree.real(there)
        data = look.read(there)
        if data is None:
            return _absent(look, path, there, real)
        identity = look.tree.identity(there)
        document = Document.parse(data, there)
        section = sections.find(document)
    except CubError as error:
        return InstructionFile(path, real, error=error, identity=identity)
    return InstructionFile(path, real, document, section, identity=identity)


def _absent(look: _Look, path: str, there: str, real: str) -> InstructionFile:
    folder, name = posixpath.split(there)
    names = look.names(folder)
    misnamed = next((n for n in sorted(names) if n.casefold() == name.casefold()), "")
    homeless = not names and not look.tree.has_folder(folder)
    if homeless and not is_nested(there):
        _require_no_file(look, folder)
    missing = look.tree.missing(there)
    # Of the root's files, each may decide what the others have to say.
    if missing and missing.is_withheld and not is_nested(there):
        raise missing.error()
    return InstructionFile(path, real, misnamed=misnamed, homeless=homeless, missing=missing)


def _require_no_file(look: _Look, folder: str) -> None:
    """A folder that is missing is made for a file of the root, unless a file has its name."""
    while folder:
        above, name = posixpath.split(folder)
        if name in look.names(above):
            if look.tree.has_folder(folder):
                return
            message = "this is a file, where cub needs a folder"
            raise CubError(message, where=folder, hint="move it away")
        folder = above
