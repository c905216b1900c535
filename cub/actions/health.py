"""How the work goes: tasks by status and attempts by outcome, counted from what is in .cub/."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cub.errors import CubError
from cub.files import Tree

TASKS, LEDGER = ".cub/tasks.jsonl", ".cub/ledger.jsonl"


@dataclass(frozen=True, slots=True)
class Health:
    """`tasks` counts by status, `attempts` by outcome: "ok", or the class of the failure."""

    tasks: dict[str, int]
    attempts: dict[str, int]


def health(tree: Tree) -> Health:
    """What the stores of a project say; lines that are no objects don't count."""
    tasks = Counter(str(row.get("status") or "open") for row in _rows(tree, TASKS))
    attempts = Counter(
        _outcome(row) for row in _rows(tree, LEDGER) if row.get("ev") == "attempt_end"
    )
    return Health(dict(sorted(tasks.items())), dict(sorted(attempts.items())))


def _outcome(row: dict[str, Any]) -> str:
    failure = row.get("fail")
    known = failure.get("class") or "unknown" if isinstance(failure, dict) else "unknown"
    return "ok" if row.get("ok") else str(known)


def _rows(tree: Tree, path: str) -> Iterator[dict[str, Any]]:
    try:
        data = tree.read(path) or b""
    except CubError:
        return
    for line in data.splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row
