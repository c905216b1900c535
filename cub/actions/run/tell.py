"""What a task and the ledger are told at the end of an attempt."""

from __future__ import annotations

from typing import NamedTuple

from cub.actions.run.evidence import NO_CHANGE
from cub.actions.run.guard import Guard
from cub.actions.run.policy import Fate
from cub.actions.run.run import Run
from cub.actions.tasks.status import finish, set_back
from cub.actions.tasks.work import Work
from cub.store.change import changed
from cub.store.events import Event
from cub.store.spelling import CLOSED


class Told(NamedTuple):
    """What the task's status is now, and what there is to tell a person."""

    fate: Fate
    said: list[str]


def tell(run: Run, key: str, ended: Fate, event: Event, guard: Guard, *, no_change: bool) -> Told:
    """Give the task its status, and the ledger the attempt."""
    with run.stores.changing() as work:
        said = guard.restore_tasks(work.change, key, run.now)
        others = not guard.is_claimed(key, run.opened.who)
        said += [] if others else _restore_deleted(work, key)
        if key in work.tasks:
            said += _restore_checks(run, work, key)
            _give(work, key, ended, no_change=no_change, others=others)
            if (status := work.tasks[key].status) != ended.status:
                ended = Fate(status)  # what somebody else did meanwhile stands
        work.outcome.events.append(event)
    said += [*work.outcome.said, *(warning.message for warning in work.outcome.warnings)]
    return Told(ended, said)


def _give(work: Work, key: str, ended: Fate, *, no_change: bool, others: bool) -> None:
    """The status; what a person did meanwhile stands, but that a task is done."""
    if ended.status != CLOSED:
        if not others:
            set_back(work, key, ended.status, ended.why)
    elif not (others and work.tasks[key].closed):
        finish(work, key, NO_CHANGE if no_change else "done")


def _restore_deleted(work: Work, key: str) -> list[str]:
    """Bring a task back that its agent marked as deleted by hand."""
    if key not in work.tasks.deleted:
        return []
    work.change.put(changed(work.tasks.record(key), {"deleted_at": None}, work.now))
    return [f"the task {key} was deleted by hand, and is back"]


def _restore_checks(run: Run, work: Work, key: str) -> list[str]:
    """Give a task the checks again that it had when the run began, if it has lost one."""
    record = work.tasks.record(key)
    lost = run.agreed.lost(record)
    if not lost:
        return []
    work.change.put(changed(record, {"checks": list(lost)}, work.now))
    return [f"the checks of {key} were changed, and are back"]
