"""Tasks in beads, for projects that have them there: read and changed through its client `bd`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from cub.errors import CubError
from cub.files import exclusive
from cub.store.beads import client
from cub.store.beads.calls import Pair, calls
from cub.store.formats.beads import issue
from cub.store.formats.beads_issue import task_of
from cub.store.jsonl import Record, lines
from cub.store.tasks import Tasks


@dataclass(slots=True)
class BeadsChange:
    """See `cub.store.backend.Change`. `before` has the tasks that were put, as they were."""

    tasks: Tasks
    before: dict[str, Record | None] = field(default_factory=dict)

    def put(self, record: Record) -> None:
        """Add or replace a task."""
        key = record["id"]
        self.before.setdefault(key, self.tasks.record(key) if key in self.tasks else None)
        self.tasks.put(record)

    def settle(self) -> None:
        """Nothing: beads has no lines to be put right."""

    def pairs(self) -> Iterator[Pair]:
        """The tasks that were put, before and after."""
        return (Pair(before, self.tasks.record(key)) for key, before in self.before.items())


@dataclass(frozen=True, slots=True)
class BeadsBackend:
    """The issues of the beads database of the project at `root`."""

    root: Path
    name: str = "beads"
    keeps_deleted: bool = False

    def read(self) -> Tasks:
        """All issues, whatever their status, in one call."""
        return Tasks.of(self._records(client.ask(self.root, "export")))

    @contextmanager
    def change(self) -> Iterator[BeadsChange]:
        """Hold the project's lock, read, and tell `bd` each difference, one call after the other.

        Where one fails, those before it stay.
        """
        with exclusive(self.root):
            change = BeadsChange(self.read())
            yield change
            for call in calls(change.pairs()):
                client.tell(self.root, *call)

    def closing(self, key: str) -> tuple[str, ...]:
        """The commands of beads, with reasons that cub knows."""
        return (f'bd close {key} --reason "done"', f'bd close {key} --reason "no_change"')

    def _records(self, data: bytes) -> Iterator[Record]:
        for line in lines(BytesIO(data)):
            try:
                raw = issue(line)
            except ValueError as error:
                what = f"`bd export` printed what cub can't read: {error}"
                raise CubError(what, where=f"line {line.number}") from error
            if raw is not None:
                yield task_of(raw)
