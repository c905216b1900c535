"""Recover from killed runs: finish their attempts, keep the changes, and free the tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from cub import git
from cub.actions.run import run_folders
from cub.actions.run.agent_process import RUN_MARK_VARIABLE
from cub.actions.run.attempt_recovery import (
    InterruptedAttempt,
    find_attempt_workspace,
    load_snapshot,
    repair_attempt_repository,
    wait_for_agent_end,
)
from cub.actions.run.attempt_state import save_records
from cub.actions.run.failures import INTERRUPTED
from cub.actions.run.git_workspace import remove_run_worktree
from cub.actions.run.retry_policy import Disposition, read_attempt_history
from cub.actions.run.run_context import Clock
from cub.actions.run.run_folders import AttemptFolder, RunFolder, lock_if_dead
from cub.actions.run.task_queue import (
    RecordedOutcome,
    is_claimed_by,
    read_with_epics,
    withdraw_outcome,
)
from cub.actions.tasks.stores import Stores
from cub.actions.tasks.transitions import close_task, reset_task
from cub.errors import CubError
from cub.processes.orphans import kill_by_environment
from cub.store.events import ATTEMPT_END, ATTEMPT_START, Event
from cub.store.leases import make_lease_checker
from cub.store.task_index import TaskSummary
from cub.store.task_schema import CLOSED, IN_PROGRESS, NO_CHANGE, OPEN, RETRY
from cub.store.timestamps import format_timestamp


@dataclass(slots=True)
class RecoveryReport:
    """Hold events of killed runs, and the attempts that can't be finished yet.

    `unfinished` has the folder that each of these worked in, and why.
    """

    events: list[Event] = field(default_factory=list)
    unfinished: list[tuple[Path, CubError]] = field(default_factory=list)

    def require_finished(self, folder: Path) -> None:
        """Raise CubError if an attempt that worked in `folder` can't be finished yet."""
        for worked_in, error in self.unfinished:
            if worked_in == folder:
                raise error


def recover_killed_runs(stores: Stores, environ: Mapping[str, str], clock: Clock) -> RecoveryReport:
    """Finish what killed runs left. What can't be finished stays for the next time."""
    report = RecoveryReport()
    stores = replace(stores, lease_checker=make_lease_checker(format_timestamp(clock.now())))
    for folder in RunFolder.list_all(stores.root):
        if folder.read_state().get("ended", True):  # also if cub has not signed it
            continue
        with lock_if_dead(folder) as dead:
            if dead and not folder.read_state().get("ended"):
                _finish_run(report, stores, folder, environ)
    report.events += _free_dead_claims(stores)
    return report


def _finish_run(
    report: RecoveryReport, stores: Stores, folder: RunFolder, environ: Mapping[str, str]
) -> None:
    has_killed = kill_by_environment((RUN_MARK_VARIABLE, folder.id))
    workspace_folder = Path(str(folder.read_state().get("folder", "")))
    count = len(report.unfinished)
    for files in folder.iter_attempt_folders():
        if files.read_state(run_folders.RESULT_FILE):
            continue
        if has_killed:
            wait_for_agent_end(files)
        try:
            report.events += _finish_attempt(stores, folder, files, environ)
        except CubError as error:
            report.unfinished.append((workspace_folder, _explain_unfinished(error, files)))
    if len(report.unfinished) > count:
        return
    is_linked = stores.root / ".cub" / "worktrees" in workspace_folder.parents
    if is_linked and (toplevel := git.find_toplevel(workspace_folder)):
        remove_run_worktree(stores.root, toplevel)
    folder.mark_ended(killed=True)


def _explain_unfinished(error: CubError, files: AttemptFolder) -> CubError:
    what = f"an attempt of a killed run can't be concluded yet: {error.message}"
    hint = f"the next `cub run` tries again; to leave its files as they are, remove {files.state}"
    return CubError(what, where=error.where or files.name, hint=hint, details=list(error.details))


def _finish_attempt(
    stores: Stores, folder: RunFolder, files: AttemptFolder, environ: Mapping[str, str]
) -> list[Event]:
    """Carry out what was decided; restore the files if nothing was.

    Raises CubError if that fails; nothing is marked as finished then.
    """
    start = files.read_state(run_folders.START_FILE)
    decision = files.read_state(run_folders.DECISION_FILE)
    messages = repair_attempt_repository(start, folder, files)
    workspace = find_attempt_workspace(stores, start, folder, environ)
    before = load_snapshot(start.get("before"))
    is_done = bool(decision.get("ok")) and not decision.get("message")
    if workspace and before:
        attempt = InterruptedAttempt(workspace, before, files, folder, decision)
        event = dict(decision.get("event") or {})
        no_change = bool(decision.get("no_change"))
        record = partial(_record_before_commit, stores, files, event, no_change=no_change)
        is_done, more = attempt.finish(record)
        messages += more
    status = RETRY if start.get("charged") else OPEN
    event = _make_event(stores, ATTEMPT_END, folder.id) | dict(decision.get("event") or {})
    if is_done:
        status = CLOSED
    elif decision.get("ok") is False:
        status = str(decision.get("status", status))
    else:
        event = _make_interrupted_event(stores, folder, files, start)
    result, task = _save_result(stores, files, event, status, decision), start.get("task")
    notices = (_make_event(stores, "notice", folder.id, task=task, text=text) for text in messages)
    return [result, *notices]


