"""Read the instruction files of a project: which exist, and which names lead to one file.

Git makes a flattened link of a symbolic link on a system without them: a file that holds nothing
but the link's text.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property

from cub.edit import sections
from cub.edit.document import BOM, Document
from cub.edit.file_imports import find_imports
from cub.edit.sections import Section
from cub.errors import CubError
from cub.files.file_tree import FileTree, MissingFile
from cub.project.targets import AGENTS_MD, find_target, is_fully_managed, is_nested_target

SHARED_WORDS = b"`cub task "  # every shared text has them, and no other text of a section
_MAX_LINK_BYTES = 255
_BLANK_LINES = re.compile(rb"\A(?:[ \t]*(?:\r\n|\r|\n))+")
_INLINED = re.compile(rb"^#{3}", re.MULTILINE)  # every inlined text begins with such a heading


@dataclass(frozen=True)
class InstructionFile:
    """Describe one target: its name `path` in the project, and the file `real_path` behind links.

    `document` is None if there is no such file, `section` if it has none. `error` says why it can
    be neither read nor edited. `case_variant` is an existing name that differs by case.
    `lacks_folder`: even its folder is absent. `missing`: git has it nevertheless. `identity` is
    equal for two names of one file, including a flattened link.
    """

    path: str
    real_path: str = ""
    document: Document | None = None
    section: Section | None = None
    error: CubError | None = None
    case_variant: str = ""
    lacks_folder: bool = False
    missing: MissingFile | None = None
    identity: Hashable | None = None

    @property
    def exists(self) -> bool:
        """Return whether the file exists and is readable."""
        return self.document is not None

    @property
    def identity_key(self) -> Hashable:
        """Return a key equal for two names of one file, which has one section."""
        return self.real_path if self.identity is None else self.identity

    @property
    def is_present(self) -> bool:
        """Return whether there is something under this name, readable or not."""
        return self.exists or self.error is not None

    @cached_property
    def user_bytes(self) -> bytes:
        """Return everything outside the section, without blank lines around it."""
        if self.document is None:
            return b""
        data = self.document.data
        own = sections.get_bytes_outside(self.document, self.section) if self.section else data
        return _BLANK_LINES.sub(b"", own.removeprefix(BOM)).rstrip()

    @cached_property
    def imported_paths(self) -> frozenset[str]:
        """Return the paths that the user's own text imports."""
        if self.document is None or b"@" not in self.user_bytes:
            return frozenset()
        return find_imports(self.document.replace_data(self.user_bytes).text)

    def section_mentions(self, word: str) -> bool:
        """Return whether cub's words in the section, above inlined texts, have `word`."""
        body = b"".join(self.section.body) if self.section else b""
        return word.encode() in _INLINED.split(body, maxsplit=1)[0]


def read_instruction_files(tree: FileTree, paths: Iterable[str]) -> dict[str, InstructionFile]:
    """Look at each of `paths`; faults become `error`, never an exception."""
    reader = _TreeReader(tree, tuple(paths))
    return {path: _read_file(reader, path) for path in reader.known}


def remove_duplicates(files: Iterable[InstructionFile]) -> list[InstructionFile]:
    """Return each file once, under its first name, however many links lead to it."""
    unique: dict[object, InstructionFile] = {}
    for file in files:
        unique.setdefault(file.identity_key, file)
    return list(unique.values())


def follow_flattened_link(
    path: str, read: Callable[[str], bytes | None], target_paths: Collection[str]
) -> str:
    """Return the instruction file that `path` leads to: `path` itself unless it is a link.

    A link leads to one of `target_paths`, or to another existing instruction file. Text that cub
    wrote into it would become part of the link's target in every other checkout.
    """
    chain = [path]
    while target := read_link_target(chain[-1], read(chain[-1]) or b""):
        # AGENTS.md is always written: if its link leads nowhere, its text is the user's.
        is_planned = target in target_paths and chain[-1] != AGENTS_MD.path
        if is_fully_managed(target) or not (is_planned or (find_target(target) and read(target))):
            break
        if target in chain:
            return path
        chain.append(target)
    return chain[-1]


class _TreeReader:
    """Read a tree and the files `known`: list each folder and read each file only once."""

    def __init__(self, tree: FileTree, known: Collection[str]) -> None:
        self.tree = tree
        self.known = known
        self.names = cache(tree.list_names)
        self.read = cache(self._read)

    def _read(self, path: str) -> bytes | None:
        folder, name = posixpath.split(path)
        return self.tree.read(path) if name in self.names(folder) else None


def _read_file(reader: _TreeReader, path: str) -> InstructionFile:
    real, identity = path, None
    try:
        actual_path = follow_flattened_link(path, reader.read, reader.known)
        real = reader.tree.resolve_path(actual_path)
        data = reader.read(actual_path)
        if data is None:
            return _describe_missing_file(reader, path, actual_path, real)
        identity = reader.tree.get_identity(actual_path)
        document = Document.parse(data, actual_path)
        section = sections.find_section(document)
    except CubError as error:
        return InstructionFile(path, real, error=error, identity=identity)
    return InstructionFile(path, real, document, section, identity=identity)


def _describe_missing_file(
    reader: _TreeReader, path: str, actual_path: str, real: str
) -> InstructionFile:
    folder, name = posixpath.split(actual_path)
    names = reader.names(folder)
    case_variant = next((n for n in sorted(names) if n.casefold() == name.casefold()), "")
    lacks_folder = not names and not reader.tree.has_folder(folder)
    if lacks_folder and not is_nested_target(actual_path):
        _require_no_file(reader, folder)
    missing = reader.tree.find_missing(actual_path)
    # Of the root's files, each may decide what the others have to say.
    if missing and missing.is_outside_checkout and not is_nested_target(actual_path):
        raise missing.make_error()
    return InstructionFile(
        path, real, case_variant=case_variant, lacks_folder=lacks_folder, missing=missing
    )


def _require_no_file(reader: _TreeReader, folder: str) -> None:
    """Refuse a file in place of a missing folder; a folder of the root is created later."""
    while folder:
        parent, name = posixpath.split(folder)
        if name in reader.names(parent):
            if reader.tree.has_folder(folder):
                return
            message = "this is a file, but cub needs a directory here"
            raise CubError(message, where=folder, hint="move it to another place")
        folder = parent


def read_link_target(path: str, data: bytes) -> str:
    """Return the path that a file consists of, relative to the root; "" for any other text."""
    text = data.strip().decode("utf-8", "replace") if len(data) <= _MAX_LINK_BYTES else ""
    if not (text and text.isprintable()) or text.startswith("/"):
        return ""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
