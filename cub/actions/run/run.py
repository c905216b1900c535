"""A run that is under way: all that its attempts share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from cub.actions.run.budget import Budget
from cub.actions.run.checking import Checker
from cub.actions.run.folders import RunFolder
from cub.actions.run.ground import Ground
from cub.actions.run.settings import RunSettings
from cub.actions.run.trust import Agreed
from cub.actions.tasks.stores import Stores
from cub.harness.base import Harness
from cub.processes.stop import Stop
from cub.repomap.stack.facts import Command
from cub.store.events import Event
from cub.store.jsonl import Record
from cub.store.lease import watch
from cub.store.moments import written

_SLACK = timedelta(hours=1)


class Clock(Protocol):
    """Time, as a run sees it."""

    def now(self) -> datetime:
        """This moment, in UTC."""

    def wait(self, until: datetime, stop: Stop) -> bool:
        """Wait, and no longer than to a requested stop; whether there was one."""


class RealClock:
    """The machine's time."""

    def now(self) -> datetime:
        """See `Clock`."""
        return datetime.now(UTC)

    def wait(self, until: datetime, stop: Stop) -> bool:
        """See `Clock`. The clock is looked at again and again: a laptop may sleep meanwhile."""
        while (left := (until - self.now()).total_seconds()) > 0:
            if stop.wait(min(left, 30.0)):
                return True
        return stop.requested


@dataclass(slots=True)
class Run:
    """`is_broken`: what the last attempt did could neither be kept nor put back. `has_recovered`:
    a killed run was concluded before this one. `made` are files that accepted attempts have made
    and nobody has committed: they are the run's own. `cwd` is where the person stands.

    `opened` are the stores, read at `clock`'s time by `stores`; `loops` are what a prompt names
    where no check is configured; `environ` is what clients and checks get.
    """

    opened: Stores
    settings: RunSettings
    folder: RunFolder
    ground: Ground
    checker: Checker
    clock: Clock
    stop: Stop
    budget: Budget
    loops: tuple[Command, ...]
    environ: Mapping[str, str]
    system: str
    harnesses: list[Harness]
    agreed: Agreed
    cwd: Path
    has_recovered: bool
    is_broken: bool = False
    made: set[str] = field(default_factory=set)

    @property
    def stores(self) -> Stores:
        """The stores, asked now."""
        return replace(self.opened, watch=watch(self.now))

    @property
    def now(self) -> str:
        """This moment, as the stores write it."""
        return written(self.clock.now())

    def event(self, name: str, **facts: Any) -> Event:
        """An event of this run."""
        return {"ev": name, "ts": self.now, "run": self.folder.id, **facts}

    def own_checks_of(self, task: Record) -> tuple[str, ...]:
        """The commands that a task brings along, as far as they count."""
        return self.agreed.of(task) if self.settings.own_checks else ()

    def lease_lasts(self, checks: int) -> timedelta:
        """Longer than an attempt can take, with its checks before and after."""
        most = self.settings.timeout * (1 + 2 * checks)
        return timedelta(seconds=most) + _SLACK
