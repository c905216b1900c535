"""Decide which files of a project are scanned, and turn the bytes of one file into facts."""

from __future__ import annotations

import posixpath
import re
from typing import NamedTuple

from cub.files.read_files import read_prefix
from cub.repomap.listing.file_kinds import FOREIGN_KINDS, FileClassifier, FileKind
from cub.repomap.listing.file_listing import FileListing
from cub.repomap.listing.languages import detect_header_language, detect_language, index_grammars
from cub.repomap.symbols.file_facts import Definition, FileFacts, ScanJob
from cub.repomap.symbols.identifiers import find_imported_names, find_names
from cub.text import describe_os_error


class ClassifiedFiles(NamedTuple):
    """Hold a listing, the kinds of its files, and those that are scanned for symbols."""

    listing: FileListing
    classifier: FileClassifier
    scan_jobs: list[ScanJob]


def classify_files(listing: FileListing, *, symbols: bool = True) -> ClassifiedFiles:
    """Classify the files of a listing; without `symbols`, none is scanned."""
    classifier = FileClassifier(listing.paths)
    jobs = plan_scan_jobs(listing, classifier) if symbols else []
    return ClassifiedFiles(listing, classifier, jobs)


def plan_scan_jobs(listing: FileListing, classifier: FileClassifier) -> list[ScanJob]:
    """Choose sources, and what uses them; only sources are parsed."""
    header = "cpp" if detect_header_language(listing.paths) == "C++" else "c"
    jobs: list[ScanJob] = []
    for file in listing.files:
        language = detect_language(file.path)
        if not language or not language.grammar:
            continue
        kind = classifier.classify(file.path)
        if kind not in FOREIGN_KINDS:
            grammar = header if file.path.endswith(".h") else language.grammar
            jobs.append(ScanJob(file, grammar, kind is FileKind.SOURCE))
    return jobs


MAX_SOURCE_BYTES = 1_000_000  # bytes; a longer file is data or generated
_HEAD_BYTES = 8_000
_MAX_AVERAGE_LINE_BYTES = 400  # nobody writes longer lines
_GENERATED = re.compile(
    rb"@generated\b|(?i:code generated (?:by|from)|(?:auto-?|automatically )generated"
    rb"|do not (?:edit|modify)(?: this file)?(?:\.|,| by| -|!))"
)


def scan_file(root: str, job: ScanJob) -> FileFacts:
    """Read a file and return its facts, or why it can't be read or used."""
    try:
        data = read_prefix(root, job.file.path, MAX_SOURCE_BYTES + 1)
    except OSError as error:
        reason = f"cannot be read: {describe_os_error(error)}"
        return FileFacts(skip_reason=reason)
    return extract_facts(job, data)


def extract_facts(job: ScanJob, data: bytes) -> FileFacts:
    """Return the facts in the bytes of a file."""
    if reason := _find_skip_reason(data):
        return FileFacts(skip_reason=reason)
    imported = find_imported_names(job.grammar, data)
    names = find_names(data, imported)
    if not job.needs_parsing:
        return FileFacts(names, imported)
    from cub.repomap.symbols.definitions import find_definitions

    language = index_grammars().get(job.grammar)
    if language and language.component:
        definitions = find_component_definitions(job.file.path, data)
    else:
        definitions = find_definitions(job.grammar, data)
    if definitions is None:
        return FileFacts(names, imported, parse_error="it could not be parsed")
    return FileFacts(names, imported, definitions)


def _find_skip_reason(data: bytes) -> str:
    """Return why a file is not a source that a person wrote; "" if it is one."""
    if len(data) > MAX_SOURCE_BYTES:
        return f"longer than {MAX_SOURCE_BYTES:,} bytes"
    if b"\0" in data[:_HEAD_BYTES]:
        return "binary"
    lines = data.count(b"\n") + 1
    if len(data) > _HEAD_BYTES and len(data) > _MAX_AVERAGE_LINE_BYTES * lines:
        return "minified"
    return "generated" if _GENERATED.search(data[:1000]) else ""


_OPEN, _CLOSE = b"<script", b"</script"


def find_component_definitions(path: str, data: bytes) -> tuple[Definition, ...] | None:
    """Return the component of a Vue or Svelte file and what its scripts export; None on failure.

    Only the template can use what a script declares without `export`.
    """
    from cub.repomap.symbols.definitions import find_definitions

    name = posixpath.splitext(posixpath.basename(path))[0]
    definitions = find_definitions("typescript", extract_scripts(data))
    if definitions is None:
        return None
    return (Definition(name, "class", 1, f"component {name}"), *definitions)


def extract_scripts(data: bytes) -> bytes:
    """Return the text of all scripts, and newlines for the rest, which keep line numbers."""
    pieces, low, at = [], data.lower(), 0
    while (start := low.find(_OPEN, at)) >= 0 and (begin := low.find(b">", start)) >= 0:
        end = low.find(_CLOSE, begin)
        end = len(data) if end < 0 else end
        pieces += [b"\n" * data.count(b"\n", at, begin), data[begin + 1 : end]]
        at = end
    return b"".join(pieces)
