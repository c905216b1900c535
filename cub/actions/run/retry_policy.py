"""What becomes of a task after a failed attempt, and of a run after failures in a row.

The clients of a run: which one works next, and which one has to wait, or can't go on at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from cub.actions.run.verdict import Verdict
from cub.harness.base import Harness
from cub.masking import mask_text
from cub.prompt.previous_attempts import (
    INFRASTRUCTURE_FAILURES,
    QUESTION_FAILURE,
    counts_as_attempt,
    to_count,
)
from cub.store.events import ATTEMPT_END, ATTEMPT_START, TASK_STATE, Event, get_mapping, get_outcome
from cub.store.ledger import Ledger
from cub.store.task_schema import OPEN, PARKED, RETRY
from cub.store.timestamps import format_timestamp

MAX_STREAK = 3  # failures of the machine that stop a run, and equal failures that park a task
# A commit that fails for three tasks in a row is no fault of the tasks.
_OF_THE_MACHINE = (*INFRASTRUCTURE_FAILURES, "commit_failed")


class AttemptHistory(NamedTuple):
    """Earlier attempts: how many there were, how many count since a person reopened the task,
    and the fingerprints and classes of those, the last one first. `was_reopened` says whether it
    was reopened after attempts that counted.
    """

    attempts: int
    counted_attempts: int
    fingerprints: tuple[str, ...]
    failures: tuple[str, ...]
    was_reopened: bool


class Disposition(NamedTuple):
    """The status that a task gets, and why, where a person is needed; `question` is what the
    agent has to be told before another attempt makes sense.
    """

    status: str
    reason: str = ""
    question: str = ""


def read_attempt_history(ledger: Ledger, task: str) -> AttemptHistory:
    """What the ledger knows of a task."""
    kinds = (ATTEMPT_START, ATTEMPT_END, TASK_STATE)
    return summarize_attempts(ledger.iter_task_events(task, kinds))


def summarize_attempts(newest_first: Iterable[Event]) -> AttemptHistory:
    """The same, from events."""
    attempts, failed, over, reopened = 0, list[Event](), False, False
    for event in newest_first:
        if event.get("ev") == TASK_STATE:
            over |= event.get("status") == OPEN
            continue
        attempts = max(attempts, to_count(event.get("n")))
        over |= bool(event.get("ok"))
        if event.get("ev") == ATTEMPT_END and counts_as_attempt(event):
            reopened |= over
            failed += [] if over else [event]
    prints = tuple(str(get_mapping(event, "fail").get("fp") or "") for event in failed)
    return AttemptHistory(attempts, len(failed), prints, tuple(map(get_outcome, failed)), reopened)


def decide_disposition(
    verdict: Verdict, fingerprint: str, before: AttemptHistory, max_attempts: int
) -> Disposition:
    """What becomes of a task that was not done."""
    if not verdict.counts_as_attempt:
        return Disposition(RETRY if before.counted_attempts else OPEN)
    if _needs_answer(verdict, before):
        question = mask_text(verdict.reason)
        return Disposition(PARKED, f"it waits for an answer: {question}", question)
    same = 1 + _leading(before.fingerprints, fingerprint)
    if same >= MAX_STREAK:
        return Disposition(PARKED, f"{same} attempts failed in the same way ({verdict.failure})")
    if before.counted_attempts + 1 >= max_attempts:
        return Disposition(PARKED, f"{_all_failed(before)} by {verdict.failure}")
    return Disposition(RETRY)


class FailureStreak(NamedTuple):
    """Failures of one client for one reason of the machine's, one after the other."""

    failure: str = ""
    length: int = 0

    def extend(self, verdict: Verdict) -> FailureStreak:
        """The row with one more attempt."""
        if verdict.failure not in _OF_THE_MACHINE:
            return FailureStreak()
        return FailureStreak(
            verdict.failure, self.length + 1 if verdict.failure == self.failure else 1
        )

    @property
    def is_exhausted(self) -> bool:
        """Whether trying once more makes no sense."""
        return self.length >= MAX_STREAK


def _needs_answer(verdict: Verdict, before: AttemptHistory) -> bool:
    """Whether only a person gets the task on: the agent is stuck, or it asks again although the
    last attempt's question was answered with the advice to decide by itself.
    """
    asked_again = before.failures[:1] == (QUESTION_FAILURE,) and verdict.failure == QUESTION_FAILURE
    return verdict.failure == "stuck" or asked_again


def _all_failed(before: AttemptHistory) -> str:
    """That this attempt and all before it failed, of those that count."""
    count = before.counted_attempts + 1
    which = ""
    if before.was_reopened:
        which = " since it was reopened"
    elif before.attempts > count:
        which = " that counts" if count == 1 else " that count"
    if count == 1:
        return f"its attempt{which} failed"
    return f"all of its {count} attempts{which} failed, the last one"


def _leading(prints: tuple[str, ...], fingerprint: str) -> int:
    """How many of the last attempts failed like this."""
    for count, other in enumerate(prints):
        if other != fingerprint:
            return count
    return len(prints)


_SHORTEST, _LONGEST = timedelta(minutes=1), timedelta(minutes=15)


class HarnessPool:
    """Clients in the order of preference. A limit that tells no end is tried again after a
    minute, then after two, four, and so on.
    """

    def __init__(self, harnesses: Sequence[Harness]) -> None:
        self._harnesses = list(harnesses)
        self._until: dict[str, datetime] = {}
        self._guesses: dict[str, int] = {}
        self._rows: dict[str, FailureStreak] = {}

    @property
    def names(self) -> list[str]:
        """What they are called."""
        return [harness.name for harness in self._harnesses]

    def next_available(self, now: datetime) -> Harness | None:
        """The first one that may work now."""
        for harness in self._harnesses:
            if self._until.get(harness.name, now) <= now:
                return harness
        return None

    @property
    def available_at(self) -> datetime:
        """When the next one is free."""
        return min(self._until[name] for name in self.names)

    @property
    def available_at_text(self) -> str:
        """The same, as events have it."""
        return format_timestamp(self.available_at)

    def record_verdict(self, harness: Harness, verdict: Verdict, now: datetime) -> None:
        """Remember a limit, and failures in a row; drop a client that can't work for another."""
        name = harness.name
        self._rows[name] = self._rows.get(name, FailureStreak()).extend(verdict)
        if verdict.failure == "rate_limited":
            self._until[name] = verdict.reset_time or now + self._guess(name)
            return
        self._guesses.pop(name, None)
        if verdict.failure in ("auth", "harness_missing") and len(self._harnesses) > 1:
            self._harnesses.remove(harness)

    @property
    def are_exhausted(self) -> bool:
        """Whether going on makes no sense with any of them."""
        return all(self._rows.get(name, FailureStreak()).is_exhausted for name in self.names)

    def _guess(self, name: str) -> timedelta:
        count = self._guesses.get(name, 0)
        self._guesses[name] = count + 1
        return min(_SHORTEST * (1 << min(count, 8)), _LONGEST)
