"""What is wrong with the tasks of a project, and mending what can be mended without a choice."""

from __future__ import annotations

from cub.actions.tasks.findings import (
    Finding,
    of_doubled,
    of_graph,
    of_leases,
    of_lines,
    of_parents,
)
from cub.actions.tasks.status import release
from cub.actions.tasks.stores import Stores
from cub.actions.tasks.work import Outcome
from cub.files import read
from cub.store.place import REJECTED, TASKS
from cub.store.ready import ready
from cub.store.spelling import IN_PROGRESS


def examine(stores: Stores) -> list[Finding]:
    """Everything that is wrong. Lines that were moved away earlier are told, too: a person has to
    look at them.
    """
    tasks = stores.backend.read()
    found = [
        *of_lines(tasks),
        *of_doubled(tasks),
        *of_graph(ready(tasks, stores.watch.lapsed), tasks.deleted),
        *of_parents(tasks),
        *of_leases(tasks, stores.watch),
    ]
    kept = [line for line in (read(stores.root, REJECTED) or b"").split(b"\n") if line.strip()]
    here = {rejected.kept for rejected in tasks.rejected}
    if older := [line for line in kept if line not in here]:
        what = f"{len(older):,} rejected line{'s' * (len(older) > 1)} in {REJECTED}"
        hint = f"take over what you want of them into {TASKS}, then delete the file"
        found.append(Finding("rejected", "", what, hint))
    return found


def mend(stores: Stores) -> Outcome:
    """Write doubled tasks as one, move rejected lines away, give tasks of lapsed leases back."""
    with stores.changing() as work:
        for row in list(work.tasks):
            if row.status == IN_PROGRESS and stores.watch.lapsed(row.lease):
                release(work, row.id)
        work.change.settle()
    return work.outcome
