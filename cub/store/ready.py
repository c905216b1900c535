"""Which tasks can be begun, in which order; and what keeps the others from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from cub.store.briefs import Brief
from cub.store.graph import cycles
from cub.store.jsonl import Record
from cub.store.spelling import IN_PROGRESS, OPEN, RETRY
from cub.store.tasks import Tasks

Lapsed = Callable[[Record | None], bool]


class Ready(NamedTuple):
    """Tasks to begin, the first one first; and what can never be begun unless somebody mends it:
    circles of tasks that wait for each other, and ids that are waited for and don't exist.
    """

    briefs: list[Brief]
    cycles: list[list[str]]
    dangling: dict[str, list[str]]


def ready(tasks: Tasks, lapsed: Lapsed) -> Ready:
    """Tasks that are open or to be tried again, or whose lease has lapsed, and wait for nothing.

    In order: priority, fresh before tried, how many tasks wait for it, the elder, the id.
    """
    waited_for: dict[str, int] = {}
    free: list[Brief] = []
    known = tasks.briefs
    waiting: dict[str, list[str]] = {}
    dangling: dict[str, list[str]] = {}
    for task in tasks:
        if task.closed:
            continue
        needs = blockers(task, tasks) if task.depends_on else []
        if needs:
            waiting[task.id] = needs
            for key in needs:
                waited_for[key] = waited_for.get(key, 0) + 1
            if missing := [key for key in needs if key not in known]:
                dangling[task.id] = missing
        elif not task.is_epic and startable(task, lapsed):
            free.append(task)
    free.sort(key=lambda task: _place(task, waited_for))
    return Ready(free, cycles(waiting), dangling)


def _place(task: Brief, waited_for: Mapping[str, int]) -> tuple[object, ...]:
    tried, unblocks = task.status == RETRY, waited_for.get(task.id, 0)
    return task.priority, tried, -unblocks, task.created_at or "~", task.id


def startable(task: Brief, lapsed: Lapsed) -> bool:
    """Whether a task is nobody's."""
    return task.status in (OPEN, RETRY) or (task.status == IN_PROGRESS and lapsed(task.lease))


def blockers(task: Brief, tasks: Tasks) -> list[str]:
    """What a task waits for: dependencies that are not done, or don't exist."""
    found = tasks.briefs
    return [key for key in task.depends_on if key not in found or not found[key].done]
