"""Recover from killed runs: finish what they accepted, keep other changes, and free the tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from cub.actions.run import run_folders
from cub.actions.run.acceptance import (
    AcceptedWork,
    apply_patch,
    explain_blocked,
    withdraw_decision,
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
from cub.store.events import ATTEMPT_END, ATTEMPT_START, Event, mask_event
from cub.store.leases import LeaseChecker
from cub.store.task_index import TaskSummary
from cub.store.task_schema import CLOSED, IN_PROGRESS, OPEN, PARKED, RETRY
from cub.store.timestamps import format_timestamp


class RecoveryReport(NamedTuple):
    """Hold events of killed runs, and why attempts of theirs can't be finished yet."""

    events: list[Event]
    errors: list[CubError]

    @contextmanager
    def add_to_errors(self) -> Iterator[None]:
        """Raise the first error; report the events with it, or with another that is raised."""
        try:
            for error in self.errors:
                raise error
            yield
        except CubError as error:
            error.details += tuple(str(event.get("text", "")) for event in self.events)
            raise


class Conclusion(NamedTuple):
    """Say what became of an attempt of a killed run: the event of its end, and what its task gets.

    `messages` is for a person.
    """

    event: Event
    ended: Disposition
    messages: Sequence[str] = ()


def recover_killed_runs(stores: Stores, clock: Clock, current: RunFolder) -> RecoveryReport:
    """Finish what killed runs left before the `current` one.

    What can't be finished stays for the next time.
    """
    report = RecoveryReport([], [])
    stores = replace(stores, lease_checker=LeaseChecker(format_timestamp(clock.now())))
    for folder in RunFolder.list_all(stores.root):
        if folder.has_ended:
            continue
        with lock_if_dead(folder) as dead:
            if dead and not folder.has_ended:
                _finish_run(report, stores, folder)
    _remove_unstarted_runs(stores.root, current)
    report.events.extend(_free_dead_claims(stores))
    return RecoveryReport([mask_event(event) for event in report.events], report.errors)


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
        start = files.read_state(run_folders.START_FILE)
        if not start or files.read_state(RESULT_FILE):
            continue
        try:
            report.events.extend(KilledAttempt.load(stores, folder.id, files, start).finish())
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


