"""Import tasks of other tools, and export all tasks.

New tasks are added, known ones get what has changed at their source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from cub.actions.tasks.stores import Stores, TaskResult, make_state_event, warn_unreadable_tasks
from cub.actions.tasks.task_findings import find_dependency_problems, to_warnings
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.store.formats import ImportedTasks, dump_tasks
from cub.store.formats.source_fields import get_source_digest
from cub.store.jsonl import Record
from cub.store.record_merge import update_record
from cub.store.task_index import TaskIndex
from cub.store.task_schema import CLOSED, OPEN, PARKED, RETRY
from cub.store.timestamps import normalize_timestamp

# Fields that the store keeps, or that every change sets.
_STORE_FIELDS = {"id", "rev", "stamps", "lease", "created_at", "updated_at", "reopened_at"}
_STATUS_FIELDS = ("status", "close_reason", "closed_at")
# Fields of one value, which a source without them has removed.
_SINGLE = ("parent", "assignee")
_MAX_LISTED = 10


class ImportResult(NamedTuple):
    """Hold what an import did, or would do: new and changed tasks, and how many did not change."""

    format: str
    added: list[Record]
    changed: list[Record]
    unchanged: int
    task_result: TaskResult


class ExportResult(NamedTuple):
    """Hold a file of tasks, how many are in it, and warnings."""

    data: bytes
    total: int
    warnings: list[PlanWarning]


def import_tasks(
    stores: Stores, imported: ImportedTasks, where: str, *, dry_run: bool = False
) -> ImportResult:
    """Import the tasks of a file in one change; CubError if a part of it can't be read."""
    _require_whole(imported, where)
    if dry_run:
        tasks = stores.backend.read_tasks()
        task_result = TaskResult(warnings=warn_unreadable_tasks(tasks))
        result = _merge_imported(stores, tasks, imported, task_result)
        for record in (*result.added, *result.changed):
            tasks.put_record(record)
        return _add_warnings(stores, tasks, imported, result)
    with stores.transaction() as transaction:
        result = _merge_imported(stores, transaction.tasks, imported, transaction.result)
        for record in (*result.added, *result.changed):
            transaction.store.put_record(record)
        _add_warnings(stores, transaction.tasks, imported, result)
    return result


def export_tasks(stores: Stores, format: str) -> ExportResult:  # noqa: A002
    """Return all tasks as a file of a format."""
    tasks = stores.backend.read_tasks()
    records = [tasks.read_record(key) for key in tasks.summaries]
    return ExportResult(dump_tasks(records, format), len(records), warn_unreadable_tasks(tasks))


def _require_whole(imported: ImportedTasks, where: str) -> None:
    """Raise CubError if a line was rejected: half of a file is not what was asked for."""
    if not imported.rejected_lines:
        return
    first, *more = imported.rejected_lines
    details = [f"{where}:{other.line.number}: {other.reason}" for other in more[:_MAX_LISTED]]
    details += [f"and {len(more) - _MAX_LISTED:,} more"] if len(more) > _MAX_LISTED else []
    hint = "nothing was imported; fix or delete the line, then import the file again"
    place = f"{where}:{first.line.number}"
    raise CubError(first.reason, where=place, hint=hint, details=details)


def _merge_imported(
    stores: Stores, tasks: TaskIndex, imported: ImportedTasks, task_result: TaskResult
) -> ImportResult:
    result = ImportResult(imported.format, [], [], 0, task_result)
    unchanged = 0
    for record in imported.records:
        key = record["id"]
        if key in tasks.deleted_summaries:
            task_result.messages.append(f"{key} stays deleted.")
            continue
        if key not in tasks:
            result.added.append(record)
            continue
        before = tasks.read_record(key)
        changes = _list_changes(before, record, imported.format, task_result)
        after = update_record(before, changes, stores.timestamp)
        unchanged += after is before
        if after is not before:
            result.changed.append(after)
        if after["status"] != before["status"]:
            task_result.events.append(make_state_event(after, stores.actor, "import"))
    task_result.tasks += [*result.added, *result.changed]
    return result._replace(unchanged=unchanged)


def _list_changes(before: Record, record: Record, name: str, result: TaskResult) -> dict[str, Any]:
    """Return the fields to change: none if the source did not change since the last import."""
    last_digest = get_source_digest(before, name)
    if last_digest and last_digest == get_source_digest(record, name):
        return {}
    if not last_digest and _is_older(record, before):
        return {}
    values = {key: value for key, value in record.items() if key not in _STORE_FIELDS}
    if last_digest:
        values |= {key: None for key in _SINGLE if key not in record and key in before}
    if record["status"] == CLOSED:
        return {**values, "lease": None}
    local_fields = _list_local_fields(before, record)
    status = before["status"]
    if local_fields and status in (CLOSED, PARKED) and record["status"] != status:
        where = f"the file says {record['status']}"
        result.messages.append(f"{record['id']} stays {status}; {where}.")
    return {key: value for key, value in values.items() if key not in local_fields}


def _list_local_fields(before: Record, record: Record) -> tuple[str, ...]:
    """Return the fields that stay as they are here, of a task that is open at its source.

    An import reopens nothing, and takes no claimed task away.
    """
    if "lease" in before:
        return (*_STATUS_FIELDS, "assignee")
    final = (CLOSED,) if record["status"] != OPEN else (CLOSED, PARKED, RETRY)
    return _STATUS_FIELDS if before["status"] in final else ()


def _is_older(record: Record, before: Record) -> bool:
    """Return whether a task changed here after it last changed at its source."""
    source_time = normalize_timestamp(record.get("updated_at"))
    own_time = normalize_timestamp(before.get("updated_at"))
    return bool(source_time and own_time) and source_time <= own_time


def _add_warnings(
    stores: Stores, tasks: TaskIndex, imported: ImportedTasks, result: ImportResult
) -> ImportResult:
    """Warn of imported tasks that can never start, and of those that got another id."""
    ids = {record["id"] for record in imported.records}
    findings = find_dependency_problems(tasks, stores.lease_checker)
    warnings = to_warnings(finding for finding in findings if finding.task in ids)
    result.task_result.warnings += warnings
    result.task_result.warnings += _warn_renamed(imported.renamed_ids)
    return result


def _warn_renamed(keys: Sequence[str]) -> Iterator[PlanWarning]:
    for key in keys[:_MAX_LISTED]:
        yield PlanWarning(f"two tasks have the same ID: the second one is now {key}")
    if len(keys) > _MAX_LISTED:
        yield PlanWarning(
            f"and {len(keys) - _MAX_LISTED:,} more tasks with an ID that another task has"
        )
