"""The statuses that a task goes through: claimed, closed, reopened, parked; epics follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cub.actions.tasks.stores import Stores, TaskResult, TaskTransaction
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.store.dependencies import is_startable, list_blockers
from cub.store.jsonl import Record
from cub.store.leases import make_lease
from cub.store.task_index import TaskIndex, TaskSummary
from cub.store.task_schema import CLOSED, IN_PROGRESS, OPEN, PARKED
from cub.store.timestamps import normalize_timestamp

_UNCLAIMED = {"lease": None, "assignee": None}


def claim_task(stores: Stores, task_id: str) -> TaskResult:
    """Take a task for the one who asks, unless it is somebody else's."""
    with stores.transaction() as work:
        tasks = work.tasks
        row = tasks[tasks.find_id(task_id)]
        before = tasks.read_record(row.id)
        _require_claimable(stores, row, before)
        values = {
            "status": IN_PROGRESS,
            "assignee": stores.actor,
            "lease": make_lease(stores.timestamp),
        }
        work.update_task(row.id, values)
        if waits := list_blockers(row, tasks):
            what = f"{row.id} waits for {', '.join(waits)}"
            work.result.warnings.append(PlanWarning(what))
        if row.status == IN_PROGRESS and before.get("assignee") not in (None, stores.actor):
            work.result.messages.append(f"The lease of {before['assignee']} has lapsed.")
    return work.result


def close_tasks(
    stores: Stores, keys: Sequence[str], reason: str | None, note: str = ""
) -> TaskResult:
    """Close tasks, and every epic whose tasks are all done by that."""
    with stores.transaction() as work:
        for key in _find_all(keys, work.tasks):
            row = work.tasks[key]
            if row.is_closed and reason in (None, row.reason):
                record = work.tasks.read_record(key)
                work.result.add_message(
                    record, f"{key} is closed already ({row.reason or 'done'})."
                )
                continue
            close_task(work, key, reason or "done", note)
            _warn_open_children(work, row)
    return work.result


def reopen_tasks(stores: Stores, keys: Sequence[str]) -> TaskResult:
    """Give tasks back to everybody, whether they are closed, parked, claimed or deleted."""
    with stores.transaction() as work:
        tasks = work.tasks
        for key in dict.fromkeys(tasks.find_deleted_id(key) or tasks.find_id(key) for key in keys):
            if key in tasks and tasks[key].status == OPEN:
                work.result.add_message(tasks.read_record(key), f"{key} is open already.")
                continue
            release_task(work, key)
            record = tasks.read_record(key)
            reopen_parents(work, record)
            _warn_deleted_parent(work, record)
    return work.result


def park_tasks(stores: Stores, keys: Sequence[str], note: str = "") -> TaskResult:
    """Set tasks aside until somebody reopens them; what waits for them waits on."""
    with stores.transaction() as work:
        for key in _find_all(keys, work.tasks):
            row = work.tasks[key]
            if row.is_closed:
                raise CubError(f"{key} is closed", hint=f"`cub task reopen {key}` comes first")
            if row.status == PARKED and not note.strip():
                work.result.add_message(work.tasks.read_record(key), f"{key} is parked already.")
                continue
            reset_task(work, key, PARKED, note)
    return work.result


def reopen_parents(transaction: TaskTransaction, record: Record) -> None:
    """An epic with something to do is not closed."""
    parent = str(record.get("parent") or "")
    while (
        parent in transaction.tasks
        and transaction.tasks[parent].is_epic
        and transaction.tasks[parent].is_closed
    ):
        release_task(transaction, parent, f"The epic {parent} is open again.")
        parent = transaction.tasks[parent].parent


def close_task(transaction: TaskTransaction, task_id: str, reason: str, note: str = "") -> None:
    """Close a task, and every epic whose tasks are all done by that."""
    _close(transaction, task_id, reason, note)
    close_done_parents(transaction, transaction.tasks[task_id].parent)


