"""A run that is under way: all that its attempts share.

What a run has used up, and what it may.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from cub.actions.run.check_runner import CheckRunner
from cub.actions.run.command_trust import ApprovedChecks
from cub.actions.run.run_folders import RunFolder
from cub.actions.run.run_options import RunSettings
from cub.actions.run.workspace import Workspace
from cub.actions.tasks.stores import Stores
from cub.harness.base import Harness, TokenUsage, Transcript
from cub.processes.command import StopRequest
from cub.repomap.stack.facts import ProjectCommand
from cub.store.events import Event
from cub.store.jsonl import Record
from cub.store.leases import make_lease_checker
from cub.store.task_schema import CLOSED
from cub.store.timestamps import format_timestamp

_SLACK = timedelta(hours=1)


class Clock(Protocol):
    """Time, as a run sees it."""

    def now(self) -> datetime:
        """This moment, in UTC."""

    def wait(self, until: datetime, stop: StopRequest) -> bool:
        """Wait, and no longer than to a requested stop; whether there was one."""


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        """See `Clock`."""
        return datetime.now(UTC)

    def wait(self, until: datetime, stop: StopRequest) -> bool:
        """See `Clock`. The clock is looked at again and again: a laptop may sleep meanwhile."""
        while (left := (until - self.now()).total_seconds()) > 0:
            if stop.wait(min(left, 30.0)):
                return True
        return stop.is_requested


@dataclass(slots=True)
class RunContext:
    """`is_broken`: what the last attempt did could neither be kept nor put back. `has_recovered`:
    a killed run was concluded before this one. `uncommitted_files` are files that accepted attempts
    have made and nobody has committed: they are the run's own. `cwd` is where the person stands.

    `initial_stores` are the stores, read at `clock`'s time by `current_stores`; `check_commands`
    are what a prompt names where no check is configured; `environ` is what clients and checks get.
    """

    initial_stores: Stores
    settings: RunSettings
    folder: RunFolder
    workspace: Workspace
    check_runner: CheckRunner
    clock: Clock
    stop: StopRequest
    budget: Budget
    check_commands: tuple[ProjectCommand, ...]
    environ: Mapping[str, str]
    system_prompt: str
    harnesses: list[Harness]
    approved_checks: ApprovedChecks
    cwd: Path
    has_recovered: bool
    is_broken: bool = False
    uncommitted_files: set[str] = field(default_factory=set)

    @property
    def current_stores(self) -> Stores:
        """The stores, asked now."""
        return replace(self.initial_stores, lease_checker=make_lease_checker(self.timestamp))

    @property
    def timestamp(self) -> str:
        """This moment, as the stores write it."""
        return format_timestamp(self.clock.now())

    def make_event(self, name: str, **facts: Any) -> Event:
        """An event of this run."""
        return {"ev": name, "ts": self.timestamp, "run": self.folder.id, **facts}

    def approved_checks_of(self, task: Record) -> tuple[str, ...]:
        """The commands that a task brings along, as far as they count."""
        return self.approved_checks.pin_checks(task) if self.settings.uses_task_checks else ()

    def lease_duration(self, checks: int) -> timedelta:
        """Longer than an attempt can take, with its checks before and after."""
        most = self.settings.timeout * (1 + 2 * checks)
        return timedelta(seconds=most) + _SLACK


@dataclass(frozen=True, slots=True)
class Budget:
    """`usd`, `tokens` and `iterations` may be used up; the rest has been. None is no limit."""

    usd: float | None = None
    tokens: int | None = None
    iterations: int | None = None
    spent_usd: float = 0.0
    spent_tokens: TokenUsage = TokenUsage()  # noqa: RUF009 - immutable
    attempts: int = 0

    def with_attempt(self, transcript: Transcript) -> Budget:
        """The budget after an attempt."""
        return replace(
            self,
            spent_usd=self.spent_usd + transcript.usd,
            spent_tokens=self.spent_tokens.add(transcript.tokens),
            attempts=self.attempts + 1,
        )

    @property
    def is_exceeded(self) -> bool:
        """Whether dollars or tokens are used up."""
        over_usd = self.usd is not None and self.spent_usd >= self.usd
        return over_usd or (self.tokens is not None and self.spent_tokens.total >= self.tokens)

    @property
    def is_out_of_attempts(self) -> bool:
        """Whether no attempt is left."""
        return self.iterations is not None and self.attempts >= self.iterations

    def describe_overrun(self) -> str:
        """What is over, for a person."""
        if self.usd is not None and self.spent_usd >= self.usd:
            return f"${self.spent_usd:.2f} of ${self.usd:.2f} are used up"
        return f"{self.spent_tokens.total:,} of {self.tokens:,} tokens are used up"

    def to_json(self) -> dict[str, Any]:
        """What the ledger and the status are told."""
        return {
            "attempts": self.attempts,
            "tok": tokens_to_json(self.spent_tokens),
            "usd": round(self.spent_usd, 6),
        }


def tokens_to_json(tokens: TokenUsage) -> dict[str, int]:
    """Tokens as the ledger has them."""
    return {
        "in": tokens.input,
        "out": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write,
    }


@dataclass(slots=True)
class RunTally:
    """What became of the tasks of this run, the last status of each; whether any client has worked;
    why it ends, if that needs words.
    """

    statuses: dict[str, str] = field(default_factory=dict)
    has_worked: bool = False
    end_reason: str = ""

    @property
    def list_failed_tasks(self) -> list[str]:
        """The tasks that were begun and are not done."""
        return [task for task, status in self.statuses.items() if status != CLOSED]

    def to_json(self) -> dict[str, int]:
        """How many tasks have which status."""
        return dict(sorted(Counter(self.statuses.values()).items()))
