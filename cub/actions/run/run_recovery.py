"""Recover from killed runs: finish what they accepted, keep other changes, and free the tasks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from cub.actions.run import run_folders
from cub.actions.run.acceptance import (
    AcceptedWork,
    apply_patch,
    explain_blocked,
    forget_decision,
    name_kept_ref,
)
from cub.actions.run.failures import INTERRUPTED, NOT_MERGED
from cub.actions.run.retry_policy import Disposition, read_attempt_history
from cub.actions.run.run_context import Clock
from cub.actions.run.run_folders import AttemptFolder, RunFolder, lock_if_dead
from cub.actions.run.task_queue import record_outcome, withdraw_outcome
from cub.actions.tasks.attempt_edits import apply_attempt_edits, read_attempt_edits
from cub.actions.tasks.current_attempt import RESULT_FILE, RUN_VARIABLE
from cub.actions.tasks.stores import Stores
from cub.actions.tasks.transitions import reset_task
from cub.errors import CubError
from cub.place.changes import write_patch
from cub.place.checkout import find_checkout
from cub.place.folder import PlaceFolder
from cub.place.place import Place
from cub.place.place_settings import Base, PlaceSettings
from cub.place.walls import PlaceKind
from cub.processes.orphans import kill_by_environment
from cub.store.events import ATTEMPT_END, ATTEMPT_START, Event, get_mapping
from cub.store.leases import LeaseChecker
from cub.store.task_index import TaskSummary
from cub.store.task_schema import CLOSED, IN_PROGRESS, OPEN, PARKED, RETRY
from cub.store.timestamps import format_timestamp


@dataclass(slots=True)
class RecoveryReport:
    """Hold events of killed runs, and why attempts of theirs can't be finished yet."""

    events: list[Event] = field(default_factory=list)
    errors: list[CubError] = field(default_factory=list)

    def require_finished(self) -> None:
        """Raise CubError if an attempt can't be finished yet."""
        for error in self.errors:
            raise error


class Conclusion(NamedTuple):
    """Say what became of a killed run's attempt: its status, why, its commit, and messages."""

    status: str = ""
    why: str = ""
    head: str = ""
    messages: tuple[str, ...] = ()


def recover_killed_runs(stores: Stores, clock: Clock, current: RunFolder) -> RecoveryReport:
    """Finish what killed runs left before the `current` one.

    What can't be finished stays for the next time.
    """
    report = RecoveryReport()
    stores = replace(stores, lease_checker=LeaseChecker(format_timestamp(clock.now())))
    for folder in RunFolder.list_all(stores.root):
        if folder.read_state().get("ended", True):  # also if cub has not signed it
            continue
        with lock_if_dead(folder) as dead:
            if dead and not folder.read_state().get("ended"):
                _finish_run(report, stores, folder)
    _remove_unstarted_runs(stores.root, current)
    report.events += _free_dead_claims(stores)
    return report


def _remove_unstarted_runs(root: Path, current: RunFolder) -> None:
    """Remove what runs have left that were killed before they had written what they are."""
    known = [current, *RunFolder.list_all(root)]
    folders = [RunFolder(root, path.name) for path in RunFolder(root, "").state.glob("*")]
    for folder in (one for one in folders if one not in known):
        with lock_if_dead(folder) as dead:
            if dead:
                _remove_places(folder)
                folder.remove_state()


def _remove_places(folder: RunFolder) -> None:
    for path in (folder.state / run_folders.PLACES_FOLDER).glob("*"):
        PlaceFolder(path).remove()


def _finish_run(report: RecoveryReport, stores: Stores, folder: RunFolder) -> None:
    kill_by_environment((RUN_VARIABLE, folder.id))
    count = len(report.errors)
    for files in folder.iter_attempt_folders():
        if files.read_state(RESULT_FILE):
            continue
        try:
            report.events += _finish_attempt(stores, folder, files)
        except CubError as error:
            report.errors.append(_explain_unfinished(error, files))
    if len(report.errors) > count:
        return
    _remove_places(folder)
    folder.mark_ended(killed=True)


def _explain_unfinished(error: CubError, files: AttemptFolder) -> CubError:
    what = f"an attempt of a killed run can't be concluded yet: {error.message}"
    hint = f"the next `cub run` tries again; to drop the attempt, remove {files.state.as_posix()}"
    return CubError(what, where=error.where or files.name, hint=hint, details=list(error.details))


def _finish_attempt(stores: Stores, folder: RunFolder, files: AttemptFolder) -> list[Event]:
    """Carry out what was decided; keep the changes as a patch if nothing was.

    Raises CubError if that fails; nothing is marked as finished then.
    """
    start = files.read_state(run_folders.START_FILE)
    decision = files.read_state(run_folders.DECISION_FILE)
    place = _open_place(stores, files, start)
    messages = _take_over_edits(stores, place, str(start.get("task")))
    if decision.get("ok"):
        done = _carry_out(stores, files, decision, place, start)
    else:
        done = Conclusion(messages=_keep_patch(files, place, start))
    status = done.status or (RETRY if start.get("charged") else OPEN)
    event = _make_event(stores, ATTEMPT_END, folder.id) | dict(decision.get("event") or {})
    if done.status == "":
        event = _make_interrupted_event(stores, folder, files, start)
    elif done.status == PARKED:
        event |= {"ok": False, "fail": {"class": NOT_MERGED.name, "reason": done.why}}
    elif done.head:
        event["git"] = {**get_mapping(event, "git"), "head": done.head}
    result, task = _save_result(stores, files, event, status, done.why), start.get("task")
    texts = (*messages, *done.messages)
    notices = (_make_event(stores, "notice", folder.id, task=task, text=text) for text in texts)
    return [result, *notices]


