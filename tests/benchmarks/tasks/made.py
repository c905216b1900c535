"""Large stores, made the same each time."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cub.store.store_paths import LEDGER_FILE, TASKS_FILE

_SEED = 20261121
_AT = "2026-11-20T10:00:00.000Z"
_TEXT = "Bake what the customer ordered, and count it in dozens. " * 4
_STATUSES = ("open", "open", "open", "closed", "closed", "in_progress", "retry", "parked")


def tasks(root: Path, count: int) -> Path:
    """So many tasks of about 500 bytes; half of them wait for another one."""
    return _written(
        root / TASKS_FILE, (_task(n, random.Random(f"{_SEED}-{n}")) for n in range(count))
    )


def ledger(root: Path, count: int) -> Path:
    """So many ends of attempts, of 50,000 tasks, and before them one of the task `bakery-first`."""
    first = _attempt("bakery-first", 1)
    rest = (_attempt(f"bakery-{n % 50_000:05x}", n // 50_000 + 1) for n in range(count - 1))
    return _written(root / LEDGER_FILE, (one for some in ([first], rest) for one in some))


def name(number: int) -> str:
    """The id of a task."""
    return f"bakery-{number:05x}"


def _task(number: int, chance: random.Random) -> dict[str, Any]:
    status = chance.choice(_STATUSES)
    waits = number > 0 and chance.random() < 0.5
    return {
        "id": name(number),
        "rev": 1,
        "title": f"Order number {number}: bread, rolls and cake",
        "status": status,
        "priority": chance.randrange(5),
        "issue_type": "task",
        "description": _TEXT,
        "acceptance_criteria": ["it is brown"],
        "depends_on": [name(chance.randrange(number))] if waits else [],
        "labels": ["oven"],
        **({"close_reason": "done", "closed_at": _AT} if status == "closed" else {}),
        "created_at": _AT,
        "updated_at": _AT,
    }


def _attempt(task: str, number: int) -> dict[str, Any]:
    items = [["test", "tests/test_oven.py::test_heat", "assert 180 == 200"]]
    return {
        "v": 1, "ev": "attempt_end", "ts": _AT, "run": "r1", "task": task, "n": number,
        "harness": "claude", "model": "m", "dur_s": 61.5, "exit": 0, "ok": False,
        "fail": {"class": "checks_failed", "reason": "pytest", "charge": True, "fp": "f00d"},
        "tok": {"in": 1200, "out": 300}, "usd": 0.04, "usd_src": "reported",
        "checks": [{"cmd": "pytest -q", "exit": 1, "n": 1, "items": items}],
    }  # fmt: skip


def _written(path: Path, records: Iterator[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record, separators=(",", ":")) + "\n")
    return path
