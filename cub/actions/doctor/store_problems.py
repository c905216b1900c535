"""Find problems with a project's tasks, and fix those that need no decision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cub.actions.doctor.findings import Finding
from cub.actions.tasks.stores import Stores, TaskResult
from cub.actions.tasks.task_findings import (
    TaskProblem,
    find_bad_lines,
    find_dependency_problems,
    find_duplicates,
    find_expired_leases,
)
from cub.actions.tasks.transitions import release_task
from cub.errors import CubError
from cub.files import read_file, warn_pending_change
from cub.store.jsonl import decode_record, iter_lines
from cub.store.store_paths import ARCHIVE_FILE, REJECTED_FILE, TASKS_FILE
from cub.store.task_index import TaskIndex
from cub.store.task_schema import IN_PROGRESS

_CODES = {
    "rejected": "D601",
    "duplicate": "D602",
    "cycle": "D603",
    "dangling": "D604",
    "parent": "D605",
    "lease": "D606",
}


def find_store_problems(stores: Stores) -> Iterator[Finding]:
    """Yield every problem of the tasks, and lines that an earlier change set aside."""
    for root in dict.fromkeys((stores.root, stores.project.root)):
        for warning in warn_pending_change(root):
            yield Finding.from_warning("D608", warning)
    try:
        tasks = stores.backend.read_tasks()
        problems = list(_list_task_problems(tasks, stores))
        yield from (_make_finding(problem) for problem in problems)
        yield from _find_older_rejected_lines(tasks, stores)
        yield from _find_bad_events(stores)
    except CubError as error:
        yield Finding.from_error("D609", error)


def _list_task_problems(tasks: TaskIndex, stores: Stores) -> Iterator[TaskProblem]:
    yield from find_bad_lines(tasks)
    yield from find_duplicates(tasks)
    yield from find_dependency_problems(tasks, stores.lease_checker)
    yield from find_expired_leases(tasks, stores.lease_checker)


def _make_finding(problem: TaskProblem) -> Finding:
    code = _CODES[problem.kind]
    return Finding(code, problem.message, TASKS_FILE, problem.line, problem.hint)


def _find_older_rejected_lines(tasks: TaskIndex, stores: Stores) -> Iterator[Finding]:
    """Yield one finding for the lines that were moved away: only a person can decide on them."""
    lines = (read_file(stores.root, REJECTED_FILE) or b"").split(b"\n")
    current = {rejected.content for rejected in tasks.rejected_lines}
    if older := [line for line in lines if line.strip() and line not in current]:
        message = f"{len(older):,} invalid line{'s were' if len(older) > 1 else ' was'} set aside"
        fix = f"copy what you need to {TASKS_FILE}, then delete {REJECTED_FILE}"
        yield Finding("D607", message, REJECTED_FILE, None, fix)


def _find_bad_events(stores: Stores) -> Iterator[Finding]:
    """Yield the lines of the ledger and its archive that are not events."""
    for path in (stores.ledger.path, ARCHIVE_FILE):
        with replace(stores.ledger, path=path).open_file() as file:
            for line in iter_lines(file or ()):
                try:
                    decode_record(line.text)
                except ValueError as error:
                    message = f"{error}; cub leaves this event out"
                    yield Finding("D610", message, path, line.number, "fix the line, or delete it")


def fix_store_problems(stores: Stores) -> TaskResult:
    """Merge duplicate lines, set invalid lines aside, and release tasks with expired leases."""
    with stores.transaction() as transaction:
        for task in list(transaction.tasks):
            if task.status == IN_PROGRESS and stores.lease_checker.is_expired(task.lease):
                release_task(transaction, task.id)
        transaction.store.save_repairs()
    return transaction.result