def _save_result(
    stores: Stores, files: AttemptFolder, event: Event, status: str, decision: dict[str, Any]
) -> Event:
    why, task = str(decision.get("why", "")), str(event.get("task"))
    no_change = bool(decision.get("no_change"))
    if status != CLOSED:
        withdraw_outcome(stores, files.read_state(run_folders.RECORDS_FILE))
    _record_status(stores, task, status, event, why, no_change=no_change)
    result = {"event": event, "status": status, "why": why}
    files.write_state(run_folders.RESULT_FILE, result)
    with suppress(OSError, CubError):  # the public folder may be gone
        files.write_public_json(run_folders.RESULT_FILE, result)
    what = "was done, and is closed now" if status == CLOSED else "was interrupted"
    text = f"attempt {event.get('n')} of a killed run {what}"
    facts = {"task": task, "n": event.get("n"), "status": status, "text": text}
    return _make_event(stores, "recovered", str(event.get("run")), **facts)


def _record_before_commit(
    stores: Stores, files: AttemptFolder, event: Event, *, no_change: bool
) -> None:
    """Record an accepted attempt for its commit to contain, as the run would have done."""
    save = partial(save_records, files)
    _record_status(stores, str(event.get("task")), CLOSED, event, no_change=no_change, save=save)


def _record_status(
    stores: Stores,
    task: str,
    status: str,
    event: Event,
    why: str = "",
    *,
    no_change: bool,
    save: Callable[[RecordedOutcome], None] | None = None,
) -> None:
    """Set the task's status, unless a person has set it since; append the event once."""
    with stores.transaction() as transaction:
        before = read_with_epics(transaction.tasks, task)
        summary = transaction.tasks.summaries.get(task)
        if summary and is_claimed_by(summary, str(event.get("run"))):
            if status == CLOSED:
                close_task(transaction, task, NO_CHANGE if no_change else "done")
            else:
                reset_task(transaction, task, status, why)
        if not _is_recorded(stores, event):
            transaction.result.events.append(event)
        if save and transaction.result.events:
            after = {key: transaction.tasks.read_record(key) for key in before}
            ended, events = Disposition(status), transaction.result.events
            save(RecordedOutcome(ended, [], before, after, events))


def _free_dead_claims(stores: Stores) -> Iterator[Event]:
    """Free tasks of runs that died between their claim and their first file."""
    tasks = stores.backend.read_tasks()
    expired = [summary.id for summary in tasks if _is_dead_claim(stores, summary)]
    if not expired:
        return
    with stores.transaction() as transaction:
        for task_id in expired:
            summary = transaction.tasks[task_id]
            if not _is_dead_claim(stores, summary):
                continue
            history = read_attempt_history(stores.ledger, task_id)
            reset_task(transaction, task_id, RETRY if history.counted_attempts else OPEN)
            start = next(stores.ledger.iter_task_events(task_id, (ATTEMPT_START,)), {})
            if start and start.get("run") == str((summary.lease or {}).get("run")):
                end = {**start, "ev": ATTEMPT_END, "ts": stores.timestamp, **_make_killed_fields()}
                if not _is_recorded(stores, end):
                    transaction.result.events.append(end)
    for task_id in expired:
        text = "its run is gone: it is free again"
        yield _make_event(stores, "recovered", "", task=task_id, text=text)


def _is_dead_claim(stores: Stores, task: TaskSummary) -> bool:
    has_run = bool((task.lease or {}).get("run"))
    return task.status == IN_PROGRESS and has_run and stores.lease_checker.is_expired(task.lease)


def _is_recorded(stores: Stores, event: Event) -> bool:
    keys = ("run", "task", "n")
    ends = stores.ledger.iter_task_events(str(event.get("task")), (ATTEMPT_END,))
    return any(all(end.get(key) == event.get(key) for key in keys) for end in ends)


def _make_interrupted_event(
    stores: Stores, folder: RunFolder, files: AttemptFolder, start: dict[str, Any]
) -> Event:
    patch = files.find_patch()
    facts = {key: start.get(key) for key in ("task", "n", "harness")}
    git_facts = {"git": {"patch": patch}} if patch else {}
    facts |= {**_make_killed_fields(), **git_facts, "log": files.name}
    return _make_event(stores, ATTEMPT_END, folder.id, **facts)


def _make_killed_fields() -> Event:
    reason = "the run was killed"
    return {"ok": False, "fail": {"class": INTERRUPTED.name, "reason": reason, "charge": False}}


def _make_event(stores: Stores, name: str, run: str, **facts: Any) -> Event:
    return {"ev": name, "ts": stores.timestamp, **({"run": run} if run else {}), **facts}
