"""What one of many writers does to the tasks of a project: in a process of its own."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

from cub.store.backend import JsonlBackend
from cub.store.record_merge import update_record
from tests.store.records import day, task


def count_often(root: Path, name: str, times: int) -> None:
    for turn in range(times):
        count_up(root, name, turn)


def count_up(root: Path, name: str, number: int) -> None:
    """Count up in `shared` and in the task `name`, and add a task."""
    with JsonlBackend(root).transaction() as change:
        for key in ("shared", name):
            record = change.tasks.read_record(key) if key in change.tasks else task(key, count=0)
            change.put_record(update_record(record, {"count": record["count"] + 1}, day(2)))
        change.put_record(task(f"{name}.{number}", notes="x" * 2000))


def count_endlessly(root: Path, name: str) -> None:
    """Count up until killed, and print each number when it is on disk."""
    for turn in count():
        count_up(root, name, turn)
        sys.stdout.write(f"{turn + 1}\n")
        sys.stdout.flush()