def _close(
    transaction: TaskTransaction, key: str, reason: str, note: str = "", sentence: str = ""
) -> None:
    at = transaction.next_change_time(key)
    values = {"status": CLOSED, "close_reason": reason, "closed_at": at, "lease": None}
    transaction.update_task(key, values, note, sentence)


def close_done_parents(transaction: TaskTransaction, parent: str) -> None:
    """An epic is done with its last task. If one of them never will be, a person decides."""
    tasks = transaction.tasks
    while parent in tasks and tasks[parent].is_epic and not tasks[parent].is_closed:
        children = tasks.list_children(parent)
        undone = sum(not row.is_done for row in children)
        if not children or not all(row.is_closed for row in children):
            return
        if undone:
            which = "one of them" if undone == 1 else f"{undone} of them"
            transaction.result.messages.append(
                f"All tasks of the epic {parent} are closed, {which} undone: "
                f"`cub task close {parent}` closes it."
            )
            return
        sentence = f"The epic {parent} is closed: all of its tasks are done."
        _close(transaction, parent, "done", sentence=sentence)
        parent = tasks[parent].parent


def release_task(transaction: TaskTransaction, task_id: str, sentence: str = "") -> None:
    """Make a task open and nobody's."""
    reset_task(transaction, task_id, OPEN, sentence=sentence)


def reset_task(
    transaction: TaskTransaction, key: str, status: str, note: str = "", sentence: str = ""
) -> None:
    """Make a task nobody's, with a status that is not closed, whatever it has now; one that was
    deleted is back.
    """
    gone = ("close_reason", "closed_at", "deleted_at")
    values: dict[str, Any] = {"status": status, **dict.fromkeys(gone), **_UNCLAIMED}
    if transaction.tasks.read_record(key).get("status") == CLOSED:
        values["reopened_at"] = transaction.next_change_time(key)
    transaction.update_task(key, values, note, sentence)


def _require_claimable(stores: Stores, summary: TaskSummary, record: Record) -> None:
    if summary.status in (CLOSED, PARKED):
        raise CubError(
            f"{summary.id} is {summary.status}", hint=f"`cub task reopen {summary.id}` comes first"
        )
    known = summary.status == IN_PROGRESS or is_startable(summary, stores.lease_checker.is_expired)
    if not known and record.get("assignee") != stores.actor:
        what = f"{summary.id} has the status {summary.status!r}, which cub does not know"
        raise CubError(what, hint=f"`cub task reopen {summary.id}` makes it open")
    require_not_claimed(stores, summary, record, "take another one of `cub task ready`; ")


def require_not_claimed(
    stores: Stores, summary: TaskSummary, record: Record, hint: str = ""
) -> None:
    """CubError for a task that somebody else works on."""
    owner = record.get("assignee")
    if (
        summary.status != IN_PROGRESS
        or stores.lease_checker.is_expired(summary.lease)
        or owner == stores.actor
    ):
        return
    until = normalize_timestamp((summary.lease or {}).get("expires"))
    raise CubError(
        f"{summary.id} is claimed by {owner or 'somebody'}" + (f" until {until}" if until else ""),
        hint=f"{hint}`cub task reopen {summary.id}` gives it back",
    )


def _warn_deleted_parent(transaction: TaskTransaction, record: Record) -> None:
    key, parent = record["id"], record.get("parent")
    if parent in transaction.tasks.deleted_summaries:
        what = f"{key} is a part of {parent}, which was deleted"
        hint = f"`cub task reopen {parent}` brings it back"
        transaction.result.warnings.append(PlanWarning(what, hint=hint))


def _warn_open_children(transaction: TaskTransaction, summary: TaskSummary) -> None:
    left = [
        child.id for child in transaction.tasks.list_children(summary.id) if not child.is_closed
    ]
    if left:
        few = ", ".join(left[:3]) + (", …" if len(left) > 3 else "")
        transaction.result.warnings.append(
            PlanWarning(f"{summary.id} is closed, and not so below it: {few}")
        )


def _find_all(keys: Sequence[str], tasks: TaskIndex) -> list[str]:
    return list(dict.fromkeys(tasks.find_id(key) for key in keys))
