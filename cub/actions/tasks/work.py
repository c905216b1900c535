"""A change of tasks under way: what a command did, and what it has to tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cub.actions.tasks.draft import text
from cub.edit.plan import PlanWarning
from cub.store.backend import Change
from cub.store.briefs import is_deleted
from cub.store.change import changed, next_moment
from cub.store.events import TASK_STATE, Event
from cub.store.jsonl import Record
from cub.store.moments import moment
from cub.store.spelling import DELETED
from cub.store.tasks import Tasks


@dataclass(slots=True)
class Outcome:
    """What a command did: tasks as they are now, what to tell the person, and warnings.

    Of the tasks in `quiet`, a sentence of `said` tells all.
    """

    tasks: list[Record] = field(default_factory=list)
    quiet: set[str] = field(default_factory=set)
    said: list[str] = field(default_factory=list)
    warnings: list[PlanWarning] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def tell(self, record: Record, sentence: str) -> None:
        """Take in a task that is as it should be already, or that followed another one."""
        self.tasks.append(record)
        self.quiet.add(record["id"])
        self.said.append(sentence)


@dataclass(frozen=True, slots=True)
class Work:
    """A change of tasks under way: what is put, what comes of it, and who does it when."""

    change: Change
    outcome: Outcome
    who: str
    now: str

    @property
    def tasks(self) -> Tasks:
        """The tasks as they are so far."""
        return self.change.tasks

    def put(self, key: str, values: dict[str, Any], note: str = "", sentence: str = "") -> None:
        """Change fields of a task, and tell the ledger; a sentence takes the place of the line
        that a command has for each task.
        """
        before = self.tasks.record(key)
        if note := note.strip():
            values = {**values, "notes": self.noted(before, note)}
        after = changed(before, values, self.now)
        self.change.put(after)
        if sentence:
            self.outcome.tell(after, sentence)
        else:
            self.outcome.tasks.append(after)
        if after is not before:
            self.outcome.events.append(state_event(after, self.who, note))

    def noted(self, record: Record, note: str) -> str:
        """The notes of a task with one more, which says when and by whom."""
        line = f"{self.now[:16]}Z {self.who}: {text(note.strip(), 'a note')}"
        return "\n".join(filter(None, [str(record.get("notes") or ""), line]))

    def next_moment(self, key: str) -> str:
        """When a change of a task happens."""
        return next_moment(self.tasks.record(key), self.now)


def state_event(record: Record, who: str, note: str = "") -> Event:
    """What the ledger is told of a task's new status."""
    reason = record.get("close_reason")
    return {
        "ev": TASK_STATE,
        "ts": moment(record.get("updated_at")),
        "task": record["id"],
        "status": DELETED if is_deleted(record) else record["status"],
        "by": who,
        **({"reason": reason} if reason else {}),
        **({"note": note} if note else {}),
    }
