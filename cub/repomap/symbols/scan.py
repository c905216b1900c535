"""One file's bytes made into facts."""

from __future__ import annotations

import re
from typing import NamedTuple

from cub.files.regular import read_start
from cub.repomap.symbols.components import GRAMMAR, component
from cub.repomap.symbols.definitions import definitions
from cub.repomap.symbols.facts import FileFacts
from cub.repomap.symbols.identifiers import imported_in, names_in

MOST = 1_000_000  # bytes; beyond, a file is data or the work of a tool
_HEAD = 8_000
_LONG = 400  # bytes a line on average: nobody writes like this
_GENERATED = re.compile(
    rb"@generated\b|(?i:code generated (?:by|from)|(?:auto-?|automatically )generated"
    rb"|do not (?:edit|modify)(?: this file)?(?:\.|,| by| -|!))"
)


class Job(NamedTuple):
    """A file to scan: where it is, its grammar ("" for none), and whether it is parsed too."""

    path: str
    grammar: str
    parsed: bool


def scan(root: str, job: Job) -> FileFacts:
    """Read a file and tell what is in it; what can't be read or used is told as such."""
    try:
        data = read_start(root, job.path, MOST + 1)
    except OSError as error:
        reason = f"cannot be read: {(error.strerror or str(error)).lower()}"
        return FileFacts(left_out=reason).shaped()
    return facts_of(job, data).shaped()


def facts_of(job: Job, data: bytes) -> FileFacts:
    """What the bytes of a file tell."""
    if reason := _no_source(data):
        return FileFacts(left_out=reason)
    imported = imported_in(job.grammar, data)
    names = names_in(data, imported)
    if not job.parsed:
        return FileFacts(names, imported)
    is_component = job.grammar == GRAMMAR
    found = component(job.path, data) if is_component else definitions(job.grammar, data)
    if found is None:
        return FileFacts(names, imported, unparsed="it could not be parsed")
    return FileFacts(names, imported, found)


def _no_source(data: bytes) -> str:
    """Why a file is nothing that a person wrote or reads."""
    if len(data) > MOST:
        return f"longer than {MOST:,} bytes"
    if b"\0" in data[:_HEAD]:
        return "binary"
    if len(data) > _HEAD and len(data) > _LONG * (data.count(b"\n") + 1):
        return "minified"
    return "generated" if _GENERATED.search(data[:1000]) else ""
