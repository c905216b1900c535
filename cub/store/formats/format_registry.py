"""Find the format of a file of tasks, and read it.

`jsonl` is one task a line in cub's spelling, or in one of those that cub reads as its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from typing import Any, NamedTuple

from cub.errors import CubError, UsageError
from cub.store.formats import beads, prd, task_master
from cub.store.formats.document import ImportedTasks, KeyPath, parse_document
from cub.store.jsonl import Record, decode_record, iter_lines
from cub.store.task_index import TaskIndex

AUTO_FORMAT = "auto"
JSONL = "jsonl"


class TaskFormat(NamedTuple):
    """Describe how a format is read; `find_lists` finds the lists of tasks in a document of it."""

    parse: Callable[[bytes, str], ImportedTasks]
    find_lists: Callable[[Any], list[KeyPath]] | None = None


def parse_tasks(data: bytes, where: str, format: str = AUTO_FORMAT) -> ImportedTasks:  # noqa: A002
    """Return the tasks of a file; CubError if it is not in the format. `where` is for messages."""
    name = _detect_format(data, where) if format == AUTO_FORMAT else format
    if name not in FORMATS:
        raise make_format_error(name, FORMATS)
    task_format = FORMATS[name]
    if task_format.find_lists and not task_format.find_lists(parse_document(data, where)):
        raise CubError(f"this is no document of {name}", where=where, hint=_HINT)
    return task_format.parse(data, where)


def make_format_error(name: str, formats: Iterable[str]) -> UsageError:
    """Return the error for a format that does not exist."""
    return UsageError(f"no format {name!r}", hint=f"there are: {', '.join(formats)}")


def _parse_jsonl(data: bytes, _where: str) -> ImportedTasks:
    tasks = TaskIndex.parse(data)
    renamed_ids = [task.new_id for task in tasks.renamed_tasks]
    records = [tasks.read_record(task_id) for task_id in tasks.summaries]
    return ImportedTasks(JSONL, records, tasks.rejected_lines, renamed_ids)


FORMATS = {
    JSONL: TaskFormat(_parse_jsonl),
    beads.BEADS: TaskFormat(beads.parse_beads),
    task_master.TASK_MASTER: TaskFormat(task_master.parse_task_master, task_master.find_task_lists),
    prd.PRD: TaskFormat(prd.parse_prd, prd.find_story_lists),
}
_HINT = f"say it: --format {'|'.join(FORMATS)}"


def _detect_format(data: bytes, where: str) -> str:
    """Return the format that alone has what a file has: one document, or lines of objects."""
    try:
        document, failure = parse_document(data, where), None
    except CubError as error:
        document, failure = None, error
    for name, task_format in FORMATS.items():
        if task_format.find_lists and task_format.find_lists(document) and "id" not in document:
            return name
    objects = [raw for raw in _iter_objects(data) if "id" in raw]
    if objects or not data.strip():
        return beads.BEADS if beads.is_beads(objects) else JSONL
    raise failure or CubError("cub can't tell in which format this is", where=where, hint=_HINT)


def _iter_objects(data: bytes) -> Iterator[Record]:
    for line in iter_lines(BytesIO(data)):
        try:
            yield decode_record(line.text)
        except ValueError:
            continue
