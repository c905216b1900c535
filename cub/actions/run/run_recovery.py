"""After a run was killed: its half attempts are concluded, their changes kept, its tasks freed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cub import git
from cub.actions.run.agent_process import RUN_MARK_VARIABLE
from cub.actions.run.attempt_recovery import (
    InterruptedAttempt,
    find_attempt_workspace,
    load_snapshot,  # fmt: skip
    repair_attempt_repository,
    wait_for_agent_end,
)
from cub.actions.run.git_workspace import remove_run_worktree
from cub.actions.run.retry_policy import read_attempt_history
from cub.actions.run.run_context import Clock
from cub.actions.run.run_folders import (
    DECISION_FILE,
    PATCH_FILE,
    RESULT_FILE,
    START_FILE,
    STATUS_FILE,
    AttemptFolder,
    RunFolder,
    lock_if_dead,
)
from cub.actions.run.verdict import NO_CHANGE
from cub.actions.tasks.stores import Stores
from cub.actions.tasks.transitions import close_task, reset_task
from cub.errors import CubError
from cub.files.internal_files import read_json
from cub.processes.orphans import kill_by_environment
from cub.store.events import ATTEMPT_END, ATTEMPT_START, RUN_END, Event
from cub.store.leases import make_lease_checker
from cub.store.task_schema import CLOSED, IN_PROGRESS, OPEN, RETRY
from cub.store.timestamps import format_timestamp


@dataclass(slots=True)
class RecoveryReport:
    """What there is to tell of killed runs, and the attempts that can't be concluded yet, each with
    the folder that it worked in, and why.
    """

    events: list[Event] = field(default_factory=list)
    unfinished: list[tuple[Path, CubError]] = field(default_factory=list)

    def require_finished(self, folder: Path) -> None:
        """Raise CubError if an attempt that worked in `folder` can't be concluded yet."""
        for place, error in self.unfinished:
            if place == folder:
                raise error


def recover_killed_runs(stores: Stores, environ: Mapping[str, str], clock: Clock) -> RecoveryReport:
    """Conclude what killed runs left. What can't be concluded stays for the next time."""
    found = RecoveryReport()
    stores = replace(stores, lease_checker=make_lease_checker(format_timestamp(clock.now())))
    for folder in RunFolder.list_all(stores.root):
        if folder.read_state().get("ended", True):  # nothing is believed that is not cub's own
            continue
        with lock_if_dead(folder) as dead:
            if dead and not folder.read_state().get("ended"):
                _conclude_run(found, stores, folder, environ)
    found.events += _free_dead_claims(stores)
    return found


def _conclude_run(
    report: RecoveryReport, stores: Stores, folder: RunFolder, environ: Mapping[str, str]
) -> None:
    ended = kill_by_environment((RUN_MARK_VARIABLE, folder.id))
    facts = folder.read_state()
    place = Path(str(facts.get("folder", "")))
    before = len(report.unfinished)
    for files in folder.iter_attempt_folders():
        if files.read_state(RESULT_FILE):
            continue
        if ended:
            wait_for_agent_end(files)
        try:
            report.events += _conclude_attempt(stores, folder, files, environ)
        except CubError as error:
            report.unfinished.append((place, _explain(error, files)))
    if len(report.unfinished) > before:
        return
    if not read_json(folder.state / STATUS_FILE).get("ended"):
        stores.ledger.append_events(_event(stores, RUN_END, folder.id, end="killed", ok=False))
    if (stores.root / ".cub" / "worktrees") in place.parents and (top := git.find_toplevel(place)):
        remove_run_worktree(stores.root, top)
    folder.mark_ended(killed=True)


def _explain(error: CubError, files: AttemptFolder) -> CubError:
    what = f"an attempt of a killed run can't be concluded yet: {error.message}"
    hint = f"the next `cub run` tries again; to leave its files as they are, remove {files.state}"
    return CubError(what, where=error.where or files.name, hint=hint, details=list(error.details))


