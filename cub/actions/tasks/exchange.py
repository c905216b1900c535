"""Tasks of other tools taken in, and given back: new ones are added, known ones brought up to
what has changed at their source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from cub.actions.tasks.findings import as_warnings, of_graph, of_parents
from cub.actions.tasks.stores import Stores, told
from cub.actions.tasks.work import Outcome, state_event
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.store.change import changed
from cub.store.formats import Imported, write_tasks
from cub.store.formats.origin import origin_of
from cub.store.formats.picking import ORIGIN
from cub.store.jsonl import Record
from cub.store.moments import moment
from cub.store.ready import ready
from cub.store.spelling import CLOSED, OPEN, PARKED, RETRY
from cub.store.tasks import Tasks

# What a store keeps for itself, and what a change sets anew.
_OURS = {"id", "rev", "stamps", "lease", "created_at", "updated_at", "reopened_at"}
_STATUS = ("status", "close_reason", "closed_at")
# One value, which the source has no more if it does not say it.
_SINGLE = ("parent", "assignee")
_MOST = 10


class Taken(NamedTuple):
    """What an import did, or would do: tasks that are new, that changed, and how many did not."""

    format: str
    added: list[Record]
    changed: list[Record]
    unchanged: int
    outcome: Outcome


class Exported(NamedTuple):
    """Tasks as a file: its bytes, how many tasks are in it, and warnings."""

    data: bytes
    total: int
    warnings: list[PlanWarning]


def take(stores: Stores, found: Imported, where: str, *, dry_run: bool = False) -> Taken:
    """Take in the tasks of a file, all in one change; CubError if a part of it can't be read."""
    _require_whole(found, where)
    if dry_run:
        tasks = stores.backend.read()
        taken = _taken(stores, tasks, found, Outcome(warnings=told(tasks)))
        for record in (*taken.added, *taken.changed):
            tasks.put(record)
        return _warned(stores, tasks, found, taken)
    with stores.changing() as work:
        taken = _taken(stores, work.tasks, found, work.outcome)
        for record in (*taken.added, *taken.changed):
            work.change.put(record)
        _warned(stores, work.tasks, found, taken)
    return taken


def export(stores: Stores, format: str) -> Exported:  # noqa: A002
    """All tasks as a file of a format."""
    tasks = stores.backend.read()
    records = [tasks.record(key) for key in tasks.briefs]
    return Exported(write_tasks(records, format), len(records), told(tasks))


def _require_whole(found: Imported, where: str) -> None:
    """Half of a file is not what was asked for."""
    if not found.rejected:
        return
    first, *more = found.rejected
    details = [f"{where}:{other.line.number}: {other.reason}" for other in more[:_MOST]]
    details += [f"and {len(more) - _MOST:,} more"] if len(more) > _MOST else []
    raise CubError(
        first.reason,
        where=f"{where}:{first.line.number}",
        hint="mend the line or take it out, and import again; nothing was imported",
        details=details,
    )


def _taken(stores: Stores, tasks: Tasks, found: Imported, outcome: Outcome) -> Taken:
    taken = Taken(found.format, [], [], 0, outcome)
    unchanged = 0
    for record in found.records:
        key = record["id"]
        if key in tasks.deleted:
            outcome.said.append(f"{key} stays deleted.")
            continue
        if key not in tasks:
            taken.added.append(record)
            continue
        before = tasks.record(key)
        after = changed(before, _news(before, record, found.format, outcome), stores.now)
        unchanged += after is before
        if after is not before:
            taken.changed.append(after)
        if after["status"] != before["status"]:
            outcome.events.append(state_event(after, stores.who, "import"))
    outcome.tasks += [*taken.added, *taken.changed]
    return taken._replace(unchanged=unchanged)


def _news(before: Record, record: Record, name: str, outcome: Outcome) -> dict[str, Any]:
    """What is to change of a task: nothing where its source says what it said the last time, or
    is older.
    """
    then, now = origin_of(before, name), origin_of(record, name)
    if then and then.get("digest") == now.get("digest"):
        return {ORIGIN: now}
    if not then and _older(record, before):
        return {}
    values = {key: value for key, value in record.items() if key not in _OURS}
    if then:
        values |= {key: None for key in _SINGLE if key not in record and key in before}
    if record["status"] == CLOSED:
        return {**values, "lease": None}
    kept = _kept(before, record)
    if kept and before["status"] in (CLOSED, PARKED) and record["status"] != before["status"]:
        there = f"in the file it is {record['status']}"
        outcome.said.append(f"{record['id']} stays {before['status']}; {there}.")
    return {key: value for key, value in values.items() if key not in kept}


def _kept(before: Record, record: Record) -> tuple[str, ...]:
    """What stays as it is here, of a task that is not closed at its source: nothing opens what
    was closed or set aside, or frees what somebody here works on.
    """
    if "lease" in before:
        return (*_STATUS, "assignee")
    stays = (CLOSED,) if record["status"] != OPEN else (CLOSED, PARKED, RETRY)
    return _STATUS if before["status"] in stays else ()


def _older(record: Record, before: Record) -> bool:
    """Whether a task has not changed, where it comes from, since it changed here."""
    there, here = (moment(one.get("updated_at")) for one in (record, before))
    return bool(there and here) and there <= here


def _warned(stores: Stores, tasks: Tasks, found: Imported, taken: Taken) -> Taken:
    """Of the imported tasks, those that can never begin; and those that got another id."""
    keys = {record["id"] for record in found.records}
    wrong = [*of_graph(ready(tasks, stores.watch.lapsed), tasks.deleted), *of_parents(tasks)]
    taken.outcome.warnings += as_warnings(one for one in wrong if one.task in keys)
    taken.outcome.warnings += _renamed(found.renamed)
    return taken


def _renamed(keys: Sequence[str]) -> Iterator[PlanWarning]:
    for key in keys[:_MOST]:
        yield PlanWarning(f"two tasks have one id: the second one is {key} here")
    if len(keys) > _MOST:
        yield PlanWarning(f"and {len(keys) - _MOST:,} more tasks that had the id of another")
