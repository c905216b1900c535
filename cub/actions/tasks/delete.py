"""Deleting tasks: which of them may go, and what follows. Their lines stay, and say so: a line that
is not there any more comes back with the next merge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cub.actions.tasks.queries import below
from cub.actions.tasks.status import close_done_parents, require_not_claimed
from cub.actions.tasks.stores import Stores
from cub.actions.tasks.work import Outcome, Work
from cub.errors import CubError
from cub.store.tasks import Tasks

_MOST = 10  # lines of what keeps a task from being deleted


def deletable(
    tasks: Tasks, texts: Iterable[str], *, recursive: bool = False, force: bool = False
) -> list[str]:
    """The ids of the tasks to delete, with their parts if `recursive`.

    CubError, with all reasons, if others are a part of them; or wait for them, unless `force`.
    """
    named = [tasks.find(text) for text in texts]
    parts = [row.id for key in named for row in below(key, tasks)] if recursive else []
    chosen = list(dict.fromkeys([*named, *parts]))
    left = [*_left_parts(tasks, chosen)]
    waiting = [] if force else [*_waiting(tasks, chosen)]
    if left or waiting:
        raise _kept(chosen, left, waiting)
    return chosen


def delete(
    stores: Stores,
    texts: Sequence[str],
    note: str = "",
    *,
    recursive: bool = False,
    force: bool = False,
) -> Outcome:
    """Delete tasks. Epics that have nothing left to do but what is done already are closed."""
    with stores.changing() as work:
        chosen = deletable(work.tasks, texts, recursive=recursive, force=force)
        for key in chosen:
            require_not_claimed(stores, work.tasks[key], work.tasks.record(key))
        rows = [work.tasks[key] for key in chosen]
        for key in chosen:
            values: dict[str, Any] = {"deleted_at": work.next_moment(key), "lease": None}
            work.put(key, values, note)
        _let_go(work, chosen)
        for row in rows:
            if not row.closed:
                close_done_parents(work, row.parent)
    return work.outcome


def _left_parts(tasks: Tasks, chosen: Sequence[str]) -> Iterator[str]:
    gone = set(chosen)
    for row in tasks:
        if row.parent in gone and row.id not in gone:
            yield f"{row.id} is a part of {row.parent}"


def _waiting(tasks: Tasks, chosen: Sequence[str]) -> Iterator[str]:
    """What is not closed and depends on a task that is to go."""
    gone = set(chosen)
    for row in tasks:
        needs = gone.intersection(row.depends_on)
        if needs and row.id not in gone and not row.closed:
            yield f"{row.id} waits for {', '.join(sorted(needs))}"


def _kept(chosen: Sequence[str], left: list[str], waiting: list[str]) -> CubError:
    which = chosen[0] if len(chosen) == 1 else "these tasks"
    ways = ["--recursive deletes the parts, too"] * bool(left)
    ways += ["--force lets nothing wait for what is deleted"] * bool(waiting)
    found = left + waiting
    details = found[:_MOST]
    details += [f"and {len(found) - _MOST:,} more"] if len(found) > _MOST else []
    hint = f"{'; '.join(ways)}. `cub task close --reason wontfix` keeps it in sight"
    return CubError(f"{which} can't be deleted", hint=hint, details=details)


def _let_go(work: Work, chosen: Sequence[str]) -> None:
    """Nothing that is still to be done waits for a deleted task."""
    gone = set(chosen)
    for row in list(work.tasks):
        needs = gone.intersection(row.depends_on)
        if needs and not row.closed:
            rest = [key for key in row.depends_on if key not in gone]
            sentence = f"{row.id} waits no longer for {', '.join(sorted(needs))}."
            work.put(row.id, {"depends_on": rest}, sentence=sentence)
