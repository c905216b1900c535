"""Hold what all attempts of a run share, and what the run has used of its budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock, RLock
from typing import Any

from cub.actions.run.agent_programs import RunAgents
from cub.actions.run.check_runner import CheckRunner
from cub.actions.run.command_trust import ApprovedChecks
from cub.actions.run.run_folders import RunFolder
from cub.actions.run.run_options import RunSettings
from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.git.process import decode_output, try_git
from cub.harness.base import Harness
from cub.place.folder import PlaceFolder
from cub.place.place import Place
from cub.place.place_settings import Base
from cub.processes.command import StopRequest
from cub.repomap.stack.facts import ProjectCommand
from cub.store.events import Event, tokens_to_json
from cub.store.jsonl import Record
from cub.store.leases import LeaseChecker
from cub.store.timestamps import format_timestamp
from cub.tokens import TokenUsage


class RunRefusedError(CubError):
    """Report that a run does not start: it leaves nothing behind."""


class Clock:
    """Tell a run the time, and wait for it."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)

    def wait(self, until: datetime, stop: StopRequest) -> bool:
        """Wait, but not longer than to a requested stop; return whether one was requested."""
        while (left := (until - self.now()).total_seconds()) > 0:
            if stop.wait(min(left, 30.0)):  # a laptop may sleep in the meantime
                return True
        return stop.is_requested


@dataclass(slots=True)
class RunContext:
    """Hold what a run needs from its start to its end.

    - `initial_stores`: the stores, read at `clock`'s time by `current_stores`.
    - `check_commands`: what a prompt names if no check is configured. To read them takes long.
    - `environ`: the environment of agents and checks.
    - `cwd`: the folder that `cub run` was called in.
    - `choice`: why `auto` chose these agents; "" if it did not.
    - `agent_versions`: the versions that agents which cub knows have printed.
    - `branch`: the branch that attempts begin from, and their commits go to; its full name.
    - `committed_stores`: the stores that belong in these commits.
    - `is_broken`: whether what was accepted could not be brought into the checkout.
    - `uncommitted_base`: what the next attempt begins from instead of the branch, as long as that
      stays where it is: the person's own changes, or those of a run that does not commit.
    - `unrecorded_events`: the event of the run's start, until its first attempt starts.
    - `new_tasks`: tasks that the first claim adds.
    - `more_places`: those of attempts that run at the same time as one in `place`.
    - `turn`: what an attempt holds from merging newer commits to its acceptance, checks included.
    - `lock`: what an attempt holds while it writes into the stores and into the checkout.
    - `reported`: messages that the run has printed, and need not print again.
    """

    initial_stores: Stores
    settings: RunSettings
    folder: RunFolder
    place: Place
    branch: str
    committed_stores: tuple[str, ...]
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
    choice: str = ""
    agent_versions: Mapping[str, str] = field(default_factory=dict)
    is_broken: bool = False
    uncommitted_base: Base | None = None
    unrecorded_events: list[Event] = field(default_factory=list)
    new_tasks: list[Record] = field(default_factory=list)
    reported: set[str] = field(default_factory=set)
    more_places: list[Place] = field(default_factory=list)
    turn: Lock = field(default_factory=Lock)
    lock: RLock = field(default_factory=RLock)

    @property
    def current_stores(self) -> Stores:
        """Return the stores, with leases judged at the current time."""
        return replace(self.initial_stores, lease_checker=LeaseChecker(self.timestamp))

    @property
    def agents(self) -> RunAgents:
        """Return the agents of the run, as it starts them."""
        project = self.initial_stores.project
        return RunAgents(self.harnesses, self.settings, project, self.environ)

    def open_places(self) -> list[Place]:
        """Return the places in which attempts work at once, and open those that are new."""
        for number in range(len(self.more_places) + 2, self.settings.jobs + 1):
            folder = PlaceFolder(self.place.folder.path.with_name(str(number)))
            self.more_places.append(Place(folder, self.place.settings))
            self.more_places[-1].open()
        return [self.place, *self.more_places]

    def close_places(self) -> None:
        """Drop the places, and all that was done in them."""
        for place in (self.place, *self.more_places):
            place.close()

    def find_base(self) -> Base:
        """Return what an attempt begins from now; its commit is "" if the branch is gone."""
        toplevel = self.place.settings.checkout.toplevel
        name = self.branch or "HEAD"
        words = ("log", "-1", "--no-show-signature", "--format=%H %T", name, "--")
        answer = decode_output(try_git(toplevel, *words).stdout).strip()
        commit, _, tree = answer.partition(" ")
        if self.uncommitted_base and self.uncommitted_base.tip == commit:
            return self.uncommitted_base
        return Base(commit, tree, self.branch, commit)

    @property
    def timestamp(self) -> str:
        """Return the current time as the stores write it."""
        return format_timestamp(self.clock.now())

    def make_event(self, name: str, **facts: Any) -> Event:
        """Return an event of this run, at the current time."""
        return {"ev": name, "ts": self.timestamp, "run": self.folder.id, **facts}


@dataclass(frozen=True, slots=True)
class Budget:
    """Hold the limits of a run, None for no limit, and what it has used of them.

    Dollars and tokens are None as long as no agent has reported any.
    """

    usd: float | None = None
    tokens: int | None = None
    iterations: int | None = None
    spent_usd: float | None = None
    spent_tokens: TokenUsage | None = None
    attempts: int = 0

    def with_attempt(self, tokens: TokenUsage | None, usd: float | None) -> Budget:
        """Return the budget after an attempt; None is for what the agent has not reported."""
        return replace(
            self,
            spent_usd=self.spent_usd if usd is None else (self.spent_usd or 0.0) + usd,
            spent_tokens=_add_tokens(self.spent_tokens, tokens),
            attempts=self.attempts + 1,
        )

    @property
    def is_exceeded(self) -> bool:
        """Return whether dollars or tokens are used up."""
        over_usd = self.usd is not None and (self.spent_usd or 0.0) >= self.usd
        return over_usd or (self.tokens is not None and self._token_count >= self.tokens)

    def has_no_room(self, running: int = 0) -> bool:
        """Return whether no attempt is left beside those that are running."""
        return self.iterations is not None and self.attempts + running >= self.iterations

    def describe_overrun(self) -> str:
        """Say which limit is used up, and how much of it."""
        if self.usd is not None and (self.spent_usd or 0.0) >= self.usd:
            return f"${self.spent_usd or 0.0:.2f} of ${self.usd:.2f} are used up"
        return f"{self._token_count:,} of {self.tokens:,} tokens are used up"

    def to_json(self) -> dict[str, Any]:
        """Return the fields of a run_end event about attempts, tokens and dollars."""
        usd = None if self.spent_usd is None else round(self.spent_usd, 6)
        return {"attempts": self.attempts, "tok": tokens_to_json(self.spent_tokens), "usd": usd}

    @property
    def _token_count(self) -> int:
        return self.spent_tokens.total if self.spent_tokens else 0


def _add_tokens(first: TokenUsage | None, second: TokenUsage | None) -> TokenUsage | None:
    return first.add(second) if first and second else first or second
