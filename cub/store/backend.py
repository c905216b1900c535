"""What every store of tasks can do, whatever it keeps them in."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from cub.store.jsonl import Record
from cub.store.tasks import Tasks


class Change(Protocol):
    """Tasks while nobody else can change them. What was put is written when the change ends."""

    @property
    def tasks(self) -> Tasks:
        """The tasks as they are, with what was put so far."""

    def put(self, record: Record) -> None:
        """Add a task, or put it in the place of the one with its id."""

    def settle(self) -> None:
        """Write also what only reading has put right so far: doubled lines, and rejected ones."""


class Backend(Protocol):
    """A store of tasks."""

    @property
    def name(self) -> str:
        """As `tasks.backend` names it."""

    @property
    def keeps_deleted(self) -> bool:
        """Whether a task that was deleted can be brought back."""

    def read(self) -> Tasks:
        """The tasks as they are now."""

    def change(self) -> AbstractContextManager[Change]:
        """A change: written as a whole when the block ends, and not at all if it raises."""

    def closing(self, key: str) -> tuple[str, ...]:
        """The commands by which an agent closes a task."""
