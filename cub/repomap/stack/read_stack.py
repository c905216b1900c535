"""The stack of a project on disk: one reading of it, for the map as for prompts and runs.

Facts fit to be shown: one line each, of a sensible length, without control characters.

Manifests are other people's texts, and readers take them as they are; this is the one gate.

From the paths of a project to its stack: finds the manifests, reads them, merges the facts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from cub.errors import CubError
from cub.repomap.listing.file_kinds import FOREIGN_KINDS, FileClassifier
from cub.repomap.listing.file_listing import list_files, read_listed_file
from cub.repomap.map_types import MapOmission
from cub.repomap.stack.facts import (
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    ProjectPackage,
    ProjectStack,
    ReadFile,
    Technology,
)
from cub.repomap.stack.manifest_index import (
    MAX_MANIFESTS,
    ManifestMatch,
    find_manifests,
    load_readers,
)
from cub.repomap.stack.merge_facts import merge_facts


def read_stack(paths: Sequence[str], classifier: FileClassifier, read: ReadFile) -> ProjectStack:
    """Read the stack from files of a listing: what is a copy of others' code does not count."""
    # Lock files and wrappers tell how a project is built.
    return read_manifests(
        [path for path in paths if classifier.classify_folder_of(path) not in FOREIGN_KINDS], read
    )


def read_project_stack(root: Path, exclude: Sequence[str] = ()) -> ProjectStack:
    """Read the stack of the project at `root`, as its map has it, without looking at its code."""
    paths = list_files(root, exclude).paths
    return read_stack(paths, FileClassifier(paths), partial(read_listed_file, os.fspath(root)))


MAX_NAME_CHARS = 80
MAX_COMMAND_CHARS = 120
MAX_TEXT_CHARS = 300
_VERSION = re.compile(r"[\w .,:/<>=~^!*|+()-]{0,60}")
# Controls, and what shows nothing or turns text around: nobody could see what a map then says.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)


def sanitize_facts(facts: ManifestFacts) -> ManifestFacts:
    """The facts without those that no line could show; descriptions are cut, versions dropped."""
    return ManifestFacts(
        tuple(_technology(one) for one in facts.technologies if _fits(one.name)),
        tuple(one for one in facts.commands if _is_command(one)),
        tuple(one for one in facts.entry_points if _fits(one.name) and _fits(one.target, 200)),
        tuple(_package(one) for one in facts.packages if _fits(one.name or "-")),
        tuple(MapOmission(one.path, sanitize_text(one.message)) for one in facts.omissions),
    )


def sanitize_text(text: str, longest: int = MAX_TEXT_CHARS) -> str:
    """A text in one line, cut at a word if it is too long."""
    short = " ".join(_UNSEEN.sub(" ", text[: 4 * longest]).split())
    if len(short) <= longest:
        return short
    return f"{short[: longest - 1].rpartition(' ')[0] or short[: longest - 1]}…"


def _fits(text: str, longest: int = MAX_NAME_CHARS) -> bool:
    return 0 < len(text) <= longest and text == text.strip() and not _UNSEEN.search(text)


def _technology(one: Technology) -> Technology:
    version = " ".join(one.version[:200].split())
    return one._replace(version=version if _VERSION.fullmatch(version) else "")


def _is_command(one: ProjectCommand) -> bool:
    return _fits(one.text, MAX_COMMAND_CHARS) and not (set("`$") & set(one.text))


def _package(one: ProjectPackage) -> ProjectPackage:
    return one._replace(description=sanitize_text(one.description))


MAX_MANIFEST_BYTES = 1_000_000
# What parsers raise for texts that they can't read, or that are nested too deeply for them.
_FAULTS = (ValueError, SyntaxError, RecursionError, MemoryError, OverflowError, CubError)


def read_manifests(
    paths: Sequence[str], read: ReadFile, readers: Sequence[ManifestReader] | None = None
) -> ProjectStack:
    """What the manifests among the paths say of the project.

    The result depends on the set of paths and on what is in the manifests, not on any order. At
    most `MAX_MANIFESTS` files are read, those nearest to the root. A file that can't be read, is
    no UTF-8, has more than `MAX_MANIFEST_BYTES`, or makes no sense to its reader costs a note.
    """
    readers = load_readers(paths) if readers is None else readers
    found = find_manifests(paths, readers)
    known, kept = frozenset(paths), found[:MAX_MANIFESTS]
    facts = [each for one in kept for each in _facts(one, known, read, readers)]
    return merge_facts([*facts, *_too_many(found)])


def _facts(
    found: ManifestMatch, paths: frozenset[str], read: ReadFile, readers: Sequence[ManifestReader]
) -> Iterator[ManifestFacts]:
    """What each reader of a file makes of it."""
    try:
        manifest = Manifest(found.path, _text(read(found.path)), paths)
    except (OSError, ValueError, CubError) as error:
        yield _fault(found.path, error)
        return
    for number in found.readers:
        try:
            yield sanitize_facts(readers[number].read(manifest))
        except _FAULTS as error:
            yield _fault(found.path, error)


def _text(data: bytes) -> str:
    if len(data) > MAX_MANIFEST_BYTES:
        raise ValueError(
            f"this has {len(data):,} bytes, and cub reads no more than {MAX_MANIFEST_BYTES:,}"
        )
    if b"\0" in data:
        raise ValueError("this is not a text: it has NUL bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line}: byte {data[error.start]:#04x} is not UTF-8") from None


def _fault(path: str, error: BaseException) -> ManifestFacts:
    return ManifestFacts(omissions=(MapOmission(path, _words(error)),))


def _words(error: BaseException) -> str:
    """What is wrong, in words that are the same on each system."""
    if isinstance(error, OSError):
        return f"this can't be read: {error.strerror or type(error).__name__}"
    if isinstance(error, RecursionError | MemoryError):
        return "this is nested too deeply"
    if isinstance(error, SyntaxError):
        return f"line {error.lineno or 1}: {error.msg}"
    return " ".join(str(error).split())[:200]


def _too_many(found: list[ManifestMatch]) -> list[ManifestFacts]:
    rest = found[MAX_MANIFESTS:]
    if not rest:
        return []
    message = f"this and {len(rest) - 1:,} deeper manifests are left out: {MAX_MANIFESTS} are read"
    return [ManifestFacts(omissions=(MapOmission(rest[0].path, message),))]
