"""`jsonl`: one task a line in cub's own spelling, or in one of those that cub reads as its own."""

from __future__ import annotations

from collections.abc import Sequence

from cub.store.formats.document import Imported
from cub.store.jsonl import Record, encode
from cub.store.tasks import Tasks

NAME = "jsonl"


def read(data: bytes, _where: str) -> Imported:
    """The tasks of a file, as cub reads its own."""
    tasks = Tasks.parse(data)
    renamed = [taken.renamed for taken in tasks.taken]
    return Imported(NAME, [tasks.record(key) for key in tasks.briefs], tasks.rejected, renamed)


def write(records: Sequence[Record]) -> bytes:
    """The tasks as in `.cub/tasks.jsonl`."""
    ordered = sorted(records, key=lambda record: str(record["id"]))
    return b"".join(encode(record) + b"\n" for record in ordered)
