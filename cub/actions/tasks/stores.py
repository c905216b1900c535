"""Open the stores of a project for one command, and collect its changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cub.actions.tasks.task_fields import check_text
from cub.actions.tasks.task_findings import find_bad_lines, to_warnings
from cub.edit.plan import Plan, PlanWarning
from cub.errors import CubError
from cub.files.apply import apply_plan
from cub.files.journal import warn_pending_change
from cub.files.lock import ProjectLock, lock_project
from cub.project.project import Project
from cub.store.backend import JsonlBackend, StoreTransaction
from cub.store.events import TASK_STATE, Event
from cub.store.jsonl import Record
from cub.store.leases import LeaseChecker
from cub.store.ledger import Ledger
from cub.store.record_merge import next_change_time, update_record
from cub.store.store_paths import LEDGER_FILE, TASKS_FILE, find_store_root
from cub.store.task_index import TaskIndex, is_deleted
from cub.store.task_schema import DELETED
from cub.store.timestamps import normalize_timestamp, utc_now

if TYPE_CHECKING:
    from cub.store.beads_backend import TaskBackend


@dataclass(frozen=True, slots=True)
class Stores:
    """Hold the tasks and the ledger of a project for one command of `actor`."""

    project: Project
    root: Path
    backend: TaskBackend
    ledger: Ledger
    lease_checker: LeaseChecker
    actor: str

    @property
    def timestamp(self) -> str:
        """Return when the command started."""
        return self.lease_checker.timestamp

    @contextmanager
    def transaction(self) -> Iterator[TaskTransaction]:
        """Change tasks, and add events to the ledger when they are written.

        A read-only ledger stops the change. One that can't be written for another reason, as on a
        full disk, costs only the events: the tasks are written before.
        """
        result = TaskResult()
        is_managed = (self.root / ".cub").exists()
        with self.backend.transaction() as change:
            result.warnings += warn_unreadable_tasks(change.tasks)
            yield TaskTransaction(change, result, self.actor, self.timestamp)
            if result.events:
                self.ledger.require_writable()
        try:
            if result.events:
                self.ledger.append_events(*result.events)
        except CubError as error:
            what = f"the tasks were changed, but the ledger could not be written: {error.message}"
            result.warnings.append(PlanWarning(what, error.where))
        if not is_managed:
            result.created_files += _list_new_files(self.root)


def open_stores(project: Project, who: str, at: str = "") -> Stores:
    """Open the stores of a project, as its configuration asks for them."""
    root = find_store_root(project.root)
    backend: TaskBackend = JsonlBackend(root, before_first_write=install_git_files)
    if project.config.backend == "beads":
        from cub.store.beads_backend import BeadsBackend

        backend = BeadsBackend(root)
    return Stores(project, root, backend, Ledger(root), LeaseChecker(at or utc_now()), who)


def finish_interrupted_change(stores: Stores) -> Stores:
    """Finish what another command left half done, and return the stores as they are then.

    A run calls it before it reads and writes files without a command.
    """
    warnings: list[PlanWarning] = []
    for root in dict.fromkeys((stores.root, stores.project.root)):
        if warn_pending_change(root):
            with lock_project(root) as lock:
                warnings += lock.recovery_warnings
    if not warnings:
        return stores
    return open_stores(Project.load(stores.project.root), stores.actor, stores.timestamp)


def warn_unreadable_tasks(tasks: TaskIndex) -> list[PlanWarning]:
    """Return warnings of lines that are not tasks, and of ids that two tasks have."""
    return to_warnings(find_bad_lines(tasks))


def install_git_files(lock: ProjectLock) -> None:
    """Write the files that let git merge tasks and ignore what is local.

    The first task, or a run, needs them.
    """
    apply_plan(plan_git_files(Project.load(lock.root)), lock)


def plan_git_files(project: Project) -> Plan:
    """Plan the files that tell git about `.cub/`."""
    from cub.actions.managed_files import GIT_FILES, refresh_managed_file
    from cub.project.checkout_state import CheckoutState
    from cub.prompt.templates import load_shipped_templates

    templates, state = load_shipped_templates(), CheckoutState()
    plans = (refresh_managed_file(file, project, templates, state)[0] for file in GIT_FILES)
    return Plan(tuple(edit for plan in plans for edit in plan.edits))


def _list_new_files(root: Path) -> list[str]:
    """Return the files that the first change has written, without the ignored ones."""
    from cub.actions.managed_files import GIT_FILES

    paths = (TASKS_FILE, LEDGER_FILE, *sorted(file.path for file in GIT_FILES))
    return [path for path in paths if (root / path).exists()]


@dataclass(slots=True)
class TaskResult:
    """Collect what a command did: changed tasks, messages, warnings and events.

    A message says all there is to say of the tasks in `silent_ids`. `created_files` are those of
    a command that has created `.cub/`.
    """

    tasks: list[Record] = field(default_factory=list)
    silent_ids: set[str] = field(default_factory=set)
    messages: list[str] = field(default_factory=list)
    warnings: list[PlanWarning] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    created_files: list[str] = field(default_factory=list)

    def add_message(self, record: Record, sentence: str) -> None:
        """Add a task that needed no change, or that followed another one, with a message."""
        self.tasks.append(record)
        self.silent_ids.add(record["id"])
        self.messages.append(sentence)


@dataclass(frozen=True, slots=True)
class TaskTransaction:
    """Change tasks as `actor` at one time, and collect the result."""

    store: StoreTransaction
    result: TaskResult
    actor: str
    timestamp: str

    @property
    def tasks(self) -> TaskIndex:
        """Return the tasks with the changes so far."""
        return self.store.tasks

    def update_task(
        self, task_id: str, values: dict[str, Any], note: str = "", sentence: str = ""
    ) -> None:
        """Change fields of a task, and add an event; a sentence replaces the command's own line."""
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
        """Return the notes of a task with one more, which says when and by whom."""
        line = f"{self.timestamp[:16]}Z {self.actor}: {check_text(note.strip(), 'a note')}"
        return "\n".join(filter(None, [str(record.get("notes") or ""), line]))

    def next_change_time(self, task_id: str) -> str:
        """Return when a change of a task happens."""
        return next_change_time(self.tasks.read_record(task_id), self.timestamp)


def make_state_event(record: Record, who: str, note: str = "") -> Event:
    """Return the ledger's event for a task's new status."""
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
