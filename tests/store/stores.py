"""A project with some tasks in it, and what is changed in them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cub.files.disk import Disk
from cub.store.backend import JsonlBackend
from cub.store.jsonl import Record, encode_record
from cub.store.record_merge import update_record
from cub.store.store_paths import REJECTED_FILE, TASKS_FILE
from tests.conftest import tree
from tests.store.records import day, task

# Lines as other tools, people and accidents leave them: not in order, not spelled as cub would.
ODD = b'{"id": "b-2",  "status":"todo", "priority": "P1", "x": 1.50}'
BROKEN = [b'{"id":"torn', b"not json \xff", b'{"title":"no id"}']
OLD = b"\n".join(
    [encode_record(task("c-3")), BROKEN[0], ODD, BROKEN[1], BROKEN[2], encode_record(task("a-1"))]
)


def build(root: Path, data: bytes = OLD) -> Path:
    """A new project at `root` with these lines."""
    (root / TASKS_FILE).parent.mkdir(parents=True)
    (root / TASKS_FILE).write_bytes(data)
    return root.resolve()


def put(root: Path, records: Iterable[Record], disk: Disk | None = None) -> None:
    with JsonlBackend(root, disk or Disk()).transaction() as change:
        for record in records:
            change.put_record(record)


def set_in(root: Path, key: str, values: dict[str, Any], on: int = 2) -> None:
    """Change one task, the clock showing a day."""
    with JsonlBackend(root).transaction() as change:
        change.put_record(update_record(change.tasks.read_record(key), values, day(on)))


def edit(root: Path, disk: Disk | None = None) -> None:
    """The change that crash tests make: one task is changed, one comes new."""
    with JsonlBackend(root, disk or Disk()).transaction() as change:
        change.put_record(update_record(change.tasks.read_record("a-1"), {"title": "new"}, day(2)))
        change.put_record(task("aa"))


def loaded(root: Path) -> dict[str, Record]:
    """All tasks by their id."""
    tasks = JsonlBackend(root).read_tasks()
    return {key: tasks.read_record(key) for key in tasks.summaries}


def stored(root: Path) -> bytes:
    return (root / TASKS_FILE).read_bytes()


def rejected(root: Path) -> list[bytes]:
    """The lines that were no tasks."""
    return (
        (root / REJECTED_FILE).read_bytes().splitlines() if (root / REJECTED_FILE).exists() else []
    )


def names(root: Path) -> set[str]:
    """The files of a project, without git's."""
    return set(tree(root))
