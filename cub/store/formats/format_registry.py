"""Find the format of a file of tasks, and read it; write tasks as JSON lines or Markdown.

`jsonl` is one task a line in cub's spelling, or in one of those that cub reads as its own. Nothing
that a task says can leave its place in the Markdown: descriptions are in code blocks that they
cannot close, and all else is one line with the characters escaped that Markdown reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from io import BytesIO
from typing import Any, NamedTuple

from cub.errors import CubError, UsageError
from cub.store.formats import beads
from cub.store.formats.import_memory import forget_import
from cub.store.formats.prd import PRD, find_story_lists, parse_prd
from cub.store.formats.source_fields import (
    ImportedTasks,
    TaskLists,
    parse_document,
    require_objects,
)
from cub.store.formats.task_master import TASK_MASTER, find_task_lists, parse_task_master
from cub.store.jsonl import JsonlLine, Record, decode_record, encode_record, iter_lines
from cub.store.task_index import EPIC, TaskIndex, parse_task
from cub.store.task_schema import CLOSED, DEFAULT_PRIORITY, UNDONE_REASONS, normalize_record

AUTO_FORMAT = "auto"
JSONL = "jsonl"
MARKDOWN = "markdown"
_SPECIAL = re.compile(r"[\\`*\[\]<>&~#|]|(?<![a-z0-9])_|_(?![a-z0-9])", re.IGNORECASE)
_NO_EPIC = "Tasks without an epic"


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
        raise _make_format_error(name, FORMATS)
    lists = _DOCUMENT_FORMATS[name].find_lists(parse_document(data, where))
    if not lists:
        raise CubError(f"not a {name} document", where=where, hint=_HINT)
    require_objects(lists, where)
    return _DOCUMENT_FORMATS[name].parse(lists, where)


def _make_format_error(name: str, formats: Iterable[str]) -> UsageError:
    return UsageError(f"no format {name!r}", hint=f"there are: {', '.join(formats)}")


def _parse_jsonl(data: bytes) -> ImportedTasks:
    tasks = TaskIndex.parse(data)
    records = [forget_import(tasks.read_record(task_id)) for task_id in tasks.summaries]
    imported = ImportedTasks(JSONL, records, tasks.rejected_lines, [])
    if tasks.duplicate_ids:
        lines_by_id: dict[str, list[tuple[JsonlLine, Record]]] = {}
        for line in iter_lines(BytesIO(data)):
            with suppress(ValueError):
                record = normalize_record(parse_task(decode_record(line.text)))
                lines_by_id.setdefault(record["id"], []).append((line, record))
        for key in tasks.duplicate_ids:
            new_ids = [task.new_id for task in tasks.renamed_tasks if task.id == key]
            imported.compare_lines(key, lines_by_id[key], new_ids)
    return imported


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


def dump_tasks(records: Sequence[Record], format: str) -> bytes:  # noqa: A002
    """Return tasks as a file of a format; UsageError for a format that cub does not write."""
    if format not in EXPORT_FORMATS:
        raise _make_format_error(format, EXPORT_FORMATS)
    return EXPORT_FORMATS[format](sorted(records, key=lambda record: str(record["id"])))


def _dump_jsonl(records: Sequence[Record]) -> bytes:
    return b"".join(encode_record(record) + b"\n" for record in records)


def _dump_markdown(records: Sequence[Record]) -> bytes:
    """Return a section for each epic with its tasks, then one for the tasks without an epic."""
    ordered = sorted(records, key=lambda record: _split_numbers(record["id"]))
    parents = {str(record.get("parent")) for record in ordered}
    epics = {r["id"]: r for r in ordered if r.get("issue_type") == EPIC or r["id"] in parents}
    tasks: dict[str, list[Record]] = {task_id: [] for task_id in [*epics, ""]}
    for record in ordered:
        if record["id"] not in epics:
            parent = str(record.get("parent"))
            tasks[parent if parent in epics else ""].append(record)
    blocks = ["# Tasks"]
    for task_id, children in tasks.items():
        if task_id:
            blocks += _iter_blocks(epics[task_id], 2, is_below_epic=False)
        elif children and epics:
            blocks.append(f"## {_NO_EPIC}")
        for child in children:
            blocks += _iter_blocks(child, 3, is_below_epic=bool(task_id))
    return "\n\n".join([*blocks, ""]).encode("utf-8").removesuffix(b"\n")


EXPORT_FORMATS = {JSONL: _dump_jsonl, MARKDOWN: _dump_markdown}


def _iter_blocks(record: Record, level: int, *, is_below_epic: bool) -> Iterator[str]:
    yield f"{'#' * level} {_escape(record.get('title') or '')} ({_escape(record['id'])})"
    reason = record.get("close_reason") if record["status"] == CLOSED else None
    facts = [
        f"Status: {_escape(record['status'])}{f' ({_escape(reason)})' if reason else ''}",
        f"Priority: {_escape(record.get('priority', DEFAULT_PRIORITY))}",
    ]
    if record.get("parent") and not is_below_epic:
        facts.append(f"Part of: {_escape(record['parent'])}")
    if needs := record.get("depends_on"):
        facts.append(f"Depends on: {', '.join(map(_escape, needs))}")
    yield "\n".join(f"- {fact}" for fact in facts)
    if description := _clean(str(record.get("description") or "")).strip("\n"):
        longest = max(map(len, re.findall("`+", description)), default=0)
        fence = "`" * max(3, longest + 1)
        yield f"{fence}text\n{description}\n{fence}"
    if criteria := record.get("acceptance_criteria"):
        is_done = record["status"] == CLOSED and reason not in UNDONE_REASONS
        yield "Acceptance criteria:"
        yield "\n".join(f"- [{'x' if is_done else ' '}] {_escape(item)}" for item in criteria)


def _escape(value: object) -> str:
    """Return a text as one line of Markdown in which nothing has a meaning."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(_clean(str(value)).split()))


def _clean(text: str) -> str:
    """Return a text with line feeds alone as line endings, and without invisible characters."""
    lines = text.expandtabs(4).splitlines()
    return "\n".join("".join(c if c.isprintable() else "\ufffd" for c in line) for line in lines)


def _split_numbers(task_id: str) -> list[tuple[int, str]]:
    """Return what ids are sorted by, so that 2 comes before 10."""
    parts = re.findall(r"[0-9]+|[^0-9]+", task_id)
    return [(len(part.lstrip("0")) if part.isdecimal() else -1, part) for part in parts]
