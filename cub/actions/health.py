"""How the work goes: tasks by status and attempts by outcome, counted from what is in .cub/."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from io import BytesIO

from cub.errors import CubError
from cub.files import Tree
from cub.store.events import ATTEMPT_END, outcome
from cub.store.place import LEDGER, TASKS
from cub.store.scanning import events_in
from cub.store.tasks import Tasks


@dataclass(frozen=True, slots=True)
class Health:
    """`tasks` counts by status, `attempts` by outcome: "ok", or the class of the failure."""

    tasks: dict[str, int]
    attempts: dict[str, int]


def health(tree: Tree) -> Health:
    """What the stores of a project say; lines that are none don't count."""
    tasks = Counter(row.status for row in Tasks.parse(_read(tree, TASKS)))
    ended = (e for e in events_in(BytesIO(_read(tree, LEDGER))) if e.get("ev") == ATTEMPT_END)
    attempts = Counter(map(outcome, ended))
    return Health(dict(sorted(tasks.items())), dict(sorted(attempts.items())))


def _read(tree: Tree, path: str) -> bytes:
    try:
        return tree.read(path) or b""
    except CubError:
        return b""
