"""The formats by name, and which one a file is in.

`jsonl`: one task a line in cub's own spelling, or in one of those that cub reads as its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from typing import Any, NamedTuple

from cub.errors import CubError, UsageError
from cub.store.formats import beads, prd, task_master
from cub.store.formats.document import ImportedTasks, KeyPath, parse_document
from cub.store.jsonl import Record, decode_record, encode_record, iter_lines
from cub.store.task_index import TaskIndex

JSONL = "jsonl"


def parse_jsonl(data: bytes, _where: str) -> ImportedTasks:
    """The tasks of a file, as cub reads its own."""
    tasks = TaskIndex.parse(data)
    renamed = [taken.new_id for taken in tasks.renamed_tasks]
    return ImportedTasks(
        JSONL, [tasks.read_record(key) for key in tasks.summaries], tasks.rejected_lines, renamed
    )


def dump_jsonl(records: Sequence[Record]) -> bytes:
    """The tasks as in `.cub/tasks.jsonl`."""
    ordered = sorted(records, key=lambda record: str(record["id"]))
    return b"".join(encode_record(record) + b"\n" for record in ordered)


AUTO_FORMAT = "auto"


class TaskFormat(NamedTuple):
    """How a format is read and written; `find_lists` finds the lists of tasks in a document of
    it.
    """

    parse: Callable[[bytes, str], ImportedTasks]
    dump: Callable[[Sequence[Record]], bytes]
    find_lists: Callable[[Any], list[KeyPath]] | None = None


FORMATS = {
    JSONL: TaskFormat(parse_jsonl, dump_jsonl),
    beads.BEADS: TaskFormat(beads.parse_beads, beads.dump_beads),
    task_master.TASK_MASTER: TaskFormat(
        task_master.parse_task_master, task_master.dump_task_master, task_master.find_task_lists
    ),
    prd.PRD: TaskFormat(prd.parse_prd, prd.dump_prd, prd.find_story_lists),
}


def parse_tasks(data: bytes, where: str, format: str = AUTO_FORMAT) -> ImportedTasks:  # noqa: A002
    """The tasks of a file; `where` names it in messages. CubError if it is in no such format."""
    name = _detect_format(data, where) if format == AUTO_FORMAT else format
    found = find_format(name)
    if found.find_lists and not found.find_lists(parse_document(data, where)):
        raise CubError(f"this is no document of {name}", where=where, hint=_hint())
    return found.parse(data, where)


def dump_tasks(records: Sequence[Record], format: str) -> bytes:  # noqa: A002
    """Tasks as a file of a format."""
    return find_format(format).dump(records)


def find_format(name: str) -> TaskFormat:
    """The format of a name."""
    if name not in FORMATS:
        raise UsageError(f"no format {name!r}", hint=f"there are: {', '.join(FORMATS)}")
    return FORMATS[name]


def _detect_format(data: bytes, where: str) -> str:
    """By what only one format has: first whether it is one document, or lines of objects."""
    try:
        document, broken = parse_document(data, where), None
    except CubError as error:
        document, broken = None, error
    for name, found in FORMATS.items():
        if found.find_lists and found.find_lists(document) and "id" not in document:
            return name
    objects = [one for one in _objects(data) if "id" in one]
    if objects or not data.strip():
        return beads.BEADS if beads.is_beads(objects) else JSONL
    raise broken or CubError("cub can't tell in which format this is", where=where, hint=_hint())


def _objects(data: bytes) -> Iterator[Record]:
    for line in iter_lines(BytesIO(data)):
        try:
            yield decode_record(line.text)
        except ValueError:
            continue


def _hint() -> str:
    return f"say it: --format {'|'.join(FORMATS)}"
