"""Find problems with a project's tasks, and fix those that need no decision."""

from __future__ import annotations

from cub.actions.tasks.stores import Stores, TaskResult
from cub.actions.tasks.task_findings import (
    TaskProblem,
    find_bad_lines,
    find_dependency_problems,
    find_duplicates,
    find_expired_leases,
)
from cub.actions.tasks.transitions import release_task
from cub.files import read_file
from cub.store.store_paths import REJECTED_FILE, TASKS_FILE
from cub.store.task_schema import IN_PROGRESS


def list_findings(stores: Stores) -> list[TaskProblem]:
    """Return every problem, also lines that were moved away earlier: a person has to read them."""
    tasks = stores.backend.read_tasks()
    findings = [
        *find_bad_lines(tasks),
        *find_duplicates(tasks),
        *find_dependency_problems(tasks, stores.lease_checker),
        *find_expired_leases(tasks, stores.lease_checker),
    ]
    lines = (read_file(stores.root, REJECTED_FILE) or b"").split(b"\n")
    current = {rejected.content for rejected in tasks.rejected_lines}
    if older := [line for line in lines if line.strip() and line not in current]:
        what = f"{len(older):,} rejected line{'s' * (len(older) > 1)} in {REJECTED_FILE}"
        hint = f"move the lines that you need to {TASKS_FILE}, then delete the file"
        findings.append(TaskProblem("rejected", "", what, hint))
    return findings


def fix_problems(stores: Stores) -> TaskResult:
    """Merge duplicate lines, move rejected lines away, and release tasks with expired leases."""
    with stores.transaction() as transaction:
        for task in list(transaction.tasks):
            if task.status == IN_PROGRESS and stores.lease_checker.is_expired(task.lease):
                release_task(transaction, task.id)
        transaction.store.save_repairs()
    return transaction.result
