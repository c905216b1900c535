"""Questions about tasks: which there are, which can be begun, and how the work stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from cub.actions.tasks.findings import as_warnings, of_graph
from cub.actions.tasks.search import matching
from cub.actions.tasks.stores import Stores, told
from cub.edit.plan import PlanWarning
from cub.errors import UsageError
from cub.store.briefs import Brief
from cub.store.jsonl import Record
from cub.store.ready import blockers, ready
from cub.store.spelling import DELETED, IN_PROGRESS, OPEN, PARKED, RETRY, STATUSES, status_of
from cub.store.tasks import Tasks

_ALL = "all"
_ORDER = {status: n for n, status in enumerate((IN_PROGRESS, OPEN, RETRY, PARKED))}


@dataclass(frozen=True, slots=True)
class Filter:
    """Which tasks to list. Without a status, those that are not closed."""

    statuses: tuple[str, ...] = ()
    epic: str = ""
    label: str = ""
    search: str = ""


@dataclass(slots=True)
class Found:
    """Tasks in their order, how many closed ones are left out, and warnings."""

    tasks: Tasks
    rows: list[Brief]
    hidden: int = 0
    warnings: list[PlanWarning] = field(default_factory=list)

    def records(self) -> Iterator[Record]:
        """The whole tasks, one by one."""
        return (self.tasks.seen(row.id) for row in self.rows)

    def waits_for(self, row: Brief) -> list[str]:
        """What a task of these waits for."""
        return waits_for(row, self.tasks)


class Shown(NamedTuple):
    """A task and how it stands to others: what it waits for, what waits for it, its parts."""

    record: Record
    waits_for: list[str]
    blocks: list[str]
    children: list[Record]
    parent: Record | None
    warnings: list[PlanWarning]


def listed(stores: Stores, which: Filter) -> Found:
    """The tasks that a filter lets through: those at work first, closed ones last."""
    tasks = stores.backend.read()
    wanted = _statuses(which.statuses, tasks)
    rows = [*tasks, *(tasks.deleted.values() if DELETED in wanted else ())]
    if which.epic:
        rows = below(tasks.find(which.epic), rows)
    if which.label:
        rows = [row for row in rows if which.label in tasks.record(row.id).get("labels", ())]
    if which.search:
        rows = matching(tasks, rows, which.search)
    kept = [row for row in rows if _is_wanted(row, wanted)]
    kept.sort(key=_place)
    hidden = 0 if wanted else len(rows) - len(kept)
    return Found(tasks, kept, hidden, told(tasks))


def waits_for(row: Brief, tasks: Tasks) -> list[str]:
    """What keeps a task from being begun; one that is closed or deleted waits for nothing."""
    idle = row.closed or row.deleted or not row.depends_on
    return [] if idle else blockers(row, tasks)


def startable(stores: Stores, limit: int | None = None) -> Found:
    """The tasks that can be begun, the first one first; warnings name what never can be."""
    tasks = stores.backend.read()
    answer = ready(tasks, stores.watch.lapsed)
    rows = answer.briefs if limit is None else answer.briefs[:limit]
    return Found(tasks, rows, 0, [*told(tasks), *as_warnings(of_graph(answer, tasks.deleted))])


def shown(stores: Stores, key: str) -> Shown:
    """One task with all that is around it."""
    tasks = stores.backend.read()
    row = tasks[tasks.find(key)]
    parent = tasks.record(row.parent) if row.parent in tasks else None
    blocks = [other.id for other in tasks if row.id in other.depends_on and not other.closed]
    waits = waits_for(row, tasks)
    children = [tasks.seen(child.id) for child in sorted(tasks.children(row.id), key=_place)]
    return Shown(tasks.record(row.id), waits, blocks, children, parent, told(tasks))


class Stats(NamedTuple):
    """How many tasks there are, by what; of each epic, how many tasks it has and are closed."""

    statuses: dict[str, int]
    types: dict[str, int]
    priorities: dict[int, int]
    ready: int
    blocked: int
    epics: dict[str, tuple[int, int]]
    warnings: list[PlanWarning]


def stats(stores: Stores) -> Stats:
    """All tasks, counted."""
    tasks = stores.backend.read()
    answer = ready(tasks, stores.watch.lapsed)
    open_ = [row for row in tasks if row.status in (OPEN, RETRY) and not row.is_epic]
    epics: dict[str, tuple[int, int]] = {row.id: (0, 0) for row in tasks if row.is_epic}
    for row in tasks:
        if row.parent in epics:
            closed, count = epics[row.parent]
            epics[row.parent] = closed + row.closed, count + 1
    free = {row.id for row in answer.briefs}
    return Stats(
        _counted((row.status for row in tasks), STATUSES),
        _counted((row.type for row in tasks), ()),
        dict(sorted(Counter(row.priority for row in tasks if not row.closed).items())),
        len(free),
        sum(row.id not in free for row in open_),
        epics,
        told(tasks),
    )


def _counted(words: Iterable[str], first: tuple[str, ...]) -> dict[str, int]:
    counts = Counter(words)
    return {
        word: counts[word] for word in (*first, *sorted(set(counts) - set(first))) if counts[word]
    }


def below(key: str, tasks: Iterable[Brief]) -> list[Brief]:
    """The parts of a task, and theirs."""
    parts: dict[str, list[Brief]] = {}
    for row in tasks:
        parts.setdefault(row.parent, []).append(row)
    found: dict[str, Brief] = {}
    work = [key]
    while work:
        fresh = [row for row in parts.pop(work.pop(), ()) if row.id != key]
        found |= {row.id: row for row in fresh}
        work += [row.id for row in fresh]
    return [*found.values()]


def _statuses(words: tuple[str, ...], tasks: Tasks) -> set[str]:
    """What the words mean; a word of another tool's is one that a task has."""
    own = (*STATUSES, _ALL, DELETED)
    wanted = {word if word in own else str(status_of(word)) for word in words}
    unknown = wanted - {*own} - {row.status for row in tasks}
    if unknown:
        hint = f"there are: {', '.join(own)}"
        raise UsageError(f"no task has the status {min(unknown)!r}", hint=hint)
    return wanted


def _is_wanted(row: Brief, wanted: set[str]) -> bool:
    if row.deleted:
        return True  # they are looked at only if they are asked for
    return row.status in wanted or _ALL in wanted if wanted else not row.closed


def _place(row: Brief) -> tuple[object, ...]:
    return row.closed, _ORDER.get(row.status, len(_ORDER)), row.priority, row.created_at, row.id
