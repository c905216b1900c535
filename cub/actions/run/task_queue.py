"""Find the tasks that a run can start, and record the outcome of an attempt in the stores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from cub.actions.command_options import RunOptions
from cub.actions.run.command_trust import ApprovedChecks
from cub.actions.run.run_folders import RECORDS_FILE, AttemptFolder
from cub.actions.tasks.attempt_edits import NO_EDITS, AttemptEdits, apply_attempt_edits
from cub.actions.tasks.stores import Stores, TaskTransaction
from cub.actions.tasks.task_queries import find_epic, list_descendants
from cub.actions.tasks.transitions import close_task, reset_task
from cub.errors import CubError
from cub.store.dependencies import find_ready_tasks, is_startable, list_blockers
from cub.store.events import Event
from cub.store.jsonl import Record
from cub.store.task_index import TaskIndex, TaskSummary
from cub.store.task_schema import CLOSED, IN_PROGRESS, NO_CHANGE, PARKED
from cub.text import join_first, list_similar

if TYPE_CHECKING:  # a look at the queue needs nothing of an attempt
    from cub.actions.run.retry_policy import Disposition


def list_runnable_tasks(
    tasks: TaskIndex,
    stores: Stores,
    options: RunOptions,
    approved_checks: ApprovedChecks | None = None,
) -> list[TaskSummary]:
    """Return the ready tasks that `options` include, in their order.

    With `approved_checks`, tasks whose checks the person has not agreed to are left out.
    """
    ready = find_ready_tasks(tasks, stores.lease_checker.is_expired).summaries
    queue = _filter_by_options(ready, tasks, options)
    return [task for task in queue if not approved_checks or approved_checks.allows(tasks, task.id)]


def list_parked_tasks(tasks: TaskIndex, options: RunOptions) -> list[TaskSummary]:
    """Return the parked tasks that `options` include."""
    parked = [task for task in tasks if task.status == PARKED and not task.is_epic]
    return list(_filter_by_options(parked, tasks, options))


def require_startable(tasks: TaskIndex, stores: Stores, options: RunOptions) -> None:
    """Raise CubError if the task that the options name can't be started.

    The same goes for an epic or a task that does not exist.
    """
    if options.epic:
        find_epic(tasks, options.epic)
    if not options.task:
        return
    task = tasks[tasks.find_id(options.task)]
    if task.is_epic:
        raise CubError(f"{task.id} is an epic", hint=f"`--epic {task.id}` works on its tasks")
    if task.is_closed:
        hint = f"run `cub task reopen {task.id}` first"
        raise CubError(f"{task.id} is closed ({task.reason or 'done'})", hint=hint)
    if blockers := list_blockers(task, tasks):
        names = ", ".join(blockers)
        raise CubError(f"{task.id} waits for {names}", hint="they have to be done first")
    if not list_runnable_tasks(tasks, stores, options):
        owner = tasks.read_record(task.id).get("assignee")
        by = f" by {owner}" if owner and task.status == IN_PROGRESS else ""
        hint = f"run `cub task reopen {task.id}` to release it"
        raise CubError(f"{task.id} is {task.status}{by}", hint=hint)


def require_label(tasks: TaskIndex, label: str) -> None:
    """Raise CubError if no task has the label; "" is for no label."""
    if not label:
        return
    labels = {
        str(word) for task in tasks for word in tasks.read_record(task.id).get("labels") or ()
    }
    if label not in labels:
        near = list_similar(label, sorted(labels))
        known = f"did you mean {' or '.join(near)}?" if near else ""
        known = known or (f"choose from {join_first(sorted(labels))}" if labels else "")
        hint = known or f"to add it to a task, run `cub task edit ID --label {label}`"
        raise CubError(f"no task has the label {label!r}", hint=hint)


def list_reachable_tasks(
    tasks: TaskIndex, stores: Stores, options: RunOptions, ready: Iterable[TaskSummary]
) -> set[str]:
    """Return the ids of the `ready` tasks and of those that wait for nothing else."""
    is_expired = stores.lease_checker.is_expired
    reachable = {task.id for task in ready}
    open_tasks = [task for task in tasks if not task.is_closed and not task.is_epic]
    waiting = [task for task in open_tasks if task.id not in reachable]
    waiting = [task for task in waiting if is_startable(task, is_expired)]
    waiting = list(_filter_by_options(waiting, tasks, options))
    missing = {task.id: {*list_blockers(task, tasks)} - reachable for task in waiting}
    return reachable.union(_list_unblocked(missing))


def _list_unblocked(missing: Mapping[str, set[str]]) -> list[str]:
    """Return the ids of tasks that wait only for each other's end, in a possible order.

    `missing` has what each task waits for, and is used up.
    """
    dependents = defaultdict[str, list[str]](list)
    for key, blockers in missing.items():
        for blocker in blockers:
            dependents[blocker].append(key)
    found = [key for key, blockers in missing.items() if not blockers]
    for key in found:  # grows: each task is looked at once, however long the chain is
        for dependent in dependents[key]:
            missing[dependent].discard(key)
            if not missing[dependent]:
                found.append(dependent)
    return found


def _filter_by_options(
    summaries: list[TaskSummary], tasks: TaskIndex, options: RunOptions
) -> Iterator[TaskSummary]:
    if options.task:
        task_id = tasks.find_id(options.task)
        summaries = [task for task in summaries if task.id == task_id]
    if options.added:
        summaries = [task for task in summaries if task.id in options.added]
        summaries.sort(key=lambda task: options.added.index(task.id))
    elif options.epic:
        below = {task.id for task in list_descendants(find_epic(tasks, options.epic), tasks)}
        summaries = [task for task in summaries if task.id in below]
    for task in summaries:
        if not options.label or options.label in (tasks.read_record(task.id).get("labels") or ()):
            yield task


class RecordedOutcome(NamedTuple):
    """Hold what the task's status is now, and messages for a person."""

    disposition: Disposition
    messages: list[str]


