"""The stores of a project, opened for one command: who asks, when, and what is to be told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cub.actions.tasks.changes import record_changes
from cub.actions.tasks.findings import as_warnings, of_lines
from cub.actions.tasks.work import Outcome, Work
from cub.edit.plan import Plan, PlanWarning
from cub.errors import CubError
from cub.files import Held, apply, exclusive, pending
from cub.project.project import Project
from cub.store.backend import Backend
from cub.store.file_backend import FileBackend
from cub.store.lease import Watch, watch
from cub.store.ledger import Ledger
from cub.store.moments import now
from cub.store.place import store_root
from cub.store.tasks import Tasks


@dataclass(frozen=True, slots=True)
class Stores:
    """The tasks and the ledger of a project; `who` asks, at `watch.now`."""

    project: Project
    root: Path
    backend: Backend
    ledger: Ledger
    watch: Watch
    who: str

    @property
    def now(self) -> str:
        """When the command began."""
        return self.watch.now

    @contextmanager
    def changing(self) -> Iterator[Work]:
        """A change of tasks; the ledger is told when it is written.

        A ledger that may not be written stops the change; one that can't be, as on a full disk,
        is found out when the tasks are written already, and costs no more than the events.
        """
        outcome = Outcome()
        with self.backend.change() as change:
            outcome.warnings += told(change.tasks)
            yield Work(change, outcome, self.who, self.now)
            if outcome.events:
                self.ledger.require_writable()
                record_changes(self.root, outcome.events)  # before anybody sees what changed
        if outcome.events:
            self._record(outcome)

    def _record(self, outcome: Outcome) -> None:
        try:
            self.ledger.append(*outcome.events)
        except CubError as error:
            what = f"the tasks are changed, and the ledger was not told: {error.message}"
            outcome.warnings.append(PlanWarning(what, error.where))


def open_stores(project: Project, who: str, at: str = "") -> Stores:
    """The stores of a project, as its configuration asks for them."""
    root = store_root(project.root)
    backend: Backend = FileBackend(root, prepare=install_git_files)
    if project.config.backend == "beads":
        from cub.store.beads.backend import BeadsBackend

        backend = BeadsBackend(root)
    return Stores(project, root, backend, Ledger(root), watch(at or now()), who)


def end_interrupted(stores: Stores) -> Stores:
    """End what another command left half done where a run reads and writes files of its own
    accord; the stores as they are then.
    """
    ended: list[PlanWarning] = []
    for root in dict.fromkeys((stores.root, stores.project.root)):
        if pending(root):
            with exclusive(root) as held:
                ended += held.recovered
    if not ended:
        return stores
    return open_stores(Project.load(stores.project.root), stores.who, stores.now)


def told(tasks: Tasks) -> list[PlanWarning]:
    """What a person should know of a file of tasks: lines that are none, ids given twice."""
    return as_warnings(of_lines(tasks))


def install_git_files(held: Held) -> None:
    """Before the first task, or run: git is to merge tasks, and to leave out what is local."""
    apply(plan_git_files(Project.load(held.root)), held)


def plan_git_files(project: Project) -> Plan:
    """The files that tell git of `.cub/`, as they are now."""
    from cub.actions.own_files import GIT_FILES, local_lines, refresh, text_of
    from cub.project.state import State
    from cub.prompt.templates import shipped

    templates = shipped()
    local = local_lines(project.config)
    edits = []
    for file in GIT_FILES:
        body = text_of(file, templates, templates.version, local)
        edits.append(refresh(file, project.tree, templates, State(), body).edit)
    return Plan(tuple(filter(None, edits)))
