"""Import tasks of other tools, and export all tasks.

New tasks are added, known ones get what has changed at their source.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cub.actions.tasks.stores import Stores, TaskResult, make_state_event, warn_unreadable_tasks
from cub.actions.tasks.task_findings import find_dependency_problems, to_warnings
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.store.formats.format_registry import dump_tasks
from cub.store.formats.import_memory import forget_import, merge_import, remember_import
from cub.store.formats.source_fields import ImportedTasks
from cub.store.jsonl import Record, decode_record, encode_record
from cub.store.record_merge import update_record
from cub.store.task_index import TaskIndex
from cub.text import join_first

_MAX_LISTED = 10


class ImportConflict(NamedTuple):
    """Hold a task, and its fields that the file and this project have changed differently."""

    task: str
    fields: list[str]


class ImportResult(NamedTuple):
    """Hold what an import did, or would do: new and changed tasks, and how many did not change.

    The fields of `conflicts` stay as they are in this project.
    """

    format: str
    added: list[Record]
    changed: list[Record]
    unchanged: int
    conflicts: list[ImportConflict]
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
        return _merge_imported(stores, tasks, imported, task_result, tasks.put_record)
    with stores.transaction() as transaction:
        tasks, put_record = transaction.tasks, transaction.store.put_record
        return _merge_imported(stores, tasks, imported, transaction.result, put_record)


def export_tasks(stores: Stores, format: str) -> ExportResult:  # noqa: A002
    """Return all tasks as a file of a format, without what this project knows of imports."""
    tasks = stores.backend.read_tasks()
    records = [forget_import(tasks.read_record(key)) for key in tasks.summaries]
    return ExportResult(dump_tasks(records, format), len(records), warn_unreadable_tasks(tasks))


def _require_whole(imported: ImportedTasks, where: str) -> None:
    """Raise CubError if a part can't be stored: half of a file is not what was asked for."""
    for record in imported.records:
        try:
            decode_record(encode_record(record))
        except (ValueError, RecursionError):
            hint = "nothing was imported; shorten its fields, then import the file again"
            raise CubError(f"{record['id']} is nested too deep", where=where, hint=hint) from None
    if not imported.rejected_lines:
        return
    first, *more = imported.rejected_lines
    details = [f"{where}:{other.line.number}: {other.reason}" for other in more[:_MAX_LISTED]]
    details += [f"and {len(more) - _MAX_LISTED:,} more"] if len(more) > _MAX_LISTED else []
    hint = "nothing was imported; fix or delete the line, then import the file again"
    place = f"{where}:{first.line.number}"
    raise CubError(first.reason, where=place, hint=hint, details=details)


def _merge_imported(
    stores: Stores,
    tasks: TaskIndex,
    imported: ImportedTasks,
    task_result: TaskResult,
    put_record: Callable[[Record], None],
) -> ImportResult:
    result = ImportResult(imported.format, [], [], 0, [], task_result)
    unchanged = 0
    for raw in imported.records:
        key, record = raw["id"], remember_import(raw, imported.format)
        if key in tasks.deleted_summaries:
            task_result.messages.append(f"{key} stays deleted.")
            continue
        if key not in tasks:
            put_record(record)
            result.added.append(record)
            continue
        before = tasks.read_record(key)
        merge = merge_import(before, record, imported.format)
        after = update_record(before, merge.values, stores.timestamp)
        put_record(after)
        if merge.conflicts:
            result.conflicts.append(ImportConflict(key, merge.conflicts))
            task_result.messages += _describe_conflicts(before, record, merge.conflicts)
        unchanged += not merge.is_visible
        result.changed.extend([after] if merge.is_visible else [])
        if after["status"] != before["status"]:
            task_result.events.append(make_state_event(after, stores.actor, "import"))
    task_result.tasks += [*result.added, *result.changed]
    task_result.warnings += _list_warnings(stores, tasks, imported)
    return result._replace(unchanged=unchanged)


def _describe_conflicts(before: Record, record: Record, fields: list[str]) -> list[str]:
    """Return what stays as it is in this project although the file has changed it."""
    key, lines = before["id"], list[str]()
    if "status" in fields:
        where = f"the file says {record['status']}"
        lines.append(f"{key} stays {before['status']}; {where}.")
    if others := [field for field in fields if field != "status"]:
        what = f"{key} keeps {join_first(others, len(others))}"
        lines.append(f"{what} as changed here; the file has changed it differently.")
    return lines


def _list_warnings(stores: Stores, tasks: TaskIndex, imported: ImportedTasks) -> list[PlanWarning]:
    """Warn of imported tasks that can never start, and of IDs that the file has twice."""
    ids = {record["id"] for record in imported.records}
    findings = find_dependency_problems(tasks, stores.lease_checker)
    warnings = to_warnings(finding for finding in findings if finding.task in ids)
    more = len(imported.warnings) - _MAX_LISTED
    doubled = [*imported.warnings[:_MAX_LISTED]]
    doubled += [f"and {more:,} more IDs that the file has twice"] if more > 0 else []
    return [*warnings, *map(PlanWarning, doubled)]