def record_outcome(
    stores: Stores,
    event: Event,
    ended: Disposition,
    edits: AttemptEdits = NO_EDITS,
    *,
    no_change: bool,
    files: AttemptFolder | None = None,
) -> RecordedOutcome:
    """Set the task's status and append the event of the attempt's end to the ledger, in one step.

    The attempt's edits of its copy of the tasks are taken over first. `files` get what is about to
    be recorded, so that `withdraw_outcome` can undo it.
    """
    task_id, run = str(event["task"]), str(event["run"])
    before, after = dict[str, Record](), dict[str, Record]()  # the task, and epics closed with it
    with stores.transaction() as transaction:
        messages = apply_attempt_edits(transaction, edits)
        if task_id in transaction.tasks:
            before = _read_with_epics(transaction.tasks, task_id)
            is_claimed = is_claimed_by(transaction.tasks[task_id], run)
            _set_status(transaction, task_id, ended, no_change=no_change, is_claimed=is_claimed)
            after = {key: transaction.tasks.read_record(key) for key in before}
            if (status := transaction.tasks[task_id].status) != ended.status:
                ended = ended._replace(status=status, reason="", question="")  # a person has set it
        result = transaction.result
        result.events.append(event)
        if files:
            saved = {"before": before, "after": after, "events": result.events}
            files.write_state(RECORDS_FILE, saved)
    warnings = (warning.message for warning in result.warnings)
    return RecordedOutcome(ended, [*messages, *result.messages, *warnings])


def withdraw_outcome(stores: Stores, files: AttemptFolder) -> None:
    """Undo what was recorded for a commit that failed; once more is fine.

    A record that somebody has changed since stays.
    """
    if not (saved := files.read_state(RECORDS_FILE)):
        return
    with stores.backend.transaction() as transaction:
        for key, record in saved["before"].items():
            tasks = transaction.tasks
            if key in tasks and tasks.read_record(key) == saved["after"][key]:
                transaction.put_record(record)
    stores.ledger.remove_events(*saved["events"])


def is_claimed_by(task: TaskSummary, run: str) -> bool:
    """Return whether nobody has changed the claim of a run; beads keeps no lease."""
    return task.status == IN_PROGRESS and (task.lease is None or task.lease.get("run") == run)


def _read_with_epics(tasks: TaskIndex, task_id: str) -> dict[str, Record]:
    """Return the records of a task and of all epics that it is in."""
    records, key = dict[str, Record](), task_id
    while key in tasks and key not in records:
        records[key] = tasks.read_record(key)
        key = tasks[key].parent
    return records


def _set_status(
    transaction: TaskTransaction,
    task_id: str,
    ended: Disposition,
    *,
    no_change: bool,
    is_claimed: bool,
) -> None:
    """Set the status, unless a person has; an accepted task is closed in any case."""
    if ended.status != CLOSED:
        if is_claimed:
            reset_task(transaction, task_id, ended.status, ended.reason)
    elif is_claimed or not transaction.tasks[task_id].is_closed:
        close_task(transaction, task_id, NO_CHANGE if no_change else "done")