def _conclude_attempt(
    stores: Stores, folder: RunFolder, files: AttemptFolder, environ: Mapping[str, str]
) -> list[Event]:
    """Carry out what was decided, and put back what was not decided yet. Raises CubError, with
    nothing marked as concluded, where that fails.
    """
    start, decision = files.read_state(START_FILE), files.read_state(DECISION_FILE)
    said = repair_attempt_repository(start, folder, files)
    ground, before = (
        find_attempt_workspace(start, folder, environ),
        load_snapshot(start.get("before")),
    )
    done = bool(decision.get("ok")) and not decision.get("message")
    if ground and before:
        done, more = InterruptedAttempt(ground, before, files, folder, decision).finish()
        said += more
    status = RETRY if start.get("charged") else OPEN
    event = _event(stores, ATTEMPT_END, folder.id) | dict(decision.get("event") or {})
    if done:
        status = CLOSED
    elif decision.get("ok") is False:
        status = str(decision.get("status", status))
    else:
        event = _make_interrupted_event(stores, folder, files, start)
    found = [*_save_result(stores, files, event, status, decision)]
    task = start.get("task")
    return found + [_event(stores, "notice", folder.id, task=task, text=line) for line in said]


def _save_result(
    stores: Stores, files: AttemptFolder, event: Event, status: str, decision: dict[str, Any]
) -> Iterator[Event]:
    why, task = str(decision.get("why", "")), str(event.get("task"))
    no_change = bool(decision.get("no_change"))
    _record_status(stores, task, status, event, why, no_change=no_change)
    result = {"event": event, "status": status, "why": why}
    files.write_state(RESULT_FILE, result)
    with suppress(OSError, CubError):  # what is shown may be gone
        files.write_public_json(RESULT_FILE, result)
    what = "was done, and is closed now" if status == CLOSED else "was interrupted"
    text = f"attempt {event.get('n')} of a killed run {what}"
    facts = {"task": task, "n": event.get("n"), "status": status, "text": text}
    yield _event(stores, "recovered", str(event.get("run")), **facts)


def _record_status(
    stores: Stores, task: str, status: str, event: Event, why: str, *, no_change: bool
) -> None:
    """Give the task its status, unless a person did so since, and the ledger the attempt once."""
    with stores.transaction() as work:
        row = work.tasks.summaries.get(task)
        if row and row.status == IN_PROGRESS and (row.lease or {}).get("run") == event.get("run"):
            if status == CLOSED:
                close_task(work, task, NO_CHANGE if no_change else "done")
            else:
                reset_task(work, task, status, why)
        if not _is_recorded(stores, event):
            work.result.events.append(event)


def _free_dead_claims(stores: Stores) -> Iterator[Event]:
    """Tasks of runs that died between their claim and their first file."""
    tasks = stores.backend.read_tasks()
    lapsed = [
        row.id
        for row in tasks
        if row.status == IN_PROGRESS and (row.lease or {}).get("run")
        and stores.lease_checker.is_expired(row.lease)
    ]  # fmt: skip
    if not lapsed:
        return
    with stores.transaction() as work:
        for key in lapsed:
            row = work.tasks[key]
            if row.status != IN_PROGRESS or not stores.lease_checker.is_expired(row.lease):
                continue
            run = str((row.lease or {}).get("run"))
            reset_task(
                work,
                key,
                RETRY if read_attempt_history(stores.ledger, key).counted_attempts else OPEN,
            )
            for begun in stores.ledger.iter_task_events(key, (ATTEMPT_START,)):
                if begun.get("run") == run:
                    ended = {
                        **begun,
                        "ev": ATTEMPT_END,
                        "ts": stores.timestamp,
                        **_make_killed_fields(),
                    }
                    if not _is_recorded(stores, ended):
                        work.result.events.append(ended)
                break
    for key in lapsed:
        yield _event(stores, "recovered", "", task=key, text="its run is gone: it is free again")


def _is_recorded(stores: Stores, event: Event) -> bool:
    which = ("run", "task", "n")
    for known in stores.ledger.iter_task_events(str(event.get("task")), (ATTEMPT_END,)):
        if all(known.get(name) == event.get(name) for name in which):
            return True
    return False


def _make_interrupted_event(
    stores: Stores, folder: RunFolder, files: AttemptFolder, start: dict[str, Any]
) -> Event:
    patch = {"git": {"patch": f"{files.name}/{PATCH_FILE}"}} if files.has_file(PATCH_FILE) else {}
    facts = {"task": start.get("task"), "n": start.get("n"), "harness": start.get("harness")}
    return _event(
        stores, ATTEMPT_END, folder.id, **facts, **_make_killed_fields(), **patch, log=files.name
    )


def _make_killed_fields() -> Event:
    reason = "the run was killed"
    return {"ok": False, "fail": {"class": "interrupted", "reason": reason, "charge": False}}


def _event(stores: Stores, name: str, run: str, **facts: Any) -> Event:
    return {"ev": name, "ts": stores.timestamp, **({"run": run} if run else {}), **facts}
