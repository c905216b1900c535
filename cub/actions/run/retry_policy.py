"""Decide what happens to a task after a failed attempt, and which agent works next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from cub.actions.run.failures import (
    ASKED_QUESTION,
    AUTH,
    HARNESS_MISSING,
    HARNESS_SETUP,
    MERGE_CONFLICT,
    STUCK,
    FailureClass,
    counts_as_attempt,
)
from cub.actions.run.verdict import Verdict
from cub.harness.base import Harness
from cub.json_values import get_count
from cub.masking import mask_text
from cub.store.events import (
    ATTEMPT_END,
    ATTEMPT_START,
    TASK_STATE,
    Event,
    get_mapping,
    get_outcome,
)
from cub.store.ledger import Ledger
from cub.store.task_schema import OPEN, PARKED, RETRY
from cub.text import truncate_text

WAITS_FOR_ANSWER = "it waits for an answer"  # why a task is parked; its question follows
MAX_STREAK = 3  # machine failures that stop a run, and equal failures that park a task
_MAX_WAITING_STREAK = 6  # of failures that a run waits for: they take half an hour or more
# What an agent can't do now it can't do later: only a person can help, or another agent.
_AGENT_FAILURES = (AUTH, HARNESS_MISSING, HARNESS_SETUP)
_MAX_WAIT_REASON = 100  # characters
_MIN_WAIT, _MAX_WAIT = timedelta(minutes=1), timedelta(minutes=15)


class AttemptHistory(NamedTuple):
    """Hold the number of a task's attempts, and the ends of those that count, the last one first.

    Only attempts since the task was reopened count. `was_reopened` says whether a person reopened
    it after attempts that counted.
    """

    attempts: int
    counted: tuple[Event, ...]
    was_reopened: bool

    @property
    def counted_attempts(self) -> int:
        """Return how many attempts count."""
        return len(self.counted)

    def list_same_failures(self, fingerprint: str) -> list[Event]:
        """Return the last attempts in a row that failed in one way."""

        def is_same(end: Event) -> bool:
            return get_mapping(end, "fail").get("fp") == fingerprint

        return [*takewhile(is_same, self.counted)]

    def find_same_check(self, command: str, fingerprint: str) -> int | None:
        """Return the number of the first of the last attempts in a row with a check's failure."""
        has_failure = partial(_has_check_failure, command=command, fingerprint=fingerprint)
        return get_first_number([*takewhile(has_failure, self.counted)])


class Disposition(NamedTuple):
    """Hold the status that a task gets, the reason if a person is needed, and their question.

    `question` is what the agent has to know before another attempt makes sense.
    """

    status: str
    reason: str = ""
    question: str = ""


def read_attempt_history(ledger: Ledger, task: str) -> AttemptHistory:
    """Return a task's attempts as the ledger has them."""
    kinds = (ATTEMPT_START, ATTEMPT_END, TASK_STATE)
    return summarize_attempts(ledger.iter_task_events(task, kinds))


def summarize_attempts(newest_first: Iterable[Event]) -> AttemptHistory:
    """Return a task's attempts from its events."""
    attempts, failed, is_past, was_reopened = 0, list[Event](), False, False
    for event in newest_first:
        if event.get("ev") == TASK_STATE:
            is_past |= event.get("status") == OPEN
            continue
        attempts = max(attempts, get_count(event, "n"))
        is_past |= bool(event.get("ok"))
        if event.get("ev") == ATTEMPT_END and counts_as_attempt(event):
            was_reopened |= is_past
            failed += [] if is_past else [event]
    return AttemptHistory(attempts, tuple(failed), was_reopened)


def get_first_number(newest_first: Sequence[Event]) -> int | None:
    """Return the number of the first of some attempts; None if there are none."""
    return get_count(newest_first[-1], "n") or None if newest_first else None


def _has_check_failure(end: Event, command: str, fingerprint: str) -> bool:
    checks = end.get("checks")
    return any(
        (check.get("cmd"), check.get("fp")) == (command, fingerprint)
        for check in (checks if isinstance(checks, list) else ())
        if isinstance(check, dict)
    )


def decide_disposition(
    verdict: Verdict, fingerprint: str, history: AttemptHistory, max_attempts: int
) -> Disposition:
    """Return the next status of a task that was not done."""
    if verdict.failure is None or not verdict.counts_as_attempt:
        return Disposition(RETRY if history.counted_attempts else OPEN)
    if _needs_answer(verdict, history):
        question = mask_text(verdict.reason)
        return Disposition(PARKED, f"{WAITS_FOR_ANSWER}: {question}", question)
    name = verdict.failure.name
    equal = 1 + len(history.list_same_failures(fingerprint))
    if verdict.repeats_baseline and equal > 1:
        what = "failed in the same way, and so did the check before them"
        return Disposition(PARKED, f"{equal} attempts {what}: {verdict.reason}")
    if equal >= MAX_STREAK:
        return Disposition(PARKED, f"{equal} attempts failed in the same way ({name})")
    if history.counted_attempts + 1 >= max_attempts:
        return Disposition(PARKED, f"{_describe_attempts(history)} by {name}")
    return Disposition(RETRY)


