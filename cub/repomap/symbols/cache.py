"""What earlier runs found out about files, kept as JSON lines; losing it costs time, no more."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cub.files.private import BROKEN, replace_file
from cub.repomap.listing.listing import File
from cub.repomap.symbols.facts import FileFacts
from cub.repomap.symbols.scan import Job


class Entry(NamedTuple):
    """The facts of a file, and the state and the job that they hold for."""

    file: File
    job: Job
    facts: FileFacts


def load(path: Path, version: str) -> dict[str, Entry]:
    """The entries by path; none where the file is missing, damaged or of another version."""
    try:
        if not path.is_file():  # nothing, or what would not end
            return {}
        with path.open("rb") as lines:
            if json.loads(lines.readline()) != [version]:
                return {}
            return {entry.file.path: entry for entry in map(_entry, lines)}
    except BROKEN:
        return {}


def save(path: Path, version: str, entries: Iterable[Entry]) -> None:
    """Put the entries in place of what is there, at once; where that fails, nothing changes."""
    with suppress(OSError):
        replace_file(path, _lines(version, entries))


def _lines(version: str, entries: Iterable[Entry]) -> Iterator[bytes]:
    yield json.dumps([version]).encode() + b"\n"
    for file, job, facts in entries:
        row = [*file, job.grammar, job.parsed, *facts.dump()]
        yield json.dumps(row, separators=(",", ":")).encode() + b"\n"


def _entry(line: bytes) -> Entry:
    path, size, mtime_ns, inode, grammar, parsed, *rest = json.loads(line)
    file, job = File(path, size, mtime_ns, inode), Job(path, grammar, parsed)
    return Entry(file, job, FileFacts.load(rest))
