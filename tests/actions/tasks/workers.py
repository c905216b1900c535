"""What one of many does to the tasks of a project, in a process of its own."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path

from cub.actions.ledger_report import read_task_history
from cub.actions.tasks.stores import Stores, open_stores
from cub.actions.tasks.task_edits import add_task, edit_task
from cub.actions.tasks.task_fields import TaskFields
from cub.actions.tasks.task_queries import list_tasks
from cub.actions.tasks.transitions import claim_task
from cub.errors import CubError
from cub.project.project import Project


def stores(root: Path, number: str) -> Stores:
    return open_stores(Project.load(root), f"worker-{number}")


def one_claim(root: Path, key: str, number: str) -> str:
    try:
        claim_task(stores(root, number), key)
    except CubError as error:
        return error.message
    return f"got it worker-{number}"


def many_edits(root: Path, key: str, number: str, times: int) -> str:
    """Note in a task, and claim one of its own."""
    own = add_task(stores(root, number), TaskFields(f"Own {number}")).tasks[0]["id"]
    for turn in range(times):
        edit_task(stores(root, number), key, TaskFields(), note=f"turn {turn}")
        claim_task(stores(root, number), own)
    return "done"


def reads(root: Path) -> str:
    """Read until a line comes, and return how often."""
    stop, count = threading.Event(), 0

    def wait() -> None:
        sys.stdin.readline()
        stop.set()

    threading.Thread(target=wait, daemon=True).start()
    while not (stop.is_set() and count):
        found = list_tasks(stores(root, "r"), ("all",))
        assert not found.warnings
        assert all("title" in record for record in found.iter_records())
        read_task_history(stores(root, "r"), next(iter(found.tasks)).id)
        count += 1
    return str(count)


def work_when_told(work: Callable[[], str]) -> None:
    """Say that this process is ready, wait for a line, and print what `work` returns."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    sys.stdout.write(f"{work()}\n")
