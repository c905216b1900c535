"""Tasks and events with ids that are known beforehand, for what commands print of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from tests.conftest import Cub

DAY = "2026-01-01T08:00:00.000Z"
# Midnight in thirty days: no claim holds longer than a month.
UNTIL = f"{datetime.now(UTC) + timedelta(days=30):%Y-%m-%d}"
LEASE = {"host": "h", "expires": f"{UNTIL}T00:00:00.000Z"}
SHOP = {"id": "b-shop1", "title": "Open the shop", "issue_type": "epic"}
OVEN = {
    "id": "b-shop1.1",
    "title": "Heat the oven",
    "parent": "b-shop1",
    "priority": 0,
    "labels": ["hot", "iron"],
    "description": "Slowly.\n\n  At night.",
    "acceptance_criteria": ["It is hot", "No smoke"],
    "checks": ["make heat"],
}
BREAD = {
    "id": "b-shop1.2",
    "title": "Bake [bold]bread[/bold] :key:",
    "parent": "b-shop1",
    "depends_on": ["b-shop1.1"],
}
DONE = {"id": "b-flour", "title": "Buy flour", "status": "closed", "close_reason": "no_change"}
MINE = {
    "id": "b-clean",
    "title": "Clean",
    "issue_type": "chore",
    "priority": 3,
    "status": "in_progress",
    "assignee": "ida",
    "lease": LEASE,
    "notes": "2026-01-01T08:00Z ida: Broom",
}
ALL = (SHOP, OVEN, BREAD, DONE, MINE)


def put(root: Path, *tasks: object, path: str = TASKS_FILE) -> None:
    """Write a store: tasks as cub would have made them on one day, or lines as they are."""
    made = {"status": "open", "priority": 2, "created_at": DAY, "updated_at": DAY}
    (root / ".cub").mkdir(exist_ok=True)
    lines = [
        json.dumps({**made, **task} if path == TASKS_FILE else task)
        if isinstance(task, dict)
        else task
        for task in tasks
    ]
    (root / path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def put_events(root: Path, *events: object) -> None:
    put(root, *events, path=LEDGER_FILE)


def add(cub: Cub, title: str = "Bake", *options: str, **more: str) -> str:
    """The id of a new task."""
    done = cub("-q", "task", "add", title, *options, **more)
    assert (done.code, done.err) == (0, "")
    return done.out.strip()
