"""Questions about tasks: which there are, which can be begun, and how the work stands.

Which tasks say a text: the search of `cub task list`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from cub.actions.tasks.stores import Stores, warn_unreadable_tasks
from cub.actions.tasks.task_findings import find_unreachable_tasks, to_warnings
from cub.edit.plan import PlanWarning
from cub.errors import UsageError
from cub.store.dependencies import find_ready_tasks, list_blockers
from cub.store.jsonl import Record
from cub.store.task_index import TaskIndex, TaskSummary
from cub.store.task_schema import (
    DELETED,
    IN_PROGRESS,
    OPEN,
    PARKED,
    RETRY,
    STATUSES,
    normalize_status,
)

_ALL = "all"
_ORDER = {status: n for n, status in enumerate((IN_PROGRESS, OPEN, RETRY, PARKED))}


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Which tasks to list. Without a status, those that are not closed."""

    statuses: tuple[str, ...] = ()
    epic: str = ""
    label: str = ""
    search: str = ""


@dataclass(slots=True)
class TaskList:
    """Tasks in their order, how many closed ones are left out, and warnings."""

    tasks: TaskIndex
    summaries: list[TaskSummary]
    hidden_count: int = 0
    warnings: list[PlanWarning] = field(default_factory=list)

    def iter_records(self) -> Iterator[Record]:
        """The whole tasks, one by one."""
        return (self.tasks.read_raw_record(row.id) for row in self.summaries)

    def list_blockers_of(self, summary: TaskSummary) -> list[str]:
        """What a task of these waits for."""
        return list_open_blockers(summary, self.tasks)


class TaskDetails(NamedTuple):
    """A task and how it stands to others: what it waits for, what waits for it, its parts."""

    record: Record
    waits_for: list[str]
    blocks: list[str]
    children: list[Record]
    parent: Record | None
    warnings: list[PlanWarning]


def list_tasks(stores: Stores, task_filter: TaskFilter) -> TaskList:
    """The tasks that a filter lets through: those at work first, closed ones last."""
    tasks = stores.backend.read_tasks()
    wanted = _statuses(task_filter.statuses, tasks)
    rows = [*tasks, *(tasks.deleted_summaries.values() if DELETED in wanted else ())]
    if task_filter.epic:
        rows = list_descendants(tasks.find_id(task_filter.epic), rows)
    if task_filter.label:
        rows = [
            row for row in rows if task_filter.label in tasks.read_record(row.id).get("labels", ())
        ]
    if task_filter.search:
        rows = search_tasks(tasks, rows, task_filter.search)
    kept = [row for row in rows if _is_wanted(row, wanted)]
    kept.sort(key=_sort_key)
    hidden = 0 if wanted else len(rows) - len(kept)
    return TaskList(tasks, kept, hidden, warn_unreadable_tasks(tasks))


def list_open_blockers(summary: TaskSummary, tasks: TaskIndex) -> list[str]:
    """What keeps a task from being begun; one that is closed or deleted waits for nothing."""
    idle = summary.is_closed or summary.is_deleted or not summary.depends_on
    return [] if idle else list_blockers(summary, tasks)


def list_ready_tasks(stores: Stores, limit: int | None = None) -> TaskList:
    """The tasks that can be begun, the first one first; warnings name what never can be."""
    tasks = stores.backend.read_tasks()
    answer = find_ready_tasks(tasks, stores.lease_checker.is_expired)
    rows = answer.summaries if limit is None else answer.summaries[:limit]
    return TaskList(
        tasks,
        rows,
        0,
        [
            *warn_unreadable_tasks(tasks),
            *to_warnings(find_unreachable_tasks(answer, tasks.deleted_summaries)),
        ],
    )


def read_task_details(stores: Stores, task_id: str) -> TaskDetails:
    """One task with all that is around it."""
    tasks = stores.backend.read_tasks()
    row = tasks[tasks.find_id(task_id)]
    parent = tasks.read_record(row.parent) if row.parent in tasks else None
    blocks = [other.id for other in tasks if row.id in other.depends_on and not other.is_closed]
    waits = list_open_blockers(row, tasks)
    children = [
        tasks.read_raw_record(child.id)
        for child in sorted(tasks.list_children(row.id), key=_sort_key)
    ]
    return TaskDetails(
        tasks.read_record(row.id), waits, blocks, children, parent, warn_unreadable_tasks(tasks)
    )


