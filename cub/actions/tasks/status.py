"""The statuses that a task goes through: claimed, closed, reopened, parked; epics follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cub.actions.tasks.stores import Stores
from cub.actions.tasks.work import Outcome, Work
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.store.briefs import Brief
from cub.store.jsonl import Record
from cub.store.lease import lease
from cub.store.moments import moment
from cub.store.ready import blockers, startable
from cub.store.spelling import CLOSED, IN_PROGRESS, OPEN, PARKED
from cub.store.tasks import Tasks

_NOBODY = {"lease": None, "assignee": None}


def claim(stores: Stores, key: str) -> Outcome:
    """Take a task for the one who asks, unless it is somebody else's."""
    with stores.changing() as work:
        tasks = work.tasks
        row = tasks[tasks.find(key)]
        before = tasks.record(row.id)
        _require_claimable(stores, row, before)
        values = {"status": IN_PROGRESS, "assignee": stores.who, "lease": lease(stores.now)}
        work.put(row.id, values)
        if waits := blockers(row, tasks):
            what = f"{row.id} waits for {', '.join(waits)}"
            work.outcome.warnings.append(PlanWarning(what))
        if row.status == IN_PROGRESS and before.get("assignee") not in (None, stores.who):
            work.outcome.said.append(f"The lease of {before['assignee']} has lapsed.")
    return work.outcome


def close(stores: Stores, keys: Sequence[str], reason: str | None, note: str = "") -> Outcome:
    """Close tasks, and every epic whose tasks are all done by that."""
    with stores.changing() as work:
        for key in _all(keys, work.tasks):
            row = work.tasks[key]
            if row.closed and reason in (None, row.reason):
                record = work.tasks.record(key)
                work.outcome.tell(record, f"{key} is closed already ({row.reason or 'done'}).")
                continue
            finish(work, key, reason or "done", note)
            _tell_open_children(work, row)
    return work.outcome


def reopen(stores: Stores, keys: Sequence[str]) -> Outcome:
    """Give tasks back to everybody, whether they are closed, parked, claimed or deleted."""
    with stores.changing() as work:
        tasks = work.tasks
        for key in dict.fromkeys(tasks.deleted_as(key) or tasks.find(key) for key in keys):
            if key in tasks and tasks[key].status == OPEN:
                work.outcome.tell(tasks.record(key), f"{key} is open already.")
                continue
            release(work, key)
            record = tasks.record(key)
            reopen_parents(work, record)
            _tell_deleted_parent(work, record)
    return work.outcome


def park(stores: Stores, keys: Sequence[str], note: str = "") -> Outcome:
    """Set tasks aside until somebody reopens them; what waits for them waits on."""
    with stores.changing() as work:
        for key in _all(keys, work.tasks):
            row = work.tasks[key]
            if row.closed:
                raise CubError(f"{key} is closed", hint=f"`cub task reopen {key}` comes first")
            if row.status == PARKED and not note.strip():
                work.outcome.tell(work.tasks.record(key), f"{key} is parked already.")
                continue
            set_back(work, key, PARKED, note)
    return work.outcome


def reopen_parents(work: Work, record: Record) -> None:
    """An epic with something to do is not closed."""
    parent = str(record.get("parent") or "")
    while parent in work.tasks and work.tasks[parent].is_epic and work.tasks[parent].closed:
        release(work, parent, f"The epic {parent} is open again.")
        parent = work.tasks[parent].parent


def finish(work: Work, key: str, reason: str, note: str = "") -> None:
    """Close a task, and every epic whose tasks are all done by that."""
    _close(work, key, reason, note)
    close_done_parents(work, work.tasks[key].parent)


def _close(work: Work, key: str, reason: str, note: str = "", sentence: str = "") -> None:
    at = work.next_moment(key)
    values = {"status": CLOSED, "close_reason": reason, "closed_at": at, "lease": None}
    work.put(key, values, note, sentence)


def close_done_parents(work: Work, parent: str) -> None:
    """An epic is done with its last task. If one of them never will be, a person decides."""
    tasks = work.tasks
    while parent in tasks and tasks[parent].is_epic and not tasks[parent].closed:
        children = tasks.children(parent)
        undone = sum(not row.done for row in children)
        if not children or not all(row.closed for row in children):
            return
        if undone:
            which = "one of them" if undone == 1 else f"{undone} of them"
            work.outcome.said.append(
                f"All tasks of the epic {parent} are closed, {which} undone: "
                f"`cub task close {parent}` closes it."
            )
            return
        sentence = f"The epic {parent} is closed: all of its tasks are done."
        _close(work, parent, "done", sentence=sentence)
        parent = tasks[parent].parent


def release(work: Work, key: str, sentence: str = "") -> None:
    """Make a task open and nobody's."""
    set_back(work, key, OPEN, sentence=sentence)


def set_back(work: Work, key: str, status: str, note: str = "", sentence: str = "") -> None:
    """Make a task nobody's, with a status that is not closed, whatever it has now; one that was
    deleted is back.
    """
    gone = ("close_reason", "closed_at", "deleted_at")
    values: dict[str, Any] = {"status": status, **dict.fromkeys(gone), **_NOBODY}
    if work.tasks.record(key).get("status") == CLOSED:
        values["reopened_at"] = work.next_moment(key)
    work.put(key, values, note, sentence)


def _require_claimable(stores: Stores, row: Brief, record: Record) -> None:
    if row.status in (CLOSED, PARKED):
        raise CubError(f"{row.id} is {row.status}", hint=f"`cub task reopen {row.id}` comes first")
    known = row.status == IN_PROGRESS or startable(row, stores.watch.lapsed)
    if not known and record.get("assignee") != stores.who:
        what = f"{row.id} has the status {row.status!r}, which cub does not know"
        raise CubError(what, hint=f"`cub task reopen {row.id}` makes it open")
    require_not_claimed(stores, row, record, "take another one of `cub task ready`; ")


def require_not_claimed(stores: Stores, row: Brief, record: Record, hint: str = "") -> None:
    """CubError for a task that somebody else works on."""
    owner = record.get("assignee")
    if row.status != IN_PROGRESS or stores.watch.lapsed(row.lease) or owner == stores.who:
        return
    until = moment((row.lease or {}).get("expires"))
    raise CubError(
        f"{row.id} is claimed by {owner or 'somebody'}" + (f" until {until}" if until else ""),
        hint=f"{hint}`cub task reopen {row.id}` gives it back",
    )


def _tell_deleted_parent(work: Work, record: Record) -> None:
    key, parent = record["id"], record.get("parent")
    if parent in work.tasks.deleted:
        what = f"{key} is a part of {parent}, which was deleted"
        hint = f"`cub task reopen {parent}` brings it back"
        work.outcome.warnings.append(PlanWarning(what, hint=hint))


def _tell_open_children(work: Work, row: Brief) -> None:
    left = [child.id for child in work.tasks.children(row.id) if not child.closed]
    if left:
        few = ", ".join(left[:3]) + (", …" if len(left) > 3 else "")
        work.outcome.warnings.append(PlanWarning(f"{row.id} is closed, and not so below it: {few}"))


def _all(keys: Sequence[str], tasks: Tasks) -> list[str]:
    return list(dict.fromkeys(tasks.find(key) for key in keys))
