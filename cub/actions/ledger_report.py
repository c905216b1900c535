"""Report the ledger: the history of a task, the newest attempts, and totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from cub.actions.tasks.stores import Stores
from cub.errors import CubError, UsageError
from cub.files.file_tree import FileTree
from cub.store.events import (
    ATTEMPT_END,
    ATTEMPT_START,
    TASK_STATE,
    Event,
    get_outcome,
    get_timestamp,
    get_usage,
)
from cub.store.jsonl import Record
from cub.store.ledger import ArchiveResult, move_to_archive, parse_events
from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from cub.store.task_index import TaskIndex
from cub.store.timestamps import normalize_timestamp, parse_timestamp
from cub.tokens import TokenUsage

_HISTORY_KINDS = (TASK_STATE, ATTEMPT_START, ATTEMPT_END)


class TaskHistory(NamedTuple):
    """Hold a task, None if it is gone, and its events, the first one first."""

    task_id: str
    task: Record | None
    events: list[Event]


@dataclass(slots=True)
class AttemptTotals:
    """Count attempts and what they used; `usd` adds reported and estimated costs.

    An attempt whose agent ran and reported no tokens, or no cost, is counted as such.
    """

    attempts: int = 0
    ok_count: int = 0
    seconds: float = 0.0
    tokens: TokenUsage = field(default_factory=TokenUsage)
    usd: float = 0.0
    without_tokens: int = 0
    without_usd: int = 0
    is_estimated: bool = False

    def add_attempt(self, event: Event) -> None:
        """Count one attempt."""
        self.attempts += 1
        self.ok_count += bool(event.get("ok"))
        seconds, usage = to_number(event.get("dur_s")), get_usage(event)
        self.seconds += seconds
        self.usd += usage.usd or 0.0
        self.tokens = self.tokens.add(usage.tokens or TokenUsage())
        self.is_estimated |= usage.is_estimated
        self.without_tokens += usage.tokens is None and seconds > 0
        self.without_usd += usage.usd is None and seconds > 0


class LedgerStats(NamedTuple):
    """Hold the totals of all attempts, and of each agent with its model; outcomes are counted."""

    all: AttemptTotals
    agents: dict[str, AttemptTotals]
    outcomes: dict[str, int]


def read_task_history(stores: Stores, task_id: str) -> TaskHistory:
    """Return all events of a task, found backwards from the end; a deleted task has some, too."""
    tasks, unknown = stores.backend.read_tasks(), None
    try:
        task_id = tasks.find_deleted_id(task_id) or tasks.find_id(task_id)
    except CubError as error:
        unknown = error
    events = [*stores.ledger.iter_task_events(task_id, _HISTORY_KINDS)]
    if unknown and not events:
        raise unknown
    events.reverse()  # so that events of one time stay in the order of the file
    events.sort(key=get_timestamp)
    ended = {_identify_attempt(event) for event in events if event.get("ev") == ATTEMPT_END}
    history = [
        e for e in events if e.get("ev") != ATTEMPT_START or _identify_attempt(e) not in ended
    ]
    exists = task_id in tasks or task_id in tasks.deleted_summaries
    return TaskHistory(task_id, tasks.read_record(task_id) if exists else None, history)


def list_newest_attempts(stores: Stores, limit: int) -> list[Event]:
    """Return the last attempts at all tasks, the newest first."""
    ended = (e for e in stores.ledger.iter_backwards(ATTEMPT_END) if e.get("ev") == ATTEMPT_END)
    return [*islice(ended, limit)]


def count_attempts(events: Iterable[Event]) -> LedgerStats:
    """Count all attempts."""
    stats = LedgerStats(AttemptTotals(), {}, {})
    for event in events:
        if event.get("ev") == ATTEMPT_END:
            stats.all.add_attempt(event)
            stats.agents.setdefault(format_agent_label(event), AttemptTotals()).add_attempt(event)
            stats.outcomes[get_outcome(event)] = stats.outcomes.get(get_outcome(event), 0) + 1
    return stats


def archive_old_events(stores: Stores, before: str) -> ArchiveResult:
    """Move older events of tasks that are closed, or gone, to the archive."""
    at = parse_timestamp(before)
    if at is None:
        hint = "write a date such as 2026-01-31 or 2026-01-31T12:00"
        raise UsageError(f"{before!r} is not a date", hint=hint)
    tasks = stores.backend.read_tasks().summaries
    open_ids = {key for key, task in tasks.items() if not task.is_closed}
    return move_to_archive(
        stores.ledger, normalize_timestamp(at.isoformat()), open_ids.__contains__
    )


def format_agent_label(event: Event) -> str:
    """Return the agent of an attempt and its model."""
    names = (event.get("harness"), event.get("model"))
    return ", ".join(str(name) for name in names if name) or "unknown"


def to_number(value: Any) -> float:
    """Return a number of an event; 0 for anything else."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def _identify_attempt(event: Event) -> tuple[str, str]:
    """Return what an attempt's start and its end have in common."""
    return str(event.get("run")), str(event.get("n"))


def count_project_health(tree: FileTree) -> dict[str, dict[str, int]]:
    """Count tasks by status, and attempts by outcome: "ok", or the class of the failure.

    Lines that can't be read don't count.
    """
    tasks = Counter(task.status for task in TaskIndex.parse(_read_file(tree, TASKS_FILE)))
    events = parse_events(_read_file(tree, LEDGER_FILE).split(b"\n"))
    attempts = Counter(get_outcome(event) for event in events if event.get("ev") == ATTEMPT_END)
    return {"tasks": dict(sorted(tasks.items())), "attempts": dict(sorted(attempts.items()))}


def _read_file(tree: FileTree, path: str) -> bytes:
    try:
        return tree.read(path) or b""
    except CubError:
        return b""
