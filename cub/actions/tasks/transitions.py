"""Claim, close, reopen and park tasks; their epics follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cub.actions.tasks.stores import Stores, TaskResult, TaskTransaction
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.store.dependencies import is_startable, list_blockers
from cub.store.jsonl import Record
from cub.store.leases import make_lease
from cub.store.task_index import TaskSummary
from cub.store.task_schema import CLOSED, IN_PROGRESS, OPEN, PARKED
from cub.store.timestamps import normalize_timestamp

_UNCLAIMED = {"lease": None, "assignee": None}


def claim_task(stores: Stores, task_id: str) -> TaskResult:
    """Claim a task for the caller; CubError if it is somebody else's."""
    with stores.transaction() as transaction:
        tasks = transaction.tasks
        task = tasks[tasks.find_id(task_id)]
        before = tasks.read_record(task.id)
        _require_claimable(stores, task, before)
        lease = make_lease(stores.timestamp)
        values = {"status": IN_PROGRESS, "assignee": stores.actor, "lease": lease}
        transaction.update_task(task.id, values)
        if waits := list_blockers(task, tasks):
            what = f"{task.id} waits for {', '.join(waits)}"
            transaction.result.warnings.append(PlanWarning(what))
        if task.status == IN_PROGRESS and before.get("assignee") not in (None, stores.actor):
            transaction.result.messages.append(f"The claim of {before['assignee']} had expired.")
    return transaction.result


def close_tasks(
    stores: Stores, keys: Sequence[str], reason: str | None, note: str = ""
) -> TaskResult:
    """Close tasks, and every epic that has all its tasks done by that."""
    with stores.transaction() as transaction:
        for key in dict.fromkeys(map(transaction.tasks.find_id, keys)):
            task = transaction.tasks[key]
            if task.is_closed and reason in (None, task.reason):
                record = transaction.tasks.read_record(key)
                sentence = f"{key} is already closed ({task.reason or 'done'})."
                transaction.result.add_message(record, sentence)
                continue
            close_task(transaction, key, reason or "done", note)
            _warn_open_children(transaction, task)
    return transaction.result


def reopen_tasks(stores: Stores, keys: Sequence[str]) -> TaskResult:
    """Release tasks, whether they are closed, parked, claimed or deleted."""
    with stores.transaction() as transaction:
        tasks = transaction.tasks
        for key in dict.fromkeys(tasks.find_deleted_id(key) or tasks.find_id(key) for key in keys):
            if key in tasks and tasks[key].status == OPEN:
                transaction.result.add_message(tasks.read_record(key), f"{key} is already open.")
                continue
            release_task(transaction, key)
            record = tasks.read_record(key)
            reopen_parents(transaction, record)
            _warn_deleted_parent(transaction, record)
    return transaction.result


def park_tasks(stores: Stores, keys: Sequence[str], note: str = "") -> TaskResult:
    """Park tasks until somebody reopens them; what waits for them still waits."""
    with stores.transaction() as transaction:
        for key in dict.fromkeys(map(transaction.tasks.find_id, keys)):
            task = transaction.tasks[key]
            if task.is_closed:
                raise CubError(f"{key} is closed", hint=f"run `cub task reopen {key}` first")
            if task.status == PARKED and not note.strip():
                record = transaction.tasks.read_record(key)
                transaction.result.add_message(record, f"{key} is already parked.")
                continue
            reset_task(transaction, key, PARKED, note)
    return transaction.result


def reopen_parents(transaction: TaskTransaction, record: Record) -> None:
    """Reopen the closed epics of a task that is not closed."""
    tasks, parent = transaction.tasks, str(record.get("parent") or "")
    while parent in tasks and tasks[parent].is_epic and tasks[parent].is_closed:
        release_task(transaction, parent, f"Reopened the epic {parent}.")
        parent = tasks[parent].parent


def close_task(transaction: TaskTransaction, task_id: str, reason: str, note: str = "") -> None:
    """Close a task, and every epic that has all its tasks done by that."""
    _close_one(transaction, task_id, reason, note)
    close_done_parents(transaction, transaction.tasks[task_id].parent)


