"""Answer questions about tasks: list, search and count them, and show one with its neighbors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cub.actions.tasks.stores import Stores, warn_unreadable_tasks
from cub.actions.tasks.task_findings import find_unreachable_tasks, to_warnings
from cub.edit.plan import PlanWarning
from cub.errors import CubError, UsageError
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
from cub.text import join_first

_ALL = "all"
_ORDER = {status: n for n, status in enumerate((IN_PROGRESS, OPEN, RETRY, PARKED))}
_TEXTS = ("id", "title", "description", "notes")
_LISTS = ("labels", "acceptance_criteria")


@dataclass(slots=True)
class TaskList:
    """Hold tasks in their order, how many closed ones are left out, and warnings."""

    tasks: TaskIndex
    summaries: list[TaskSummary]
    hidden_count: int = 0
    warnings: list[PlanWarning] = field(default_factory=list)

    def iter_records(self) -> Iterator[Record]:
        """Yield the whole tasks."""
        return (self.tasks.read_raw_record(task.id) for task in self.summaries)

    def list_blockers_of(self, summary: TaskSummary) -> list[str]:
        """Return what one of the tasks waits for."""
        return list_open_blockers(summary, self.tasks)


class TaskDetails(NamedTuple):
    """Hold a task, what it waits for, what waits for it, and its children and parent."""

    record: Record
    waits_for: list[str]
    blocks: list[str]
    children: list[Record]
    parent: Record | None
    warnings: list[PlanWarning]


def list_tasks(
    stores: Stores,
    wanted: Sequence[str] = (),
    *,
    epic: str = "",
    label: str = "",
    search: str = "",
) -> TaskList:
    """Return the tasks with the statuses that are `wanted`, or those that are not closed.

    Those in progress come first, closed ones last.
    """
    tasks = stores.backend.read_tasks()
    statuses = _parse_statuses(wanted, tasks)
    summaries = [*tasks, *(tasks.deleted_summaries.values() if DELETED in statuses else ())]
    if epic:
        summaries = list_descendants(find_epic(tasks, epic), summaries)
    if label:
        read = tasks.read_record
        summaries = [task for task in summaries if label in read(task.id).get("labels", ())]
    if search:
        summaries = search_tasks(tasks, summaries, search)
    selected = [summary for summary in summaries if _is_selected(summary, statuses)]
    selected.sort(key=_sort_key)
    hidden_count = 0 if statuses else len(summaries) - len(selected)
    return TaskList(tasks, selected, hidden_count, warn_unreadable_tasks(tasks))


def find_epic(tasks: TaskIndex, text: str) -> str:
    """Return the id of an epic, or of another task that has parts. Raises CubError for none."""
    key = tasks.find_id(text)
    if tasks[key].is_epic or tasks.list_children(key):
        return key
    epics = [task.id for task in tasks if task.is_epic and not task.is_closed]
    known = f"choose from {join_first(epics)}"
    hint = known if epics else 'to add one, run `cub task add "…" --type epic`'
    raise CubError(f"{key} is not an epic", hint=hint)


def list_open_blockers(summary: TaskSummary, tasks: TaskIndex) -> list[str]:
    """Return what a task waits for; a closed or deleted one waits for nothing."""
    idle = summary.is_closed or summary.is_deleted or not summary.depends_on
    return [] if idle else list_blockers(summary, tasks)


def list_ready_tasks(stores: Stores, limit: int | None = None) -> TaskList:
    """Return the tasks that can be started, the first one first, with warnings of stuck ones."""
    tasks = stores.backend.read_tasks()
    ready = find_ready_tasks(tasks, stores.lease_checker.is_expired)
    warnings = warn_unreadable_tasks(tasks)
    warnings += to_warnings(find_unreachable_tasks(ready, tasks.deleted_summaries))
    return TaskList(tasks, ready.summaries[:limit], 0, warnings)


def read_task_details(stores: Stores, task_id: str) -> TaskDetails:
    """Return one task with its neighbors."""
    tasks = stores.backend.read_tasks()
    summary = tasks[tasks.find_id(task_id)]
    parent = tasks.read_record(summary.parent) if summary.parent in tasks else None
    blocks = [other.id for other in tasks if summary.id in other.depends_on and not other.is_closed]
    blockers = list_open_blockers(summary, tasks)
    ordered = sorted(tasks.list_children(summary.id), key=_sort_key)
    children = [tasks.read_raw_record(child.id) for child in ordered]
    record, warnings = tasks.read_record(summary.id), warn_unreadable_tasks(tasks)
    return TaskDetails(record, blockers, blocks, children, parent, warnings)


class TaskStats(NamedTuple):
    """Count tasks by status, type and priority; `epics` has closed and all tasks of each epic."""

    statuses: dict[str, int]
    types: dict[str, int]
    priorities: dict[int, int]
    ready: int
    blocked: int
    epics: dict[str, tuple[int, int]]
    warnings: list[PlanWarning]


def count_tasks(stores: Stores) -> TaskStats:
    """Count all tasks."""
    tasks = stores.backend.read_tasks()
    ready = find_ready_tasks(tasks, stores.lease_checker.is_expired)
    startable = [task for task in tasks if task.status in (OPEN, RETRY) and not task.is_epic]
    epics: dict[str, tuple[int, int]] = {task.id: (0, 0) for task in tasks if task.is_epic}
    for task in tasks:
        if task.parent in epics:
            closed, count = epics[task.parent]
            epics[task.parent] = closed + task.is_closed, count + 1
    ready_ids = {task.id for task in ready.summaries}
    return TaskStats(
        _count_words((task.status for task in tasks), STATUSES),
        _count_words((task.type for task in tasks), ()),
        dict(sorted(Counter(task.priority for task in tasks if not task.is_closed).items())),
        len(ready_ids),
        sum(task.id not in ready_ids for task in startable),
        epics,
        warn_unreadable_tasks(tasks),
    )


def _count_words(words: Iterable[str], first: tuple[str, ...]) -> dict[str, int]:
    counts = Counter(words)
    return {
        word: counts[word] for word in (*first, *sorted(set(counts) - set(first))) if counts[word]
    }


def list_descendants(task_id: str, tasks: Iterable[TaskSummary]) -> list[TaskSummary]:
    """Return the parts of a task, and theirs."""
    parts: dict[str, list[TaskSummary]] = {}
    for task in tasks:
        parts.setdefault(task.parent, []).append(task)
    descendants: dict[str, TaskSummary] = {}
    work = [task_id]
    while work:
        children = [task for task in parts.pop(work.pop(), ()) if task.id != task_id]
        descendants |= {task.id: task for task in children}
        work += [task.id for task in children]
    return [*descendants.values()]


def _parse_statuses(words: Sequence[str], tasks: TaskIndex) -> set[str]:
    """Return the statuses that words mean; another tool's word must be that of a task."""
    own = (*STATUSES, _ALL, DELETED)
    statuses = {word if word in own else str(normalize_status(word)) for word in words}
    unknown = statuses - {*own} - {task.status for task in tasks}
    if unknown:
        hint = f"choose from {', '.join(own)}"
        raise UsageError(f"unknown status {min(unknown)!r}", hint=hint)
    return statuses


def _is_selected(summary: TaskSummary, statuses: set[str]) -> bool:
    if summary.is_deleted:
        return True  # they are listed only on request
    return summary.status in statuses or _ALL in statuses if statuses else not summary.is_closed


def _sort_key(summary: TaskSummary) -> tuple[object, ...]:
    place = _ORDER.get(summary.status, len(_ORDER))
    return summary.is_closed, place, summary.priority, summary.created_at, summary.id


def search_tasks(
    tasks: TaskIndex, summaries: Iterable[TaskSummary], text: str
) -> list[TaskSummary]:
    """Return the tasks that have `text`, in any case, in id, title, texts, labels or criteria."""
    needle = text.casefold()
    return [task for task in summaries if _contains(tasks.read_raw_record(task.id), needle)]


def _contains(record: Record, needle: str) -> bool:
    if any(needle in str(record.get(key) or "").casefold() for key in _TEXTS):
        return True
    return any(needle in str(item).casefold() for key in _LISTS for item in record.get(key) or ())
