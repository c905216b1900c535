"""What the ledger tells: the story of a task, the newest attempts, what all of it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from cub.actions.tasks.stores import Stores
from cub.errors import CubError, UsageError
from cub.store import archive as archiving
from cub.store.events import ATTEMPT_END, ATTEMPT_START, TASK_STATE, Event, outcome, when
from cub.store.jsonl import Record
from cub.store.moments import moment, read

_STORY = (TASK_STATE, ATTEMPT_START, ATTEMPT_END)
_TOKENS = ("in", "out", "cache_read", "cache_write")


class Story(NamedTuple):
    """A task, None where it is gone, and what happened to it, the first event first."""

    id: str
    task: Record | None
    events: list[Event]


@dataclass(slots=True)
class Totals:
    """Attempts and what they used; `usd` is what clients reported and cub estimated together."""

    attempts: int = 0
    ok: int = 0
    seconds: float = 0.0
    tokens: Counter[str] = field(default_factory=Counter)
    usd: float = 0.0
    estimated: bool = False

    def add(self, event: Event) -> None:
        """Count one attempt."""
        self.attempts += 1
        self.ok += bool(event.get("ok"))
        self.seconds += number(event.get("dur_s"))
        self.usd += number(event.get("usd"))
        self.estimated |= event.get("usd_src") == "estimated" and bool(event.get("usd"))
        used = event.get("tok")
        if isinstance(used, dict):
            self.tokens.update({name: int(number(used.get(name))) for name in _TOKENS})


class Stats(NamedTuple):
    """The totals of all attempts, and of each client with its model; failures by class."""

    all: Totals
    clients: dict[str, Totals]
    outcomes: dict[str, int]


def story(stores: Stores, key: str) -> Story:
    """Everything about a task, found backwards from the end. A deleted task has a story, too."""
    tasks, unknown = stores.backend.read(), None
    try:
        key = tasks.deleted_as(key) or tasks.find(key)
    except CubError as error:
        unknown = error
    events = [*stores.ledger.newest(key, _STORY)]
    if unknown and not events:
        raise unknown
    events.reverse()  # of one time, those that were written later come later
    events.sort(key=when)
    ended = {_which(event) for event in events if event.get("ev") == ATTEMPT_END}
    told = [e for e in events if e.get("ev") != ATTEMPT_START or _which(e) not in ended]
    known = key in tasks or key in tasks.deleted
    return Story(key, tasks.record(key) if known else None, told)


def newest(stores: Stores, limit: int) -> list[Event]:
    """The last attempts of all tasks, the newest first."""
    ended = (e for e in stores.ledger.backwards(ATTEMPT_END) if e.get("ev") == ATTEMPT_END)
    return [*islice(ended, limit)]


def stats(events: Iterable[Event]) -> Stats:
    """All attempts, counted."""
    made = Stats(Totals(), {}, {})
    for event in events:
        if event.get("ev") == ATTEMPT_END:
            made.all.add(event)
            made.clients.setdefault(client(event), Totals()).add(event)
            made.outcomes[outcome(event)] = made.outcomes.get(outcome(event), 0) + 1
    return made


def archive(stores: Stores, before: str) -> archiving.Archived:
    """Move older events of tasks that are closed, or gone, to the archive."""
    at = read(before)
    if at is None:
        hint = "for example 2026-01-31, or 2026-01-31T12:00"
        raise UsageError(f"{before!r} is no date", hint=hint)
    tasks = stores.backend.read().briefs
    open_ = {key for key, row in tasks.items() if not row.closed}
    return archiving.archive(stores.ledger, moment(at.isoformat()), open_.__contains__)


def client(event: Event) -> str:
    """The client of an attempt and its model."""
    names = (event.get("harness"), event.get("model"))
    return ", ".join(str(name) for name in names if name) or "unknown"


def number(value: Any) -> float:
    """A number of an event; 0 for anything else."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def _which(event: Event) -> tuple[str, str]:
    """What an attempt's start and its end have in common."""
    return str(event.get("run")), str(event.get("n"))