class TaskStats(NamedTuple):
    """How many tasks there are, by what; of each epic, how many tasks it has and are closed."""

    statuses: dict[str, int]
    types: dict[str, int]
    priorities: dict[int, int]
    ready: int
    blocked: int
    epics: dict[str, tuple[int, int]]
    warnings: list[PlanWarning]


def count_tasks(stores: Stores) -> TaskStats:
    """All tasks, counted."""
    tasks = stores.backend.read_tasks()
    answer = find_ready_tasks(tasks, stores.lease_checker.is_expired)
    open_ = [row for row in tasks if row.status in (OPEN, RETRY) and not row.is_epic]
    epics: dict[str, tuple[int, int]] = {row.id: (0, 0) for row in tasks if row.is_epic}
    for row in tasks:
        if row.parent in epics:
            closed, count = epics[row.parent]
            epics[row.parent] = closed + row.is_closed, count + 1
    free = {row.id for row in answer.summaries}
    return TaskStats(
        _count_words((row.status for row in tasks), STATUSES),
        _count_words((row.type for row in tasks), ()),
        dict(sorted(Counter(row.priority for row in tasks if not row.is_closed).items())),
        len(free),
        sum(row.id not in free for row in open_),
        epics,
        warn_unreadable_tasks(tasks),
    )


def _count_words(words: Iterable[str], first: tuple[str, ...]) -> dict[str, int]:
    counts = Counter(words)
    return {
        word: counts[word] for word in (*first, *sorted(set(counts) - set(first))) if counts[word]
    }


def list_descendants(task_id: str, tasks: Iterable[TaskSummary]) -> list[TaskSummary]:
    """The parts of a task, and theirs."""
    parts: dict[str, list[TaskSummary]] = {}
    for row in tasks:
        parts.setdefault(row.parent, []).append(row)
    found: dict[str, TaskSummary] = {}
    work = [task_id]
    while work:
        fresh = [row for row in parts.pop(work.pop(), ()) if row.id != task_id]
        found |= {row.id: row for row in fresh}
        work += [row.id for row in fresh]
    return [*found.values()]


def _statuses(words: tuple[str, ...], tasks: TaskIndex) -> set[str]:
    """What the words mean; a word of another tool's is one that a task has."""
    own = (*STATUSES, _ALL, DELETED)
    wanted = {word if word in own else str(normalize_status(word)) for word in words}
    unknown = wanted - {*own} - {row.status for row in tasks}
    if unknown:
        hint = f"there are: {', '.join(own)}"
        raise UsageError(f"no task has the status {min(unknown)!r}", hint=hint)
    return wanted


def _is_wanted(summary: TaskSummary, wanted: set[str]) -> bool:
    if summary.is_deleted:
        return True  # they are looked at only if they are asked for
    return summary.status in wanted or _ALL in wanted if wanted else not summary.is_closed


def _sort_key(summary: TaskSummary) -> tuple[object, ...]:
    return (
        summary.is_closed,
        _ORDER.get(summary.status, len(_ORDER)),
        summary.priority,
        summary.created_at,
        summary.id,
    )


_TEXTS = ("id", "title", "description", "notes")
_LISTS = ("labels", "acceptance_criteria")
# What JSON may spell in another way than by itself: `\"`, `\\`, `\/`, `\n`, `\ud800`.
_ESCAPED = re.compile('["\\\\/\x00-\x1f\x7f\ud800-\udfff]')


def search_tasks(
    tasks: TaskIndex, summaries: Iterable[TaskSummary], text: str
) -> list[TaskSummary]:
    """The tasks that have `text` in their id, title, description, notes, labels or criteria,
    whatever the case of its letters.
    """
    wanted = text.casefold()
    by_line = not _ESCAPED.search(wanted)
    return [
        row
        for row in summaries
        if (not by_line or _may_say(tasks, row.id, wanted))
        and _says(tasks.read_raw_record(row.id), wanted)
    ]


def _may_say(tasks: TaskIndex, key: str, wanted: str) -> bool:
    """Whether the line of a task has the text anywhere, which is known without parsing it."""
    if key in tasks.changed_records:
        return True
    line = tasks.read_line(key)
    return b"\\u" in line or wanted in line.decode("utf-8", "replace").casefold()


def _says(record: Record, wanted: str) -> bool:
    if any(wanted in str(record.get(key) or "").casefold() for key in _TEXTS):
        return True
    return any(wanted in str(one).casefold() for key in _LISTS for one in record.get(key) or ())
