"""Tasks of other tools taken in, and given back: new ones are added, known ones brought up to
what has changed at their source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from cub.actions.tasks.stores import Stores, TaskResult, make_state_event, warn_unreadable_tasks
from cub.actions.tasks.task_findings import (
    find_missing_parents,
    find_unreachable_tasks,
    to_warnings,
)
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.store.dependencies import find_ready_tasks
from cub.store.formats import ImportedTasks, dump_tasks
from cub.store.formats.source_fields import get_source_digest
from cub.store.jsonl import Record
from cub.store.record_merge import update_record
from cub.store.task_index import TaskIndex
from cub.store.task_schema import CLOSED, OPEN, PARKED, RETRY
from cub.store.timestamps import normalize_timestamp

# What a store keeps for itself, and what a change sets anew.
_OURS = {"id", "rev", "stamps", "lease", "created_at", "updated_at", "reopened_at"}
_STATUS = ("status", "close_reason", "closed_at")
# One value, which the source has no more if it does not say it.
_SINGLE = ("parent", "assignee")
_MOST = 10


class ImportResult(NamedTuple):
    """What an import did, or would do: tasks that are new, that changed, and how many did not."""

    format: str
    added: list[Record]
    changed: list[Record]
    unchanged: int
    task_result: TaskResult


class ExportResult(NamedTuple):
    """Tasks as a file: its bytes, how many tasks are in it, and warnings."""

    data: bytes
    total: int
    warnings: list[PlanWarning]


def import_tasks(
    stores: Stores, imported: ImportedTasks, where: str, *, dry_run: bool = False
) -> ImportResult:
    """Take in the tasks of a file, all in one change; CubError if a part of it can't be read."""
    _require_whole(imported, where)
    if dry_run:
        tasks = stores.backend.read_tasks()
        taken = _merge_imported(
            stores, tasks, imported, TaskResult(warnings=warn_unreadable_tasks(tasks))
        )
        for record in (*taken.added, *taken.changed):
            tasks.put_record(record)
        return _add_warnings(stores, tasks, imported, taken)
    with stores.transaction() as work:
        taken = _merge_imported(stores, work.tasks, imported, work.result)
        for record in (*taken.added, *taken.changed):
            work.store.put_record(record)
        _add_warnings(stores, work.tasks, imported, taken)
    return taken


def export_tasks(stores: Stores, format: str) -> ExportResult:  # noqa: A002
    """All tasks as a file of a format."""
    tasks = stores.backend.read_tasks()
    records = [tasks.read_record(key) for key in tasks.summaries]
    return ExportResult(dump_tasks(records, format), len(records), warn_unreadable_tasks(tasks))


def _require_whole(imported: ImportedTasks, where: str) -> None:
    """Half of a file is not what was asked for."""
    if not imported.rejected_lines:
        return
    first, *more = imported.rejected_lines
    details = [f"{where}:{other.line.number}: {other.reason}" for other in more[:_MOST]]
    details += [f"and {len(more) - _MOST:,} more"] if len(more) > _MOST else []
    raise CubError(
        first.reason,
        where=f"{where}:{first.line.number}",
        hint="mend the line or take it out, and import again; nothing was imported",
        details=details,
    )


def _merge_imported(
    stores: Stores, tasks: TaskIndex, imported: ImportedTasks, outcome: TaskResult
) -> ImportResult:
    taken = ImportResult(imported.format, [], [], 0, outcome)
    unchanged = 0
    for record in imported.records:
        key = record["id"]
        if key in tasks.deleted_summaries:
            outcome.messages.append(f"{key} stays deleted.")
            continue
        if key not in tasks:
            taken.added.append(record)
            continue
        before = tasks.read_record(key)
        after = update_record(
            before, _list_changes(before, record, imported.format, outcome), stores.timestamp
        )
        unchanged += after is before
        if after is not before:
            taken.changed.append(after)
        if after["status"] != before["status"]:
            outcome.events.append(make_state_event(after, stores.actor, "import"))
    outcome.tasks += [*taken.added, *taken.changed]
    return taken._replace(unchanged=unchanged)


def _list_changes(before: Record, record: Record, name: str, outcome: TaskResult) -> dict[str, Any]:
    """What is to change of a task: nothing where its source says what it said the last time, or
    is older.
    """
    last_digest = get_source_digest(before, name)
    if last_digest and last_digest == get_source_digest(record, name):
        return {}
    if not last_digest and _older(record, before):
        return {}
    values = {key: value for key, value in record.items() if key not in _OURS}
    if last_digest:
        values |= {key: None for key in _SINGLE if key not in record and key in before}
    if record["status"] == CLOSED:
        return {**values, "lease": None}
    kept = _list_local_fields(before, record)
    if kept and before["status"] in (CLOSED, PARKED) and record["status"] != before["status"]:
        there = f"in the file it is {record['status']}"
        outcome.messages.append(f"{record['id']} stays {before['status']}; {there}.")
    return {key: value for key, value in values.items() if key not in kept}


def _list_local_fields(before: Record, record: Record) -> tuple[str, ...]:
    """What stays as it is here, of a task that is not closed at its source: nothing opens what
    was closed or set aside, or frees what somebody here works on.
    """
    if "lease" in before:
        return (*_STATUS, "assignee")
    stays = (CLOSED,) if record["status"] != OPEN else (CLOSED, PARKED, RETRY)
    return _STATUS if before["status"] in stays else ()


def _older(record: Record, before: Record) -> bool:
    """Whether a task has not changed, where it comes from, since it changed here."""
    there, here = (normalize_timestamp(one.get("updated_at")) for one in (record, before))
    return bool(there and here) and there <= here


def _add_warnings(
    stores: Stores, tasks: TaskIndex, imported: ImportedTasks, taken: ImportResult
) -> ImportResult:
    """Of the imported tasks, those that can never begin; and those that got another id."""
    keys = {record["id"] for record in imported.records}
    wrong = [
        *find_unreachable_tasks(
            find_ready_tasks(tasks, stores.lease_checker.is_expired), tasks.deleted_summaries
        ),
        *find_missing_parents(tasks),
    ]
    taken.task_result.warnings += to_warnings(one for one in wrong if one.task in keys)
    taken.task_result.warnings += _warn_renamed(imported.renamed_ids)
    return taken


def _warn_renamed(keys: Sequence[str]) -> Iterator[PlanWarning]:
    for key in keys[:_MOST]:
        yield PlanWarning(f"two tasks have one id: the second one is {key} here")
    if len(keys) > _MOST:
        yield PlanWarning(f"and {len(keys) - _MOST:,} more tasks that had the id of another")
