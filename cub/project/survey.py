"""The instruction files of a project as they stand: which exist, which are one file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cub.edit import sections
from cub.edit.document import BOM, Document
from cub.edit.imports import imports
from cub.edit.sections import Section
from cub.errors import CubError
from cub.files import names_in, read


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

    @cached_property
    def own(self) -> bytes:
        """The user's bytes: everything outside the section, without blanks around it."""
        if self.document is None:
            return b""
        data = self.document.data
        own = sections.without(self.document, self.section) if self.section else data
        return own.removeprefix(BOM).strip()

    def is_only(self, *texts: str) -> bool:
        """Whether the file is nothing but one of `texts`."""
        return self.section is None and self.own in {text.encode() for text in texts}

    def imports(self, name: str) -> bool:
        """Whether the user's own text imports the file `name` beside this one."""
        return self.document is not None and imports(self.document.with_data(self.own).text, name)

    def section_says(self, word: str) -> bool:
        """Whether the body of the section has `word` in it."""
        return self.section is not None and word.encode() in b"".join(self.section.body)


def look(root: Path, paths: Iterable[str]) -> dict[str, InstructionFile]:
    """Look at each of `paths` (relative to `root`); faults become `error`, never an exception."""
    listings: dict[Path, frozenset[str]] = {}
    found = {}
    for path in paths:
        folder = (root / path).parent
        if folder not in listings:
            listings[folder] = names_in(folder)
        found[path] = _look_at(root, path, listings[folder])
    return found


def distinct(files: Iterable[InstructionFile]) -> list[InstructionFile]:
    """Each file once, under its first name, however many links lead to it."""
    found: dict[object, InstructionFile] = {}
    for file in files:
        found.setdefault(file.identity or file.path, file)
    return list(found.values())


def _look_at(root: Path, path: str, names: frozenset[str]) -> InstructionFile:
    name = path.rsplit("/", 1)[-1]
    if name not in names:
        misnamed = next((n for n in sorted(names) if n.casefold() == name.casefold()), "")
        homeless = not names and not (root / path).parent.is_dir()
        return InstructionFile(path, path, misnamed=misnamed, homeless=homeless)
    try:
        data = read(root, path)
        if data is None:
            return InstructionFile(path, path)
        document = Document.parse(data, path)
        section = sections.find(document)
    except CubError as error:
        return InstructionFile(path, path, error=error)
    status = (root / path).stat()
    real = Path(os.path.realpath(root / path)).relative_to(root).as_posix()
    return InstructionFile(path, real, document, section, identity=(status.st_dev, status.st_ino))
