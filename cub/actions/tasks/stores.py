"""The stores of a project, opened for one command: who asks, when, and what is to be told.

A change of tasks under way: what a command did, and what it has to tell.

Changes of tasks that were made by commands while a run is at work, for that run to believe.

An agent can write anything into the store's files, with any revision and any event in the ledger.
What a person, or another run, changes meanwhile is told from that by a record that is signed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from cub.actions.tasks.current_attempt import find_attempt_mark
from cub.actions.tasks.task_fields import check_text
from cub.actions.tasks.task_findings import find_bad_lines, to_warnings
from cub.edit.plan import Plan, PlanWarning
from cub.errors import CubError
from cub.files import ProjectLock, apply_plan, lock_project, warn_pending_change
from cub.files.signed_state import append_signed, find_project_state, read_signed, read_signed_lines
from cub.project.project import Project
from cub.store.backend import JsonlBackend, StoreTransaction, TaskBackend
from cub.store.events import TASK_STATE, Event
from cub.store.jsonl import Record
from cub.store.leases import LeaseChecker, make_lease_checker
from cub.store.ledger import Ledger
from cub.store.record_merge import next_change_time, update_record
from cub.store.store_paths import find_store_root
from cub.store.task_index import TaskIndex, is_deleted
from cub.store.task_schema import DELETED
from cub.store.timestamps import normalize_timestamp, utc_now


@dataclass(frozen=True, slots=True)
class Stores:
    """The tasks and the ledger of a project; `actor` asks, at `make_lease_checker.now`."""

    project: Project
    root: Path
    backend: TaskBackend
    ledger: Ledger
    lease_checker: LeaseChecker
    actor: str

    @property
    def timestamp(self) -> str:
        """When the command began."""
        return self.lease_checker.timestamp

    @contextmanager
    def transaction(self) -> Iterator[TaskTransaction]:
        """A change of tasks; the ledger is told when it is written.

        A ledger that may not be written stops the change; one that can't be, as on a full disk,
        is found out when the tasks are written already, and costs no more than the events.
        """
        outcome = TaskResult()
        with self.backend.transaction() as change:
            outcome.warnings += warn_unreadable_tasks(change.tasks)
            yield TaskTransaction(change, outcome, self.actor, self.timestamp)
            if outcome.events:
                self.ledger.require_writable()
                record_status_changes(self.root, outcome.events)  # before anybody sees what changed
        if outcome.events:
            self._record(outcome)

    def _record(self, outcome: TaskResult) -> None:
        try:
            self.ledger.append_events(*outcome.events)
        except CubError as error:
            what = f"the tasks are changed, and the ledger was not told: {error.message}"
            outcome.warnings.append(PlanWarning(what, error.where))


def open_stores(project: Project, who: str, at: str = "") -> Stores:
    """The stores of a project, as its configuration asks for them."""
    root = find_store_root(project.root)
    backend: TaskBackend = JsonlBackend(root, before_first_write=install_git_files)
    if project.config.backend == "beads":
        from cub.store.beads_backend import BeadsBackend

        backend = BeadsBackend(root)
    return Stores(project, root, backend, Ledger(root), make_lease_checker(at or utc_now()), who)


def finish_interrupted_change(stores: Stores) -> Stores:
    """End what another command left half done where a run reads and writes files of its own
    accord; the stores as they are then.
    """
    ended: list[PlanWarning] = []
    for root in dict.fromkeys((stores.root, stores.project.root)):
        if warn_pending_change(root):
            with lock_project(root) as held:
                ended += held.recovery_warnings
    if not ended:
        return stores
    return open_stores(Project.load(stores.project.root), stores.actor, stores.timestamp)


def warn_unreadable_tasks(tasks: TaskIndex) -> list[PlanWarning]:
    """What a person should know of a file of tasks: lines that are none, ids given twice."""
    return to_warnings(find_bad_lines(tasks))


def install_git_files(lock: ProjectLock) -> None:
    """Before the first task, or run: git is to merge tasks, and to leave out what is local."""
    apply_plan(plan_git_files(Project.load(lock.root)), lock)


def plan_git_files(project: Project) -> Plan:
    """The files that tell git of `.cub/`, as they are now."""
    from cub.actions.managed_files import (
        GIT_FILES,
        list_gitignore_lines,
        refresh_managed_file,
        render_managed_file,
    )
    from cub.project.checkout_state import CheckoutState
    from cub.prompt.templates import load_shipped_templates

    templates = load_shipped_templates()
    local = list_gitignore_lines(project.config)
    edits = []
    for file in GIT_FILES:
        body = render_managed_file(file, templates, templates.version, local)
        edits.append(
            refresh_managed_file(file, project.tree, templates, CheckoutState(), body).edit
        )
    return Plan(tuple(filter(None, edits)))


@dataclass(slots=True)
class TaskResult:
    """What a command did: tasks as they are now, what to tell the person, and warnings.

    Of the tasks in `silent_ids`, a sentence of `messages` tells all.
    """

    tasks: list[Record] = field(default_factory=list)
    silent_ids: set[str] = field(default_factory=set)
    messages: list[str] = field(default_factory=list)
    warnings: list[PlanWarning] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def add_message(self, record: Record, sentence: str) -> None:
        """Take in a task that is as it should be already, or that followed another one."""
        self.tasks.append(record)
        self.silent_ids.add(record["id"])
        self.messages.append(sentence)


@dataclass(frozen=True, slots=True)
class TaskTransaction:
    """A change of tasks under way: what is put, what comes of it, and who does it when."""

    store: StoreTransaction
    result: TaskResult
    actor: str
    timestamp: str

    @property
    def tasks(self) -> TaskIndex:
        """The tasks as they are so far."""
        return self.store.tasks

    def update_task(
        self, task_id: str, values: dict[str, Any], note: str = "", sentence: str = ""
    ) -> None:
        """Change fields of a task, and tell the ledger; a sentence takes the place of the line
        that a command has for each task.
        """
        before = self.tasks.read_record(task_id)
        if note := note.strip():
            values = {**values, "notes": self.append_note(before, note)}
        after = update_record(before, values, self.timestamp)
        self.store.put_record(after)
        if sentence:
            self.result.add_message(after, sentence)
        else:
            self.result.tasks.append(after)
        if after is not before:
            self.result.events.append(make_state_event(after, self.actor, note))

    def append_note(self, record: Record, note: str) -> str:
        """The notes of a task with one more, which says when and by whom."""
        line = f"{self.timestamp[:16]}Z {self.actor}: {check_text(note.strip(), 'a note')}"
        return "\n".join(filter(None, [str(record.get("notes") or ""), line]))

    def next_change_time(self, task_id: str) -> str:
        """When a change of a task happens."""
        return next_change_time(self.tasks.read_record(task_id), self.timestamp)


def make_state_event(record: Record, who: str, note: str = "") -> Event:
    """What the ledger is told of a task's new status."""
    reason = record.get("close_reason")
    return {
        "ev": TASK_STATE,
        "ts": normalize_timestamp(record.get("updated_at")),
        "task": record["id"],
        "status": DELETED if is_deleted(record) else record["status"],
        "by": who,
        **({"reason": reason} if reason else {}),
        **({"note": note} if note else {}),
    }


CHANGES_FILE = "changes.jsonl"
RUN_FILE = "run.json"


class StatusChange(NamedTuple):
    """A task, the status that a command gave it, and who gave the command."""

    task: str
    status: str
    by: str


def record_status_changes(root: Path, events: Sequence[Event]) -> None:
    """Record what a command made of tasks of the project at `root`, for each run that is at work;
    nothing from within an attempt.
    """
    changes = [event for event in events if event.get("ev") == TASK_STATE]
    if not changes:
        return
    folders = [file.parent for file in (find_project_state(root) / "runs").glob(f"*/{RUN_FILE}")]
    if not folders or find_attempt_mark(root):
        return
    for folder in folders:
        if read_signed(folder / RUN_FILE).get("ended", True):
            continue
        for event in changes:
            with suppress(CubError):
                row = {name: str(event.get(name)) for name in StatusChange._fields}
                append_signed(folder / CHANGES_FILE, row)


def read_status_changes(folder: Path) -> list[StatusChange]:
    """Read what was recorded for the run whose state is in `folder`, the first change first."""
    rows = read_signed_lines(folder / CHANGES_FILE)
    return [StatusChange(*(str(row.get(name)) for name in StatusChange._fields)) for row in rows]
