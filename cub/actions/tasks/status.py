"""The statuses that a task goes through: claimed, closed, reopened, parked; epics follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cub.actions.tasks.stores import Outcome, Stores, noted, state_event
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.store.backend import Change
from cub.store.briefs import Brief
from cub.store.change import changed, next_moment
from cub.store.ids import find
from cub.store.jsonl import Record
from cub.store.lease import lease
from cub.store.moments import moment
from cub.store.ready import blockers, startable
from cub.store.spelling import CLOSED, IN_PROGRESS, OPEN, PARKED
from cub.store.tasks import Tasks

Values = Callable[[Record], dict[str, Any]]
_NOBODY = {"lease": None, "assignee": None}


def claim(stores: Stores, key: str) -> Outcome:
    """Take a task for the one who asks, unless it is somebody else's."""
    with stores.changing() as (change, outcome):
        tasks = change.tasks
        row = tasks[find(key, tasks.briefs)]
        before = tasks.record(row.id)
        _require_claimable(stores, row, before)
        values = {"status": IN_PROGRESS, "assignee": stores.who, "lease": lease(stores.now)}
        _put(stores, change, outcome, row.id, values)
        if waits := blockers(row, tasks):
            what = f"{row.id} waits for {', '.join(waits)}"
            outcome.warnings.append(PlanWarning(what))
        if row.status == IN_PROGRESS and before.get("assignee") not in (None, stores.who):
            outcome.said.append(f"The lease of {before['assignee']} has lapsed.")
    return outcome


def close(stores: Stores, keys: Sequence[str], reason: str | None, note: str = "") -> Outcome:
    """Close tasks, and every epic whose tasks are all done by that."""
    with stores.changing() as (change, outcome):
        for key in _all(keys, change.tasks):
            row = change.tasks[key]
            if row.closed and reason in (None, row.reason):
                record = change.tasks.record(key)
                outcome.tell(record, f"{key} is closed already ({row.reason or 'done'}).")
                continue
            _close(stores, change, outcome, key, reason or "done", note)
            _tell_open_children(change.tasks, outcome, row)
            _close_parents(stores, change, outcome, key)
    return outcome


def reopen(stores: Stores, keys: Sequence[str]) -> Outcome:
    """Give tasks back to everybody, whether they are closed, parked or claimed."""
    with stores.changing() as (change, outcome):
        for key in _all(keys, change.tasks):
            if change.tasks[key].status == OPEN:
                outcome.tell(change.tasks.record(key), f"{key} is open already.")
                continue
            release(stores, change, outcome, key)
            reopen_parents(stores, change, outcome, change.tasks.record(key))
    return outcome


def park(stores: Stores, keys: Sequence[str], note: str = "") -> Outcome:
    """Set tasks aside until somebody reopens them; what waits for them waits on."""
    with stores.changing() as (change, outcome):
        for key in _all(keys, change.tasks):
            row = change.tasks[key]
            if row.closed:
                raise CubError(f"{key} is closed", hint=f"`cub task reopen {key}` comes first")
            if row.status == PARKED and not note.strip():
                outcome.tell(change.tasks.record(key), f"{key} is parked already.")
                continue
            _put(stores, change, outcome, key, {"status": PARKED, **_NOBODY}, note)
    return outcome


def reopen_parents(stores: Stores, change: Change, outcome: Outcome, record: Record) -> None:
    """An epic with something to do is not closed."""
    parent = str(record.get("parent") or "")
    while parent in change.tasks and change.tasks[parent].is_epic and change.tasks[parent].closed:
        release(stores, change, outcome, parent, f"The epic {parent} is open again.")
        parent = change.tasks[parent].parent


def _close(
    stores: Stores,
    change: Change,
    outcome: Outcome,
    key: str,
    reason: str,
    note: str = "",
    sentence: str = "",
) -> None:
    at = next_moment(change.tasks.record(key), stores.now)
    values = {"status": CLOSED, "close_reason": reason, "closed_at": at, "lease": None}
    _put(stores, change, outcome, key, values, note, sentence)


def _close_parents(stores: Stores, change: Change, outcome: Outcome, key: str) -> None:
    """An epic is done with its last task. If one of them never will be, a person decides."""
    tasks = change.tasks
    parent = tasks[key].parent
    while parent in tasks and tasks[parent].is_epic and not tasks[parent].closed:
        children = tasks.children(parent)
        undone = sum(not row.done for row in children)
        if not all(row.closed for row in children):
            return
        if undone:
            which = "one of them" if undone == 1 else f"{undone} of them"
            outcome.said.append(
                f"All tasks of the epic {parent} are closed, {which} undone: "
                f"`cub task close {parent}` closes it."
            )
            return
        sentence = f"The epic {parent} is closed: all of its tasks are done."
        _close(stores, change, outcome, parent, "done", sentence=sentence)
        parent = tasks[parent].parent


def release(stores: Stores, change: Change, outcome: Outcome, key: str, sentence: str = "") -> None:
    """Make a task open and nobody's."""
    values: dict[str, Any] = {"status": OPEN, "close_reason": None, "closed_at": None, **_NOBODY}
    if change.tasks[key].closed:
        values["reopened_at"] = next_moment(change.tasks.record(key), stores.now)
    _put(stores, change, outcome, key, values, sentence=sentence)


def _put(
    stores: Stores,
    change: Change,
    outcome: Outcome,
    key: str,
    values: dict[str, Any],
    note: str = "",
    sentence: str = "",
) -> None:
    before = change.tasks.record(key)
    if note := note.strip():
        values = {**values, "notes": noted(before, stores, note)}
    after = changed(before, values, stores.now)
    change.put(after)
    if sentence:
        outcome.tell(after, sentence)
    else:
        outcome.tasks.append(after)
    if after is not before:
        outcome.events.append(state_event(after, stores.who, note))


def _require_claimable(stores: Stores, row: Brief, record: Record) -> None:
    if row.status in (CLOSED, PARKED):
        raise CubError(f"{row.id} is {row.status}", hint=f"`cub task reopen {row.id}` comes first")
    owner = record.get("assignee")
    if startable(row, stores.watch.lapsed) or owner == stores.who:
        return
    if row.status != IN_PROGRESS:
        what = f"{row.id} has the status {row.status!r}, which cub does not know"
        raise CubError(what, hint=f"`cub task reopen {row.id}` makes it open")
    until = moment((row.lease or {}).get("expires"))
    raise CubError(
        f"{row.id} is claimed by {owner or 'somebody'}" + (f" until {until}" if until else ""),
        hint=f"take another one of `cub task ready`; `cub task reopen {row.id}` gives it back",
    )


def _tell_open_children(tasks: Tasks, outcome: Outcome, row: Brief) -> None:
    left = [child.id for child in tasks.children(row.id) if not child.closed]
    if left:
        few = ", ".join(left[:3]) + (", …" if len(left) > 3 else "")
        outcome.warnings.append(PlanWarning(f"{row.id} is closed, and not so below it: {few}"))


def _all(keys: Sequence[str], tasks: Tasks) -> list[str]:
    return list(dict.fromkeys(find(key, tasks.briefs) for key in keys))
