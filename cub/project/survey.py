"""The instruction files of a project as they stand: which exist, which are one file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cub.edit import sections
from cub.edit.document import BOM, Document
from cub.edit.imports import imports
from cub.edit.sections import Section
from cub.errors import CubError
from cub.files import names_in, read, real_path

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
    identity: tuple[int, int] | None = None

    @property
    def exists(self) -> bool:
        """Whether the file is there and readable."""
        return self.document is not None

    @property
    def key(self) -> object:
        """Equal for two names of one file: a file has one section, whatever leads to it."""
        return self.identity or self.real

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


def look(
    root: Path, paths: Iterable[str], planned: Mapping[str, bytes | None] | None = None
) -> dict[str, InstructionFile]:
    """Look at each of `paths` (relative to `root`); faults become `error`, never an exception.

    `planned` holds bytes, by real path, that a plan is going to write: they count as there.
    """
    listings: dict[Path, frozenset[str]] = {}
    found = {}
    for path in paths:
        folder = (root / path).parent
        if folder not in listings:
            listings[folder] = names_in(folder)
        found[path] = _look_at(root, path, listings[folder], planned or {})
    return found


def distinct(files: Iterable[InstructionFile]) -> list[InstructionFile]:
    """Each file once, under its first name, however many links lead to it."""
    found: dict[object, InstructionFile] = {}
    for file in files:
        found.setdefault(file.key, file)
    return list(found.values())


def _look_at(
    root: Path, path: str, names: frozenset[str], planned: Mapping[str, bytes | None]
) -> InstructionFile:
    name = path.rsplit("/", 1)[-1]
    try:
        there = name in names
        data = read(root, path) if there else None
        real = real_path(root, path)
        data = planned.get(real, data)
        if data is None:
            misnamed = next((n for n in sorted(names) if n.casefold() == name.casefold()), "")
            homeless = not names and not (root / path).parent.is_dir()
            return InstructionFile(path, real, misnamed=misnamed, homeless=homeless)
        document = Document.parse(data, path)
        section = sections.find(document)
    except CubError as error:
        return InstructionFile(path, path, error=error)
    status = (root / path).stat() if there else None
    identity = (status.st_dev, status.st_ino) if status else None
    return InstructionFile(path, real, document, section, identity=identity)
