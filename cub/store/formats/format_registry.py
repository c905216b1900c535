"""Find the format of a file of tasks, and read it.

`jsonl` is one task a line in cub's spelling, or in one of those that cub reads as its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from typing import Any, NamedTuple

from cub.errors import CubError, UsageError
from cub.store.formats import beads
from cub.store.formats.document import (
    DoubledLines,
    ImportedTasks,
    TaskLists,
    parse_document,
    require_objects,
)
from cub.store.formats.import_memory import forget_import
from cub.store.formats.prd import PRD, find_story_lists, parse_prd
from cub.store.formats.task_master import TASK_MASTER, find_task_lists, parse_task_master
from cub.store.jsonl import JsonlLine, Record, decode_record, iter_lines
from cub.store.task_index import TaskIndex, parse_task
from cub.store.task_schema import normalize_record

AUTO_FORMAT = "auto"
JSONL = "jsonl"


class DocumentFormat(NamedTuple):
    """Describe a format that is one document: how to find its lists of tasks, and read them."""

    find_lists: Callable[[Any], TaskLists]
    parse: Callable[[TaskLists, str], ImportedTasks]


def parse_tasks(data: bytes, where: str, format: str = AUTO_FORMAT) -> ImportedTasks:  # noqa: A002
    """Return the tasks of a file; CubError if it is not in the format. `where` is for messages."""
    name = _detect_format(data, where) if format == AUTO_FORMAT else format
    if name in _LINE_FORMATS:
        return _LINE_FORMATS[name](data)
    if name not in _DOCUMENT_FORMATS:
        raise make_format_error(name, FORMATS)
    lists = _DOCUMENT_FORMATS[name].find_lists(parse_document(data, where))
    if not lists:
        raise CubError(f"not a {name} document", where=where, hint=_HINT)
    require_objects(lists, where)
    return _DOCUMENT_FORMATS[name].parse(lists, where)


def make_format_error(name: str, formats: Iterable[str]) -> UsageError:
    """Return the error for a format that does not exist."""
    return UsageError(f"no format {name!r}", hint=f"there are: {', '.join(formats)}")


def _parse_jsonl(data: bytes) -> ImportedTasks:
    tasks = TaskIndex.parse(data)
    doubled = DoubledLines(tasks.rejected_lines, [])
    if tasks.duplicate_ids:
        lines_by_id: dict[str, list[tuple[JsonlLine, Record]]] = {}
        for line in iter_lines(BytesIO(data)):
            with suppress(ValueError):
                record = normalize_record(parse_task(decode_record(line.text)))
                lines_by_id.setdefault(record["id"], []).append((line, record))
        for key in tasks.duplicate_ids:
            new_ids = [task.new_id for task in tasks.renamed_tasks if task.id == key]
            doubled.add_group(key, lines_by_id[key], new_ids)
    records = [forget_import(tasks.read_record(task_id)) for task_id in tasks.summaries]
    return ImportedTasks(JSONL, records, *doubled)


_LINE_FORMATS = {JSONL: _parse_jsonl, beads.BEADS: beads.parse_beads}
_DOCUMENT_FORMATS = {
    TASK_MASTER: DocumentFormat(find_task_lists, parse_task_master),
    PRD: DocumentFormat(find_story_lists, parse_prd),
}
FORMATS = (*_LINE_FORMATS, *_DOCUMENT_FORMATS)
_HINT = f"say it: --format {'|'.join(FORMATS)}"


def _detect_format(data: bytes, where: str) -> str:
    """Return the format that alone has what a file has: one document, or lines of objects."""
    try:
        document, failure = parse_document(data, where), None
    except CubError as error:
        document, failure = None, error
    for name, document_format in _DOCUMENT_FORMATS.items():
        if document_format.find_lists(document) and "id" not in document:
            return name
    objects = [raw for raw in _iter_objects(data) if "id" in raw]
    if objects or not data.strip():
        return beads.BEADS if beads.is_beads(objects) else JSONL
    raise failure or CubError("unknown format", where=where, hint=_HINT)


def _iter_objects(data: bytes) -> Iterator[Record]:
    for line in iter_lines(BytesIO(data)):
        try:
            yield decode_record(line.text)
        except ValueError:
            continue
