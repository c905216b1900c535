"""What earlier runs found out about files, kept as JSON lines; losing it costs time, no more.

What a definition is: a name that a source file gives to others.

What one source file tells, as it is kept from one run to the next.
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


class CachedFacts(NamedTuple):
    """The facts of a file, and the state and the job that they hold for."""

    file: ListedFile
    job: ScanJob
    facts: FileFacts


def load_facts_cache(path: Path, version: str) -> dict[str, CachedFacts]:
    """The entries by path; none where the file is missing, damaged or of another version."""
    try:
        if not path.is_file():  # nothing, or what would not end
            return {}
        with path.open("rb") as lines:
            if json.loads(lines.readline()) != [version]:
                return {}
            return {entry.file.path: entry for entry in map(_entry, lines)}
    except READ_ERRORS:
        return {}


def save_facts_cache(path: Path, version: str, entries: Iterable[CachedFacts]) -> None:
    """Put the entries in place of what is there, at once; where that fails, nothing changes."""
    with suppress(OSError):
        replace_file(path, _lines(version, entries))


def _lines(version: str, entries: Iterable[CachedFacts]) -> Iterator[bytes]:
    yield json.dumps([version]).encode() + b"\n"
    for file, job, facts in entries:
        row = [*file, job.grammar, job.needs_parsing, *facts.to_json()]
        yield json.dumps(row, separators=(",", ":")).encode() + b"\n"


def _entry(line: bytes) -> CachedFacts:
    path, size, mtime_ns, inode, grammar, parsed, *rest = json.loads(line)
    file, job = ListedFile(path, size, mtime_ns, inode), ScanJob(path, grammar, parsed)
    return CachedFacts(file, job, FileFacts.from_json(rest))


DefinitionKind = Literal[
    "class", "struct", "interface", "trait", "enum", "type", "module", "function", "method",
    "macro", "constant", "variable",
]  # fmt: skip


class Definition(NamedTuple):
    """`line` counts from 1; `signature` is one line without body, docstring or decorators.

    `member_of` is the name of the class (type, module …) that it belongs to, "" at the top level.
    `exported`: other files may use it, by the rules of its language.
    """

    name: str
    kind: DefinitionKind
    line: int
    signature: str
    member_of: str = ""
    exported: bool = True


_TYPES = (str, str, int, str, str, bool)  # of a definition's parts


@dataclass(frozen=True, slots=True)
class FileFacts:
    """`names` and `imported_names` are identifiers with blanks between them; `skip_reason` says why
    a file has no part in the graph; `parse_error`, why its definitions are not known.

    `digest` is a digest of all that a map depends on in a file by itself: neither its lines nor the
    names that it says.
    """

    names: str = ""
    imported_names: str = ""
    definitions: tuple[Definition, ...] = ()
    skip_reason: str = ""
    parse_error: str = ""
    digest: str = ""

    def with_digest(self) -> Self:
        """These facts with their `digest`."""
        definitions = [definition._replace(line=0) for definition in self.definitions]
        parts = (definitions, self.imported_names, self.skip_reason, self.parse_error)
        data = repr(parts).encode("utf-8", "replace")
        return replace(self, digest=blake2b(data, digest_size=9).hexdigest())

    def to_json(self) -> list[Any]:
        """As JSON has it."""
        rows = [[*definition] for definition in self.definitions]
        return [
            self.names,
            self.imported_names,
            rows,
            self.skip_reason,
            self.parse_error,
            self.digest,
        ]

    @classmethod
    def from_json(cls, row: Sequence[Any]) -> FileFacts:
        """What `to_json` gave; ValueError, TypeError and the like for anything else."""
        names, imported, rows, left_out, unparsed, shape = row
        return cls(
            str(names),
            str(imported),
            tuple(Definition(*_checked(row)) for row in rows),
            str(left_out),
            str(unparsed),
            str(shape),
        )


def _checked(row: Sequence[Any]) -> Sequence[Any]:
    if tuple(map(type, row)) != _TYPES:
        raise ValueError("this is no definition")
    return row


class ScanJob(NamedTuple):
    """A file to scan: where it is, its grammar ("" for none), and whether it is parsed too."""

    path: str
    grammar: str
    needs_parsing: bool
