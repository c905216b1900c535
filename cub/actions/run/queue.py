"""Which task a run takes next: ready, wanted, and claimed in one step, so that nobody else does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import NamedTuple

from cub.actions.run.settings import Asked
from cub.actions.run.trust import Agreed
from cub.actions.tasks.queries import below
from cub.actions.tasks.stores import Stores
from cub.actions.tasks.work import Work
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.store.briefs import Brief
from cub.store.events import Event
from cub.store.lease import lease
from cub.store.ready import blockers, ready
from cub.store.spelling import IN_PROGRESS, PARKED
from cub.store.tasks import Tasks

Begin = Callable[[str], Event]


class Claimed(NamedTuple):
    """A task that is the run's now, the tasks as they are, and how many are ready beside it."""

    task: str
    tasks: Tasks
    waiting: int
    warnings: list[PlanWarning]


class Queue(NamedTuple):
    """The tasks that a run may take, the first one first."""

    rows: list[Brief]
    tasks: Tasks


def queue(tasks: Tasks, stores: Stores, asked: Asked, agreed: Agreed | None = None) -> Queue:
    """What is ready and wanted, by the command line's words, and brings along nothing that this
    person has not `agreed` to.
    """
    rows = ready(tasks, stores.watch.lapsed).briefs
    wanted = _wanted(rows, tasks, asked)
    return Queue([row for row in wanted if agreed is None or agreed.allows(tasks, row.id)], tasks)


def parked(tasks: Tasks, asked: Asked) -> list[Brief]:
    """The tasks that only a person frees, of those that are wanted."""
    rows = [row for row in tasks if row.status == PARKED and not row.is_epic]
    return list(_wanted(rows, tasks, asked))


def claim_next(
    stores: Stores,
    asked: Asked,
    run: str,
    agent: str,
    lasts: timedelta,
    begin: Begin,
    agreed: Agreed | None,
) -> Claimed | None:
    """Claim the first task that is ready, and note the attempt that `begin` describes; None where
    there is none. When this returns, both are on disk.
    """
    with stores.changing() as work:
        rows = queue(work.tasks, stores, asked, agreed).rows
        if rows:
            _take(work, rows[0].id, run, agent, lasts)
            work.outcome.events.append(begin(rows[0].id))
    if not rows:
        return None
    return Claimed(rows[0].id, work.tasks, len(rows) - 1, work.outcome.warnings)


def require_startable(tasks: Tasks, stores: Stores, asked: Asked) -> None:
    """CubError, with the reason, if the task that the command line names can't be begun; and for
    the name of an epic or a task that there is not.
    """
    if asked.epic:
        tasks.find(asked.epic)
    if not asked.task:
        return
    row = tasks[tasks.find(asked.task)]
    if row.is_epic:
        raise CubError(f"{row.id} is an epic", hint=f"`--epic {row.id}` works on its tasks")
    if row.closed:
        hint = f"`cub task reopen {row.id}` comes first"
        raise CubError(f"{row.id} is closed ({row.reason or 'done'})", hint=hint)
    if waits := blockers(row, tasks):
        raise CubError(f"{row.id} waits for {', '.join(waits)}", hint="they have to be done first")
    if not queue(tasks, stores, asked).rows:
        owner = tasks.record(row.id).get("assignee")
        by = f" by {owner}" if owner and row.status == IN_PROGRESS else ""
        hint = f"`cub task reopen {row.id}` gives it back to everybody"
        raise CubError(f"{row.id} is {row.status}{by}", hint=hint)


def _wanted(rows: list[Brief], tasks: Tasks, asked: Asked) -> Iterator[Brief]:
    if asked.task:
        key = tasks.find(asked.task)
        rows = [row for row in rows if row.id == key]
    if asked.epic:
        inside = {row.id for row in below(tasks.find(asked.epic), tasks)}
        rows = [row for row in rows if row.id in inside]
    for row in rows:
        if not asked.label or asked.label in (tasks.record(row.id).get("labels") or ()):
            yield row


def _take(work: Work, key: str, run: str, agent: str, lasts: timedelta) -> None:
    hold = lease(work.now, run=run, lasts=lasts)
    work.put(key, {"status": IN_PROGRESS, "assignee": agent, "lease": hold})
