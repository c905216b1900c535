"""Describe the facts of one source file, and keep them in a cache of JSON lines.

Losing the cache costs time only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from cub.files.internal_files import READ_ERRORS, replace_file
from cub.repomap.listing.file_listing import ListedFile

DefinitionKind = Literal[
    "class", "struct", "interface", "trait", "enum", "type", "module", "function", "method",
    "macro", "constant", "variable",
]  # fmt: skip


class Definition(NamedTuple):
    """Describe a name that a source file defines.

    `line` counts from 1; `signature` is one line without body, docstring or decorators.
    `member_of` is the class (type, module …) that it belongs to, "" at the top level.
    `exported`: other files may use it, by the rules of its language.
    """

    name: str
    kind: DefinitionKind
    line: int
    signature: str
    member_of: str = ""
    exported: bool = True


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Hold what the map needs of one source file.

    `names` and `imported_names` are identifiers with spaces between them; `skip_reason` says why a
    file is not in the graph, `parse_error` why its definitions are not known. `digest` covers all
    that a map depends on, except lines and `names`.
    """

    names: str = ""
    imported_names: str = ""
    definitions: tuple[Definition, ...] = ()
    skip_reason: str = ""
    parse_error: str = ""
    digest: str = ""

    def with_digest(self) -> Self:
        """Return these facts with their `digest`."""
        definitions = [definition._replace(line=0) for definition in self.definitions]
        parts = (definitions, self.imported_names, self.skip_reason, self.parse_error)
        data = repr(parts).encode("utf-8", "replace")
        return replace(self, digest=blake2b(data, digest_size=9).hexdigest())

    def to_json(self) -> list[Any]:
        """Return the facts as a JSON list, by position."""
        rows = [[*definition] for definition in self.definitions]
        return [
            *(self.names, self.imported_names, rows),
            *(self.skip_reason, self.parse_error, self.digest),
        ]

    @classmethod
    def from_json(cls, row: Sequence[Any]) -> FileFacts:
        """Read what `to_json` returned; raise ValueError, TypeError and the like for other data."""
        names, imported, rows, skip_reason, parse_error, digest = row
        if any(tuple(map(type, row)) != (str, str, int, str, str, bool) for row in rows):
            raise ValueError("not a list of definitions")
        definitions = tuple(Definition(*row) for row in rows)
        return cls(
            *(str(names), str(imported), definitions),
            *(str(skip_reason), str(parse_error), str(digest)),
        )


class ScanJob(NamedTuple):
    """Describe a file to scan: its path, its grammar ("" for none), and whether it is parsed."""

    path: str
    grammar: str
    needs_parsing: bool


class CachedFacts(NamedTuple):
    """Hold the facts of a file, and the state and the job for which they are valid."""

    file: ListedFile
    job: ScanJob
    facts: FileFacts


def load_facts_cache(path: Path, version: str) -> dict[str, CachedFacts]:
    """Load the entries by path; {} if the file is missing, damaged or of another version."""
    try:
        if not path.is_file():  # missing, or a device that never ends
            return {}
        with path.open("rb") as lines:
            if json.loads(lines.readline()) != [version]:
                return {}
            return {entry.file.path: entry for entry in map(_parse_entry, lines)}
    except READ_ERRORS:
        return {}


def save_facts_cache(path: Path, version: str, entries: Iterable[CachedFacts]) -> None:
    """Replace the cache at once; if that fails, nothing changes."""
    with suppress(OSError):
        replace_file(path, _iter_lines(version, entries))


def _iter_lines(version: str, entries: Iterable[CachedFacts]) -> Iterator[bytes]:
    yield json.dumps([version]).encode() + b"\n"
    for file, job, facts in entries:
        row = [*file, job.grammar, job.needs_parsing, *facts.to_json()]
        yield json.dumps(row, separators=(",", ":")).encode() + b"\n"


def _parse_entry(line: bytes) -> CachedFacts:
    path, size, mtime_ns, inode, grammar, needs_parsing, *rest = json.loads(line)
    file, job = ListedFile(path, size, mtime_ns, inode), ScanJob(path, grammar, needs_parsing)
    return CachedFacts(file, job, FileFacts.from_json(rest))