class FailureStreak(NamedTuple):
    """Count failures in a row of one agent, for one reason that is not the tasks' fault."""

    failure: FailureClass | None = None
    length: int = 0

    def extend(self, verdict: Verdict) -> FailureStreak:
        """Return the streak after one more attempt."""
        if verdict.failure is None:
            return FailureStreak()
        if verdict.failure == MERGE_CONFLICT:  # the agent has worked, and others faster
            return FailureStreak()
        if verdict.counts_as_attempt and not verdict.failure.is_environment:
            return FailureStreak()
        length = self.length + 1 if verdict.failure == self.failure else 1
        return FailureStreak(verdict.failure, length)

    @property
    def is_exhausted(self) -> bool:
        """Return whether trying once more makes no sense."""
        if self.failure in _AGENT_FAILURES:
            return True
        waits = self.failure is not None and self.failure.wait_reason
        return self.length >= (_MAX_WAITING_STREAK if waits else MAX_STREAK)


def _needs_answer(verdict: Verdict, history: AttemptHistory) -> bool:
    """Return whether only a person can help: the agent is stuck, or asks a second time in a row.

    The prompt has answered the first question with the advice to decide on its own.
    """
    if verdict.failure == ASKED_QUESTION:
        return any(get_outcome(end) == ASKED_QUESTION.name for end in history.counted[:1])
    return verdict.failure == STUCK


def _describe_attempts(history: AttemptHistory) -> str:
    count = history.counted_attempts + 1
    which = ""
    if history.was_reopened:
        which = " since it was reopened"
    elif history.attempts > count:
        which = " that counts" if count == 1 else " that count"
    if count == 1:
        return f"its attempt{which} failed"
    return f"all of its {count} attempts{which} failed, the last one"


class HarnessPool:
    """Choose among harnesses in the order of preference; skip those that have to wait.

    A limit whose end is unknown, or a service that failed, is tried again after a minute, then
    after two, four, and so on; so is a limit that lasts longer than it said.
    """

    def __init__(self, harnesses: Sequence[Harness]) -> None:
        self._harnesses = list(harnesses)
        self._waits: dict[str, tuple[datetime, str]] = {}  # until when, and for what
        self._streaks: dict[str, FailureStreak] = {}

    @property
    def names(self) -> list[str]:
        """Return the names of the harnesses."""
        return [harness.name for harness in self._harnesses]

    def next_available(self, now: datetime) -> Harness | None:
        """Return the first harness that no limit holds back, or None."""
        for harness in self._harnesses:
            if harness.name not in self._waits or self._waits[harness.name][0] <= now:
                return harness
        return None

    @property
    def first_wait(self) -> tuple[datetime, str]:
        """Return when the first wait ends, and what it is for."""
        return min(self._waits[name] for name in self.names)

    def record_verdict(self, harness: Harness, verdict: Verdict, now: datetime) -> bool:
        """Note a limit and failures in a row; return whether the harness is left out from now on.

        That is one that can't work where there is another.
        """
        name = harness.name
        self._streaks[name] = streak = self._streaks.get(name, FailureStreak()).extend(verdict)
        if verdict.failure and verdict.failure.wait_reason:
            until = _choose_next_try(verdict.reset_time, streak.length, now)
            reason = mask_text(truncate_text(verdict.reason, _MAX_WAIT_REASON))
            why = verdict.failure.wait_reason.format(agent=name)
            self._waits[name] = (until, f"{why} ({reason})" if reason else why)
        elif verdict.failure in _AGENT_FAILURES and len(self._harnesses) > 1:
            self._harnesses.remove(harness)
            return True
        return False

    def count_failures(self, harness: Harness) -> int:
        """Return how many attempts with a harness have failed in a row for one reason."""
        return self._streaks[harness.name].length

    @property
    def are_exhausted(self) -> bool:
        """Return whether trying again makes no sense with any harness."""
        return all(self._streaks.get(name, FailureStreak()).is_exhausted for name in self.names)


def _choose_next_try(reset_time: datetime | None, failures: int, now: datetime) -> datetime:
    """Return when to try again after so many failures in a row."""
    if reset_time and failures == 1:
        return reset_time
    doublings = min(failures - (2 if reset_time else 1), 8)
    guess = now + min(_MIN_WAIT * (1 << doublings), _MAX_WAIT)
    return max(reset_time, guess) if reset_time else guess