@dataclass(frozen=True, slots=True)
class KilledAttempt:
    """Hold what a killed `run` has written down of an attempt, and finish that.

    `start` is what the attempt began from, `decision` is {} if it was not accepted, and `place`
    has the walls of then, for hooks and filters.
    """

    stores: Stores
    run: str
    files: AttemptFolder
    start: Event
    decision: Event
    place: Place

    @classmethod
    def load(cls, stores: Stores, run: str, files: AttemptFolder, start: Event) -> KilledAttempt:
        """Return the attempt that wrote down such a start."""
        root, kind, excluded = stores.root, PlaceKind(*start["kind"]), tuple(start["excluded"])
        settings = PlaceSettings(find_checkout(root), root, kind, private=excluded)
        place = Place(PlaceFolder(Path(start["place"])), settings)
        decision = files.read_state(run_folders.DECISION_FILE)
        return cls(stores, run, files, start, decision, place)

    def finish(self) -> list[Event]:
        """Carry out what was decided; keep the changes as a patch if nothing was.

        Raises CubError if that fails; nothing is marked as finished then.
        """
        task = self.start["task"]
        # What somebody has changed since is newer: so the store of now stands for the copied one.
        with self.stores.transaction() as transaction:
            edits = read_attempt_edits(self.place.root, transaction.tasks.data, task)
            messages = apply_attempt_edits(transaction, edits)
        done = self._carry_out() if self.decision else self._interrupt()
        texts = [*messages, *done.messages]
        notices = (self._make_event("notice", task=task, text=text) for text in texts)
        return [self._record(done), *notices]

    def _carry_out(self) -> Conclusion:
        """Bring an accepted attempt into the checkout. Raises CubError if that can't be yet."""
        event, closed = self.decision["event"], Disposition(CLOSED)
        if "tree" not in self.decision:  # of a run that does not commit
            toplevel = self.place.settings.checkout.toplevel
            apply_patch(toplevel, self.files.path / run_folders.PATCH_FILE)
            return Conclusion(event, closed)
        work = AcceptedWork.from_decision(self.place, self.decision)
        head = self.files.read_state(run_folders.COMMIT_FILE).get("commit") or self._commit(work)
        acceptance = work.bring_into_checkout(head)
        if acceptance.state == "merged":
            return Conclusion({**event, "git": {**event["git"], "head": head}}, closed)
        is_blocked = acceptance.state == "blocked"
        withdraw_decision(self.stores, self.files)
        work.replace_kept_commit(head, is_blocked=is_blocked)
        if not is_blocked:  # nothing has checked it together with the newer commits
            return self._interrupt(work.tree)
        why = explain_blocked(acceptance, self.start["task"])
        event = {**event, "ok": False, "fail": {"class": NOT_MERGED.name, "reason": why}}
        what = f"what was accepted is not merged: {why}"
        return Conclusion(event, Disposition(PARKED, why), [what])

    def _commit(self, work: AcceptedWork) -> str:
        """Commit what was accepted, with the stores that say so, as the run would have done."""
        event, no_change = self.decision["event"], self.decision["no_change"]
        if work.stores and not _is_recorded(self.stores, event):
            ended = Disposition(CLOSED)
            record_outcome(self.stores, event, ended, no_change=no_change, files=self.files)
        head = work.make_commit(work.make_tree())
        self.files.write_state(run_folders.COMMIT_FILE, {"commit": head})
        return head

    def _interrupt(self, tree: str = "") -> Conclusion:
        """Keep what the attempt has made, or a tree that was accepted, as a patch."""
        messages = self._keep_patch(tree)
        patch = self.files.find_patch()
        facts = {key: self.start[key] for key in ("task", "n", "harness")}
        facts |= {**_make_killed_fields(), **({"git": {"patch": patch}} if patch else {})}
        event = self._make_event(ATTEMPT_END, **facts, log=self.files.name)
        return Conclusion(event, Disposition(RETRY if self.start["charged"] else OPEN), messages)

    def _keep_patch(self, tree: str) -> list[str]:
        """Write the patch, unless there is one; return messages."""
        place, path = self.place, run_folders.PATCH_FILE
        if self.files.find_patch() or not place.tree.index.exists():
            return []
        try:
            tree = tree or place.read_state().tree
            base = Base(*self.start["base"]).tree
            is_written = write_patch(place.tree, base, tree, self.files.prepare_path(path))
        except CubError:  # such as of a tree that was not complete yet
            return []
        return [f"its changes are kept in {self.files.find_patch()}"] if is_written else []

    def _record(self, done: Conclusion) -> Event:
        """Record what became of the attempt; return an event that says so."""
        event, ended = done.event, done.ended
        is_closed, no_change = ended.status == CLOSED, bool(self.decision.get("no_change"))
        if not is_closed:
            withdraw_outcome(self.stores, self.files)
        if not _is_recorded(self.stores, event):
            record_outcome(self.stores, event, ended, no_change=no_change)
        self.files.write_result(event, ended.status, ended.reason)
        what = "was done, and is closed now" if is_closed else "was interrupted"
        facts = {"task": event["task"], "n": event["n"], "status": ended.status}
        text = f"attempt {event['n']} of a killed run {what}"
        return self._make_event("recovered", **facts, text=text)

    def _make_event(self, name: str, **facts: Any) -> Event:
        return {"ev": name, "ts": self.stores.timestamp, "run": self.run, **facts}


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
        yield {"ev": "recovered", "ts": stores.timestamp, "task": task_id, "text": text}


def _is_dead_claim(stores: Stores, task: TaskSummary) -> bool:
    has_run = bool((task.lease or {}).get("run"))
    return task.status == IN_PROGRESS and has_run and stores.lease_checker.is_expired(task.lease)


def _is_recorded(stores: Stores, event: Event) -> bool:
    keys = ("run", "task", "n")
    ends = stores.ledger.iter_task_events(str(event.get("task")), (ATTEMPT_END,))
    return any(all(end.get(key) == event.get(key) for key in keys) for end in ends)


def _make_killed_fields() -> Event:
    reason = "the run was killed"
    return {"ok": False, "fail": {"class": INTERRUPTED.name, "reason": reason, "charge": False}}