def _open_place(stores: Stores, files: AttemptFolder, start: dict[str, Any]) -> Place:
    """Return the place of a killed attempt, with the walls that it had for hooks and filters.

    An attempt of an older cub has none: then this one has no files.
    """
    excluded = tuple(map(str, start.get("excluded", ())))
    kind = PlaceKind(*start.get("kind", ("aside", "none", "")))
    settings = PlaceSettings(find_checkout(stores.root), stores.root, kind, private=excluded)
    return Place(PlaceFolder(Path(str(start.get("place", files.state / "place")))), settings)


def _take_over_edits(stores: Stores, place: Place, task: str) -> list[str]:
    """Take over what the attempt did to its copy of the tasks; return messages.

    The store of now stands for the one that was copied: what somebody has changed since is newer.
    """
    with stores.transaction() as transaction:
        edits = read_attempt_edits(place.root, transaction.tasks.data, task)
        return apply_attempt_edits(transaction, edits)


def _carry_out(
    stores: Stores,
    files: AttemptFolder,
    decision: dict[str, Any],
    place: Place,
    start: dict[str, Any],
) -> Conclusion:
    """Bring an accepted attempt into the checkout. Raises CubError if that can't be yet."""
    if "tree" not in decision:  # of a run that does not commit
        apply_patch(place.settings.checkout.toplevel, files.path / run_folders.PATCH_FILE)
        return Conclusion(CLOSED)
    committed = tuple(map(str, decision.get("stores", ())))
    work = AcceptedWork.from_decision(place, decision, committed)
    commit = files.read_state(run_folders.COMMIT_FILE)
    ref = name_kept_ref(*_read_name(files, start))
    head = str(commit.get("commit", ""))
    if not head:
        if committed:
            _record_before_commit(stores, files, decision)
        head = work.make_commit(work.make_tree())
        files.write_state(run_folders.COMMIT_FILE, {"commit": head})
    acceptance = work.bring_into_checkout(head, ref)
    if acceptance.state == "merged":
        return Conclusion(CLOSED, head=head)
    is_blocked = acceptance.state == "blocked"
    forget_decision(files)
    work.replace_kept_commit(head, ref, is_blocked=is_blocked)
    if not is_blocked:  # nothing has checked it together with the newer commits
        return Conclusion(messages=_keep_patch(files, place, start, work.tree))
    why = explain_blocked(acceptance, str(start.get("task")))
    return Conclusion(PARKED, why, messages=(f"what was accepted is not merged: {why}",))


def _read_name(files: AttemptFolder, start: dict[str, Any]) -> tuple[str, str, int]:
    run = files.state.parents[1].name
    return run, str(start.get("task", "")), int(start.get("n") or 0)


def _keep_patch(
    files: AttemptFolder, place: Place, start: dict[str, Any], tree: str = ""
) -> tuple[str, ...]:
    """Keep what the attempt has made, or a tree that was accepted, as a patch; return messages."""
    if files.find_patch() or not place.tree.index.exists():
        return ()
    base, path = Base(*start["base"]), files.prepare_path(run_folders.PATCH_FILE)
    try:
        tree = tree or place.read_state().tree
        is_written = write_patch(place.tree, base.tree, tree, path)
    except CubError:  # such as of a tree that was not complete yet
        return ()
    return (f"its changes are kept in {files.find_patch()}",) if is_written else ()


def _save_result(
    stores: Stores, files: AttemptFolder, event: Event, status: str, why: str
) -> Event:
    task = str(event.get("task"))
    no_change = bool(files.read_state(run_folders.DECISION_FILE).get("no_change"))
    if status != CLOSED:
        withdraw_outcome(stores, files)
    if not _is_recorded(stores, event):
        record_outcome(stores, event, Disposition(status, why), no_change=no_change)
    result = {"event": event, "status": status, "why": why}
    files.write_state(RESULT_FILE, result)
    with suppress(OSError, CubError):  # the public folder may be gone
        files.write_public_json(RESULT_FILE, result)
    what = "was done, and is closed now" if status == CLOSED else "was interrupted"
    text = f"attempt {event.get('n')} of a killed run {what}"
    facts = {"task": task, "n": event.get("n"), "status": status, "text": text}
    return _make_event(stores, "recovered", str(event.get("run")), **facts)


def _record_before_commit(stores: Stores, files: AttemptFolder, decision: dict[str, Any]) -> None:
    """Record an accepted attempt for its commit to contain, as the run would have done."""
    event, no_change = dict(decision.get("event") or {}), bool(decision.get("no_change"))
    if not _is_recorded(stores, event):
        record_outcome(stores, event, Disposition(CLOSED), no_change=no_change, files=files)


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
