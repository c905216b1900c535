"""What is wrong with the tasks of a project, and mending what can be mended without a choice."""

from __future__ import annotations

from cub.actions.tasks.stores import Stores, TaskResult
from cub.actions.tasks.task_findings import (
    Finding,
    find_bad_lines,
    find_duplicates,
    find_expired_leases,
    find_missing_parents,
    find_unreachable_tasks,
)
from cub.actions.tasks.transitions import release_task
from cub.files import read_file
from cub.store.dependencies import find_ready_tasks
from cub.store.store_paths import REJECTED_FILE, TASKS_FILE
from cub.store.task_schema import IN_PROGRESS


def list_findings(stores: Stores) -> list[Finding]:
    """Everything that is wrong. Lines that were moved away earlier are told, too: a person has to
    look at them.
    """
    tasks = stores.backend.read_tasks()
    found = [
        *find_bad_lines(tasks),
        *find_duplicates(tasks),
        *find_unreachable_tasks(
            find_ready_tasks(tasks, stores.lease_checker.is_expired), tasks.deleted_summaries
        ),
        *find_missing_parents(tasks),
        *find_expired_leases(tasks, stores.lease_checker),
    ]
    kept = [
        line for line in (read_file(stores.root, REJECTED_FILE) or b"").split(b"\n") if line.strip()
    ]
    here = {rejected.content for rejected in tasks.rejected_lines}
    if older := [line for line in kept if line not in here]:
        what = f"{len(older):,} rejected line{'s' * (len(older) > 1)} in {REJECTED_FILE}"
        hint = f"take over what you want of them into {TASKS_FILE}, then delete the file"
        found.append(Finding("rejected", "", what, hint))
    return found


def fix_problems(stores: Stores) -> TaskResult:
    """Write doubled tasks as one, move rejected lines away, give tasks of lapsed leases back."""
    with stores.transaction() as work:
        for row in list(work.tasks):
            if row.status == IN_PROGRESS and stores.lease_checker.is_expired(row.lease):
                release_task(work, row.id)
        work.store.save_repairs()
    return work.result
