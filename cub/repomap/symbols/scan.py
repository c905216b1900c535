"""The files of a project, sorted by the part that they play.

Components of Vue and Svelte: a file is one, called like the file, with scripts inside.

Which files are scanned, and which of them parsed.

One file's bytes made into facts.
"""

from __future__ import annotations

import posixpath
import re
from typing import NamedTuple

from cub.files.read_files import read_prefix
from cub.repomap.listing.file_kinds import FOREIGN_KINDS, FileClassifier, FileKind
from cub.repomap.listing.file_listing import FileListing, ListedFile
from cub.repomap.listing.languages import detect_header_language, detect_language
from cub.repomap.symbols.definitions import find_definitions
from cub.repomap.symbols.file_facts import Definition, FileFacts, ScanJob
from cub.repomap.symbols.identifiers import find_imported_names, find_names
from cub.text import describe_os_error


class ClassifiedFiles(NamedTuple):
    """A listing, the kinds of its files, and those that are scanned for symbols."""

    listing: FileListing
    classifier: FileClassifier
    scan_jobs: ScanJobs


def classify_files(listing: FileListing, *, symbols: bool = True) -> ClassifiedFiles:
    """Sort the files of a listing; without `symbols`, none is scanned."""
    kinds = FileClassifier(listing.paths)
    return ClassifiedFiles(listing, kinds, plan_scan_jobs(listing, kinds) if symbols else {})


COMPONENT_GRAMMAR = "vue"
_OPEN, _CLOSE = b"<script", b"</script"


def find_component_definitions(path: str, data: bytes) -> tuple[Definition, ...] | None:
    """The component, and what its scripts give to others; None where they can't be parsed.

    What a script declares without `export` is the template's alone.
    """
    name = posixpath.splitext(posixpath.basename(path))[0]
    found = find_definitions("typescript", extract_scripts(data))
    if found is None:
        return None
    return (Definition(name, "class", 1, f"component {name}"), *found)


def extract_scripts(data: bytes) -> bytes:
    """The text of all scripts; of the rest, line ends alone: lines keep their numbers."""
    kept, low, at = [], data.lower(), 0
    while (start := low.find(_OPEN, at)) >= 0 and (begin := low.find(b">", start)) >= 0:
        end = low.find(_CLOSE, begin)
        end = len(data) if end < 0 else end
        kept += [b"\n" * data.count(b"\n", at, begin), data[begin + 1 : end]]
        at = end
    return b"".join(kept)


MAX_SOURCE_BYTES = 1_000_000  # bytes; beyond, a file is data or the work of a tool
_HEAD = 8_000
_LONG = 400  # bytes a line on average: nobody writes like this
_GENERATED = re.compile(
    rb"@generated\b|(?i:code generated (?:by|from)|(?:auto-?|automatically )generated"
    rb"|do not (?:edit|modify)(?: this file)?(?:\.|,| by| -|!))"
)


def scan_file(root: str, job: ScanJob) -> FileFacts:
    """Read a file and tell what is in it; what can't be read or used is told as such."""
    try:
        data = read_prefix(root, job.path, MAX_SOURCE_BYTES + 1)
    except OSError as error:
        reason = f"cannot be read: {describe_os_error(error)}"
        return FileFacts(skip_reason=reason).with_digest()
    return extract_facts(job, data).with_digest()


def extract_facts(job: ScanJob, data: bytes) -> FileFacts:
    """What the bytes of a file tell."""
    if reason := _no_source(data):
        return FileFacts(skip_reason=reason)
    imported = find_imported_names(job.grammar, data)
    names = find_names(data, imported)
    if not job.needs_parsing:
        return FileFacts(names, imported)
    is_component = job.grammar == COMPONENT_GRAMMAR
    found = (
        find_component_definitions(job.path, data)
        if is_component
        else find_definitions(job.grammar, data)
    )
    if found is None:
        return FileFacts(names, imported, parse_error="it could not be parsed")
    return FileFacts(names, imported, found)


def _no_source(data: bytes) -> str:
    """Why a file is nothing that a person wrote or reads."""
    if len(data) > MAX_SOURCE_BYTES:
        return f"longer than {MAX_SOURCE_BYTES:,} bytes"
    if b"\0" in data[:_HEAD]:
        return "binary"
    if len(data) > _HEAD and len(data) > _LONG * (data.count(b"\n") + 1):
        return "minified"
    return "generated" if _GENERATED.search(data[:1000]) else ""


ScanJobs = dict[ListedFile, ScanJob]


def plan_scan_jobs(listing: FileListing, classifier: FileClassifier) -> ScanJobs:
    """What is to be scanned: sources, and what uses them; only sources are parsed."""
    header = "cpp" if detect_header_language(listing.paths) == "C++" else "c"
    jobs: ScanJobs = {}
    for file in listing.files:
        language = detect_language(file.path)
        if (
            not language
            or not language.grammar
            or (kind := classifier.classify(file.path)) in FOREIGN_KINDS
        ):
            continue
        grammar = header if file.path.endswith(".h") else language.grammar
        jobs[file] = ScanJob(file.path, grammar, kind is FileKind.SOURCE)
    return jobs
