"""What the ledger tells: the story of a task, the newest attempts, what all of it cost.

How the work goes: tasks by status and attempts by outcome, counted from what is in .cub/.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice
from typing import Any, NamedTuple

from cub.actions.tasks.stores import Stores
from cub.errors import CubError, UsageError
from cub.files import FileTree
from cub.store import ledger as archiving
from cub.store.events import (
    ATTEMPT_END,
    ATTEMPT_START,
    TASK_STATE,
    Event,
    get_outcome,
    get_timestamp,
)
from cub.store.jsonl import Record
from cub.store.ledger import parse_events
from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from cub.store.task_index import TaskIndex
from cub.store.timestamps import normalize_timestamp, parse_timestamp

_STORY = (TASK_STATE, ATTEMPT_START, ATTEMPT_END)
_TOKENS = ("in", "out", "cache_read", "cache_write")


class TaskHistory(NamedTuple):
    """A task, None where it is gone, and what happened to it, the first event first."""

    task_id: str
    task: Record | None
    events: list[Event]


@dataclass(slots=True)
class AttemptTotals:
    """Attempts and what they used; `usd` is what clients reported and cub estimated together."""

    attempts: int = 0
    ok_count: int = 0
    seconds: float = 0.0
    tokens: Counter[str] = field(default_factory=Counter)
    usd: float = 0.0
    is_estimated: bool = False

    def add_attempt(self, event: Event) -> None:
        """Count one attempt."""
        self.attempts += 1
        self.ok_count += bool(event.get("ok"))
        self.seconds += to_number(event.get("dur_s"))
        self.usd += to_number(event.get("usd"))
        self.is_estimated |= event.get("usd_src") == "estimated" and bool(event.get("usd"))
        used = event.get("tok")
        if isinstance(used, dict):
            self.tokens.update({name: int(to_number(used.get(name))) for name in _TOKENS})


class LedgerStats(NamedTuple):
    """The totals of all attempts, and of each client with its model; failures by class."""

    all: AttemptTotals
    agents: dict[str, AttemptTotals]
    outcomes: dict[str, int]


def read_task_history(stores: Stores, task_id: str) -> TaskHistory:
    """Everything about a task, found backwards from the end. A deleted task has a story, too."""
    tasks, unknown = stores.backend.read_tasks(), None
    try:
        task_id = tasks.find_deleted_id(task_id) or tasks.find_id(task_id)
    except CubError as error:
        unknown = error
    events = [*stores.ledger.iter_task_events(task_id, _STORY)]
    if unknown and not events:
        raise unknown
    events.reverse()  # of one time, those that were written later come later
    events.sort(key=get_timestamp)
    ended = {_which(event) for event in events if event.get("ev") == ATTEMPT_END}
    told = [e for e in events if e.get("ev") != ATTEMPT_START or _which(e) not in ended]
    known = task_id in tasks or task_id in tasks.deleted_summaries
    return TaskHistory(task_id, tasks.read_record(task_id) if known else None, told)


def list_newest_attempts(stores: Stores, limit: int) -> list[Event]:
    """The last attempts of all tasks, the newest first."""
    ended = (e for e in stores.ledger.iter_backwards(ATTEMPT_END) if e.get("ev") == ATTEMPT_END)
    return [*islice(ended, limit)]


def count_attempts(events: Iterable[Event]) -> LedgerStats:
    """All attempts, counted."""
    made = LedgerStats(AttemptTotals(), {}, {})
    for event in events:
        if event.get("ev") == ATTEMPT_END:
            made.all.add_attempt(event)
            made.agents.setdefault(format_agent_label(event), AttemptTotals()).add_attempt(event)
            made.outcomes[get_outcome(event)] = made.outcomes.get(get_outcome(event), 0) + 1
    return made


def archive_old_events(stores: Stores, before: str) -> archiving.ArchiveResult:
    """Move older events of tasks that are closed, or gone, to the archive."""
    at = parse_timestamp(before)
    if at is None:
        hint = "for example 2026-01-31, or 2026-01-31T12:00"
        raise UsageError(f"{before!r} is no date", hint=hint)
    tasks = stores.backend.read_tasks().summaries
    open_ = {key for key, row in tasks.items() if not row.is_closed}
    return archiving.move_to_archive(
        stores.ledger, normalize_timestamp(at.isoformat()), open_.__contains__
    )


def format_agent_label(event: Event) -> str:
    """The client of an attempt and its model."""
    names = (event.get("harness"), event.get("model"))
    return ", ".join(str(name) for name in names if name) or "unknown"


def to_number(value: Any) -> float:
    """A number of an event; 0 for anything else."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def _which(event: Event) -> tuple[str, str]:
    """What an attempt's start and its end have in common."""
    return str(event.get("run")), str(event.get("n"))


@dataclass(frozen=True, slots=True)
class ProjectHealth:
    """`tasks` counts by status, `attempts` by outcome: "ok", or the class of the failure."""

    tasks: dict[str, int]
    attempts: dict[str, int]


def count_project_health(tree: FileTree) -> ProjectHealth:
    """What the stores of a project say; lines that are none don't count."""
    tasks = Counter(row.status for row in TaskIndex.parse(_read(tree, TASKS_FILE)))
    ended = (
        e for e in parse_events(BytesIO(_read(tree, LEDGER_FILE))) if e.get("ev") == ATTEMPT_END
    )
    attempts = Counter(map(get_outcome, ended))
    return ProjectHealth(dict(sorted(tasks.items())), dict(sorted(attempts.items())))


def _read(tree: FileTree, path: str) -> bytes:
    try:
        return tree.read(path) or b""
    except CubError:
        return b""
