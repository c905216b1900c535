"""The stores of a project, opened for one command: who asks, when, and what is to be told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cub.actions.own_files import GITIGNORE
from cub.actions.tasks.findings import as_warnings, of_lines
from cub.actions.tasks.work import Outcome, Work
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.files import exclusive
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
    backend: Backend = FileBackend(root, prepare=lambda: _install(root))
    if project.config.backend == "beads":
        from cub.store.beads.backend import BeadsBackend

        backend = BeadsBackend(root)
    return Stores(project, root, backend, Ledger(root), watch(at or now()), who)


def told(tasks: Tasks) -> list[PlanWarning]:
    """What a person should know of a file of tasks: lines that are none, ids given twice."""
    return as_warnings(of_lines(tasks))


def install_git_files(root: Path) -> None:
    """What git has to know of `.cub/`, where it is not told yet."""
    if not (root / GITIGNORE).exists():
        with exclusive(root):
            _install(root)


def _install(root: Path) -> None:
    """Before the first task: git is to merge tasks, and to leave out what is local."""
    from cub.actions.own_files import GIT_FILES, local_lines, refresh, text_of
    from cub.edit.plan import Plan
    from cub.files import apply
    from cub.project.state import State
    from cub.prompt.templates import shipped

    project, templates = Project.load(root), shipped()
    local = local_lines(project.config)
    edits = []
    for file in GIT_FILES:
        body = text_of(file, templates, templates.version, local)
        edits.append(refresh(file, project.tree, templates, State(), body).edit)
    apply(Plan(tuple(filter(None, edits))), root)