def _close_one(
    transaction: TaskTransaction, key: str, reason: str, note: str = "", sentence: str = ""
) -> None:
    at = transaction.next_change_time(key)
    values = {"status": CLOSED, "close_reason": reason, "closed_at": at, "lease": None}
    transaction.update_task(key, values, note, sentence)


def close_done_parents(transaction: TaskTransaction, parent: str) -> None:
    """Close epics with their last task; if one of their tasks was given up, a person decides."""
    tasks = transaction.tasks
    while parent in tasks and tasks[parent].is_epic and not tasks[parent].is_closed:
        children = tasks.list_children(parent)
        undone = sum(not task.is_done for task in children)
        if not children or not all(task.is_closed for task in children):
            return
        if undone:
            which = "one of them" if undone == 1 else f"{undone} of them"
            transaction.result.messages.append(
                f"All tasks of the epic {parent} are closed, {which} not done. "
                f"Run `cub task close {parent}` to close the epic."
            )
            return
        sentence = f"Closed the epic {parent}: all of its tasks are done."
        _close_one(transaction, parent, "done", sentence=sentence)
        parent = tasks[parent].parent


def release_task(transaction: TaskTransaction, task_id: str, sentence: str = "") -> None:
    """Make a task open and unclaimed."""
    reset_task(transaction, task_id, OPEN, sentence=sentence)


def reset_task(
    transaction: TaskTransaction, key: str, status: str, note: str = "", sentence: str = ""
) -> None:
    """Make a task unclaimed, with a status that is not closed; a deleted task is restored."""
    removed = ("close_reason", "closed_at", "deleted_at")
    values: dict[str, Any] = {"status": status, **dict.fromkeys(removed), **_UNCLAIMED}
    if transaction.tasks.read_record(key).get("status") == CLOSED:
        values["reopened_at"] = transaction.next_change_time(key)
    transaction.update_task(key, values, note, sentence)


def _require_claimable(stores: Stores, summary: TaskSummary, record: Record) -> None:
    if summary.status in (CLOSED, PARKED):
        hint = f"run `cub task reopen {summary.id}` first"
        raise CubError(f"{summary.id} is {summary.status}", hint=hint)
    is_expired = stores.lease_checker.is_expired
    is_known = summary.status == IN_PROGRESS or is_startable(summary, is_expired)
    if not is_known and record.get("assignee") != stores.actor:
        what = f"{summary.id} has the unknown status {summary.status!r}"
        raise CubError(what, hint=f"run `cub task reopen {summary.id}` to reopen it")
    require_not_claimed(stores, summary, record, "claim another task of `cub task ready`; or ")


def require_not_claimed(
    stores: Stores, summary: TaskSummary, record: Record, hint: str = ""
) -> None:
    """Raise CubError for a task that somebody else works on."""
    owner = record.get("assignee")
    if summary.status != IN_PROGRESS or owner == stores.actor:
        return
    if stores.lease_checker.is_expired(summary.lease):
        return
    until = normalize_timestamp((summary.lease or {}).get("expires"))
    raise CubError(
        f"{summary.id} is claimed by {owner or 'another process'}"
        + (f" until {until}" if until else ""),
        hint=f"{hint}run `cub task reopen {summary.id}` to release it",
    )


def _warn_deleted_parent(transaction: TaskTransaction, record: Record) -> None:
    key, parent = record["id"], record.get("parent")
    if parent in transaction.tasks.deleted_summaries:
        what = f"{key} is part of {parent}, which was deleted"
        hint = f"run `cub task reopen {parent}` to restore it"
        transaction.result.warnings.append(PlanWarning(what, hint=hint))


def _warn_open_children(transaction: TaskTransaction, summary: TaskSummary) -> None:
    children = transaction.tasks.list_children(summary.id)
    if open_ids := [child.id for child in children if not child.is_closed]:
        few = ", ".join(open_ids[:3]) + (", …" if len(open_ids) > 3 else "")
        what = f"{summary.id} is closed, but has open subtasks: {few}"
        transaction.result.warnings.append(PlanWarning(what))
