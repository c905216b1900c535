"""The stores of a project as somebody opens them on some day, and tasks in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cub.actions.tasks.stores import Stores, TaskResult, open_stores
from cub.actions.tasks.task_edits import add_task
from cub.actions.tasks.task_fields import TaskFields
from cub.project.project import Project
from cub.store.events import Event
from cub.store.jsonl import Record
from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from tests.store.records import day


def opened(root: Path, on: int = 2, who: str = "ida") -> Stores:
    """The stores of the project at `root`, opened by one command."""
    return open_stores(Project.load(root), who, day(on))


def added(root: Path, title: str = "Bake", on: int = 1, **fields: Any) -> str:
    """The id of a new task."""
    return str(add_task(opened(root, on), TaskFields(title, **fields)).tasks[0]["id"])


def epic(root: Path, title: str = "Open the shop", parent: str | None = None) -> str:
    """The id of a new epic."""
    return added(root, title, type="epic", parent=parent)


def record(root: Path, key: str) -> Record:
    """A task as it is now."""
    return opened(root).backend.read_tasks().read_record(key)


def statuses(root: Path, *keys: str) -> list[str]:
    """How tasks stand."""
    tasks = opened(root).backend.read_tasks()
    return [tasks[key].status for key in keys]


def events(root: Path) -> list[Event]:
    """What the ledger was told."""
    return [*opened(root).ledger.iter_events()]


def ids(outcome: TaskResult) -> list[str]:
    """The tasks that a command tells of."""
    return [record["id"] for record in outcome.tasks]


def stored(root: Path) -> dict[str, bytes]:
    """The files of both stores, byte for byte."""
    return {
        name: (root / name).read_bytes()
        for name in (TASKS_FILE, LEDGER_FILE)
        if (root / name).exists()
    }
