"""Describe the facts of one source file, and keep them in a cache of JSON lines.

Losing the cache costs time only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

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


class FileFacts(NamedTuple):
    """Hold what the map needs of one source file.

    `names` and `imported_names` are identifiers with spaces between them; `skip_reason` says why a
    file is not in the graph, `parse_error` why its definitions are not known.
    """

    names: str = ""
    imported_names: str = ""
    definitions: tuple[Definition, ...] = ()
    skip_reason: str = ""
    parse_error: str = ""


class ScanJob(NamedTuple):
    """Describe a file to scan: its state, its grammar ("" for none), and whether it is parsed."""

    file: ListedFile
    grammar: str
    needs_parsing: bool


def load_facts_cache(path: Path, version: str) -> dict[ScanJob, FileFacts]:
    """Load the facts by the jobs that gave them; {} for a missing, damaged or other version's file.

    A file that has changed since has another job.
    """
    try:
        if not path.is_file():  # missing, or a device that never ends
            return {}
        with path.open("rb") as lines:
            if json.loads(lines.readline()) != [version]:
                return {}
            return dict(map(_parse_entry, lines))
    except READ_ERRORS:
        return {}


def save_facts_cache(path: Path, version: str, facts: Mapping[ScanJob, FileFacts]) -> None:
    """Replace the cache at once; if that fails, nothing changes."""
    rows = ([*job.file, job.grammar, job.needs_parsing, *row] for job, row in facts.items())
    lines = (json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows)
    with suppress(OSError):
        replace_file(path, chain([json.dumps([version]).encode() + b"\n"], lines))


def _parse_entry(line: bytes) -> tuple[ScanJob, FileFacts]:
    *state, grammar, needs_parsing, names, imported, rows, skip_reason, error = json.loads(line)
    if any(tuple(map(type, row)) != (str, str, int, str, str, bool) for row in rows):
        raise ValueError("not a list of definitions")
    definitions = tuple(Definition(*row) for row in rows)
    job = ScanJob(ListedFile(*state), grammar, needs_parsing)
    return job, FileFacts(str(names), str(imported), definitions, str(skip_reason), str(error))
