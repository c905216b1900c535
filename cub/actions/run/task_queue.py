"""Which task a run takes next: ready, wanted, and claimed in one step, so that nobody else does.

What a task and the ledger are told at the end of an attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import NamedTuple

from cub.actions.run.command_trust import ApprovedChecks
from cub.actions.run.cub_folder_backup import CubFolderBackup
from cub.actions.run.retry_policy import Disposition
from cub.actions.run.run_context import RunContext
from cub.actions.run.run_options import RunOptions
from cub.actions.run.verdict import NO_CHANGE
from cub.actions.tasks.stores import Stores, TaskTransaction
from cub.actions.tasks.task_queries import list_descendants
from cub.actions.tasks.transitions import close_task, reset_task
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.store.dependencies import find_ready_tasks, list_blockers
from cub.store.events import Event
from cub.store.leases import make_lease
from cub.store.record_merge import update_record
from cub.store.task_index import TaskIndex, TaskSummary
from cub.store.task_schema import CLOSED, IN_PROGRESS, PARKED

MakeStartEvent = Callable[[str], Event]


class ClaimedTask(NamedTuple):
    """A task that is the run's now, the tasks as they are, and how many are ready beside it."""

    task: str
    tasks: TaskIndex
    ready_count: int
    warnings: list[PlanWarning]


class TaskQueue(NamedTuple):
    """The tasks that a run may take, the first one first."""

    summaries: list[TaskSummary]
    tasks: TaskIndex


def list_runnable_tasks(
    tasks: TaskIndex,
    stores: Stores,
    options: RunOptions,
    approved_checks: ApprovedChecks | None = None,
) -> TaskQueue:
    """What is ready and wanted, by the command line's words, and brings along nothing that this
    person has not `approved_checks` to.
    """
    rows = find_ready_tasks(tasks, stores.lease_checker.is_expired).summaries
    wanted = _filter_by_options(rows, tasks, options)
    return TaskQueue(
        [row for row in wanted if approved_checks is None or approved_checks.allows(tasks, row.id)],
        tasks,
    )


def list_parked_tasks(tasks: TaskIndex, options: RunOptions) -> list[TaskSummary]:
    """The tasks that only a person frees, of those that are wanted."""
    rows = [row for row in tasks if row.status == PARKED and not row.is_epic]
    return list(_filter_by_options(rows, tasks, options))


def claim_next_task(
    stores: Stores,
    options: RunOptions,
    run: str,
    harness_name: str,
    duration: timedelta,
    begin: MakeStartEvent,
    approved_checks: ApprovedChecks | None,
) -> ClaimedTask | None:
    """Claim the first task that is ready, and note the attempt that `begin` describes; None where
    there is none. When this returns, both are on disk.
    """
    with stores.transaction() as work:
        rows = list_runnable_tasks(work.tasks, stores, options, approved_checks).summaries
        if rows:
            _write_claim(work, rows[0].id, run, harness_name, duration)
            work.result.events.append(begin(rows[0].id))
    if not rows:
        return None
    return ClaimedTask(rows[0].id, work.tasks, len(rows) - 1, work.result.warnings)


def require_startable(tasks: TaskIndex, stores: Stores, options: RunOptions) -> None:
    """CubError, with the reason, if the task that the command line names can't be begun; and for
    the name of an epic or a task that there is not.
    """
    if options.epic:
        tasks.find_id(options.epic)
    if not options.task:
        return
    row = tasks[tasks.find_id(options.task)]
    if row.is_epic:
        raise CubError(f"{row.id} is an epic", hint=f"`--epic {row.id}` works on its tasks")
    if row.is_closed:
        hint = f"`cub task reopen {row.id}` comes first"
        raise CubError(f"{row.id} is closed ({row.reason or 'done'})", hint=hint)
    if waits := list_blockers(row, tasks):
        raise CubError(f"{row.id} waits for {', '.join(waits)}", hint="they have to be done first")
    if not list_runnable_tasks(tasks, stores, options).summaries:
        owner = tasks.read_record(row.id).get("assignee")
        by = f" by {owner}" if owner and row.status == IN_PROGRESS else ""
        hint = f"`cub task reopen {row.id}` gives it back to everybody"
        raise CubError(f"{row.id} is {row.status}{by}", hint=hint)


def _filter_by_options(
    summaries: list[TaskSummary], tasks: TaskIndex, options: RunOptions
) -> Iterator[TaskSummary]:
    if options.task:
        key = tasks.find_id(options.task)
        summaries = [row for row in summaries if row.id == key]
    if options.epic:
        inside = {row.id for row in list_descendants(tasks.find_id(options.epic), tasks)}
        summaries = [row for row in summaries if row.id in inside]
    for row in summaries:
        if not options.label or options.label in (tasks.read_record(row.id).get("labels") or ()):
            yield row


def _write_claim(
    transaction: TaskTransaction, key: str, run: str, harness_name: str, duration: timedelta
) -> None:
    hold = make_lease(transaction.timestamp, run=run, duration=duration)
    transaction.update_task(key, {"status": IN_PROGRESS, "assignee": harness_name, "lease": hold})


class TaskUpdate(NamedTuple):
    """What the task's status is now, and what there is to tell a person."""

    disposition: Disposition
    messages: list[str]


def record_outcome(
    context: RunContext,
    task_id: str,
    ended: Disposition,
    event: Event,
    backup: CubFolderBackup,
    *,
    no_change: bool,
) -> TaskUpdate:
    """Give the task its status, and the ledger the attempt."""
    with context.current_stores.transaction() as work:
        said = backup.restore_tasks(work.store, task_id, context.timestamp)
        others = not backup.is_still_claimed(task_id, context.initial_stores.actor)
        said += [] if others else _restore_deleted(work, task_id)
        if task_id in work.tasks:
            said += _restore_checks(context, work, task_id)
            _set_status(work, task_id, ended, no_change=no_change, others=others)
            if (status := work.tasks[task_id].status) != ended.status:
                ended = Disposition(status)  # what somebody else did meanwhile stands
        work.result.events.append(event)
    said += [*work.result.messages, *(warning.message for warning in work.result.warnings)]
    return TaskUpdate(ended, said)


def _set_status(
    transaction: TaskTransaction, key: str, ended: Disposition, *, no_change: bool, others: bool
) -> None:
    """The status; what a person did meanwhile stands, but that a task is done."""
    if ended.status != CLOSED:
        if not others:
            reset_task(transaction, key, ended.status, ended.reason)
    elif not (others and transaction.tasks[key].is_closed):
        close_task(transaction, key, NO_CHANGE if no_change else "done")


def _restore_deleted(transaction: TaskTransaction, task_id: str) -> list[str]:
    """Bring a task back that its agent marked as deleted by hand."""
    if task_id not in transaction.tasks.deleted_summaries:
        return []
    transaction.store.put_record(
        update_record(
            transaction.tasks.read_record(task_id), {"deleted_at": None}, transaction.timestamp
        )
    )
    return [f"the task {task_id} was deleted by hand, and is back"]


def _restore_checks(context: RunContext, transaction: TaskTransaction, task_id: str) -> list[str]:
    """Give a task the checks again that it had when the run began, if it has lost one."""
    record = transaction.tasks.read_record(task_id)
    lost = context.approved_checks.find_removed_checks(record)
    if not lost:
        return []
    transaction.store.put_record(
        update_record(record, {"checks": list(lost)}, transaction.timestamp)
    )
    return [f"the checks of {task_id} were changed, and are back"]
