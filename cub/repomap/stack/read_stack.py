"""Read the stack of a project: find its manifests, read them, clean up and merge their facts.

Manifests are other people's files, and readers take them as they are. Here, facts are sanitized:
each is one line of a sensible length, without control characters.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from cub.errors import CubError
from cub.repomap.listing.file_kinds import FOREIGN_KINDS, FileClassifier
from cub.repomap.listing.file_listing import list_files, read_listed_file
from cub.repomap.map_types import MapOmission
from cub.repomap.safe_text import to_one_line, truncate_text
from cub.repomap.stack.facts import (
    EntryPoint,
    Fact,
    ProjectCommand,
    ProjectPackage,
    ProjectStack,
    ReadFile,
)
from cub.repomap.stack.manifest import Manifest, ManifestReader
from cub.repomap.stack.manifest_index import (
    MAX_MANIFESTS,
    ManifestMatch,
    find_manifests,
    load_readers,
)
from cub.repomap.stack.merge_facts import merge_facts

MAX_MANIFEST_BYTES = 1_000_000
MAX_NAME_CHARS = 80
MAX_COMMAND_CHARS = 120
MAX_TEXT_CHARS = 300
_MAX_TARGET_CHARS = 200
_VERSION = re.compile(r"[\w .,:/<>=~^!*|+()-]{0,60}")
# What parsers raise for texts that they can't read, or that are nested too deeply for them.
_READER_ERRORS = (ValueError, SyntaxError, RecursionError, MemoryError, OverflowError, CubError)


def read_project_stack(root: Path, exclude: Sequence[str] = ()) -> ProjectStack:
    """Read the stack of the project at `root`, as its map has it, without looking at its code."""
    paths = list_files(root, exclude).paths
    return read_stack(paths, FileClassifier(paths), partial(read_listed_file, os.fspath(root)))


def read_stack(paths: Sequence[str], classifier: FileClassifier, read: ReadFile) -> ProjectStack:
    """Read the stack from files of a listing; copies of others' code do not count."""
    # Lock files and wrappers tell how a project is built.
    return read_manifests(
        [path for path in paths if classifier.classify_folder_of(path) not in FOREIGN_KINDS], read
    )


def read_manifests(
    paths: Sequence[str], read: ReadFile, readers: Sequence[ManifestReader] | None = None
) -> ProjectStack:
    """Return the merged facts of the manifests among the paths; without `readers`, by all readers.

    The result depends on the set of paths and on what is in the manifests, not on any order. At
    most `MAX_MANIFESTS` files are read, those nearest to the root. A file that can't be read, is
    not UTF-8, has more than `MAX_MANIFEST_BYTES`, or makes no sense to its reader is an omission.
    """
    readers = load_readers() if readers is None else readers
    matches = find_manifests(paths, readers)
    all_paths = frozenset(paths)
    facts: list[Fact] = []
    omissions = _list_unread(matches)
    for match in matches[:MAX_MANIFESTS]:
        try:
            manifest = Manifest(match.path, _decode(read(match.path)), all_paths)
        except (OSError, ValueError, CubError) as error:
            omissions.append(MapOmission(match.path, _describe_error(error)))
            continue
        for number in match.readers:
            try:
                facts += list(filter(None, map(_sanitize_fact, readers[number].read(manifest))))
            except _READER_ERRORS as error:
                omissions.append(MapOmission(match.path, _describe_error(error)))
    return merge_facts(facts, omissions)


def _decode(data: bytes) -> str:
    if len(data) > MAX_MANIFEST_BYTES:
        raise ValueError(
            f"this has {len(data):,} bytes, and cub reads no more than {MAX_MANIFEST_BYTES:,}"
        )
    if b"\0" in data:
        raise ValueError("this is a binary file: it has NUL bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line}: byte {data[error.start]:#04x} is not UTF-8") from None


def _describe_error(error: BaseException) -> str:
    """Return what is wrong, in words that are the same on each system."""
    if isinstance(error, OSError):
        return f"this can't be read: {error.strerror or type(error).__name__}"
    if isinstance(error, RecursionError | MemoryError):
        return "too deeply nested"
    if isinstance(error, SyntaxError):
        return f"line {error.lineno or 1}: {error.msg}"
    return " ".join(str(error).split())[:200]


def _list_unread(matches: list[ManifestMatch]) -> list[MapOmission]:
    rest = matches[MAX_MANIFESTS:]
    if not rest:
        return []
    message = f"this and {len(rest) - 1:,} deeper manifests are left out: {MAX_MANIFESTS} are read"
    return [MapOmission(rest[0].path, message)]


def _sanitize_fact(fact: Fact) -> Fact | None:
    """Return a fact that fits in a line; cut its description, and drop an odd version.

    Return None for one that does not fit, or has no name: readers need not look.
    """
    if isinstance(fact, ProjectCommand):
        can_be_typed = _fits(fact.text, MAX_COMMAND_CHARS) and not (set("`$") & set(fact.text))
        return fact if can_be_typed else None
    if isinstance(fact, ProjectPackage):  # without a name, it is a member that names itself
        # A text may be long: only its start is looked at.
        line = to_one_line(fact.description[: 4 * MAX_TEXT_CHARS])
        description = truncate_text(line, MAX_TEXT_CHARS)
        return fact._replace(description=description) if _fits(fact.name or "-") else None
    if isinstance(fact, EntryPoint):
        return fact if _fits(fact.name) and _fits(fact.target, _MAX_TARGET_CHARS) else None
    version = " ".join(fact.version[:200].split())
    fact = fact._replace(version=version if _VERSION.fullmatch(version) else "")
    return fact if _fits(fact.name) else None


def _fits(text: str, max_chars: int = MAX_NAME_CHARS) -> bool:
    return 0 < len(text) <= max_chars and text == text.strip() and text.isprintable()
