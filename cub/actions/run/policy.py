"""What becomes of a task after a failed attempt, and of a run after failures in a row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from cub.actions.run.evidence import Verdict
from cub.masking import masked
from cub.prompt.attempts import INFRASTRUCTURE, QUESTION, is_charged
from cub.prompt.recorded import number
from cub.store.events import ATTEMPT_END, ATTEMPT_START, TASK_STATE, Event, outcome, part
from cub.store.ledger import Ledger
from cub.store.spelling import OPEN, PARKED, RETRY

IN_A_ROW = 3  # failures of the machine that stop a run, and equal failures that park a task
# A commit that fails for three tasks in a row is no fault of the tasks.
_OF_THE_MACHINE = (*INFRASTRUCTURE, "commit_failed")


class History(NamedTuple):
    """Earlier attempts: how many there were, how many count since a person reopened the task,
    and the fingerprints and classes of those, the last one first. `reopened` says whether it was
    reopened after attempts that counted.
    """

    attempts: int
    charged: int
    prints: tuple[str, ...]
    failures: tuple[str, ...]
    reopened: bool


class Fate(NamedTuple):
    """The status that a task gets, and why, where a person is needed; `question` is what the
    agent has to be told before another attempt makes sense.
    """

    status: str
    why: str = ""
    question: str = ""


def history(ledger: Ledger, task: str) -> History:
    """What the ledger knows of a task."""
    kinds = (ATTEMPT_START, ATTEMPT_END, TASK_STATE)
    return told(ledger.newest(task, kinds))


def told(newest_first: Iterable[Event]) -> History:
    """The same, from events."""
    attempts, failed, over, reopened = 0, list[Event](), False, False
    for event in newest_first:
        if event.get("ev") == TASK_STATE:
            over |= event.get("status") == OPEN
            continue
        attempts = max(attempts, number(event.get("n")))
        over |= bool(event.get("ok"))
        if event.get("ev") == ATTEMPT_END and is_charged(event):
            reopened |= over
            failed += [] if over else [event]
    prints = tuple(str(part(event, "fail").get("fp") or "") for event in failed)
    return History(attempts, len(failed), prints, tuple(map(outcome, failed)), reopened)


def fate(verdict: Verdict, print_: str, before: History, most: int) -> Fate:
    """What becomes of a task that was not done."""
    if not verdict.charged:
        return Fate(RETRY if before.charged else OPEN)
    if _needs_answer(verdict, before):
        question = masked(verdict.reason)
        return Fate(PARKED, f"it waits for an answer: {question}", question)
    same = 1 + _leading(before.prints, print_)
    if same >= IN_A_ROW:
        return Fate(PARKED, f"{same} attempts failed in the same way ({verdict.failure})")
    if before.charged + 1 >= most:
        return Fate(PARKED, f"{_all_failed(before)} by {verdict.failure}")
    return Fate(RETRY)


class Row(NamedTuple):
    """Failures of one client for one reason of the machine's, one after the other."""

    failure: str = ""
    length: int = 0

    def then(self, verdict: Verdict) -> Row:
        """The row with one more attempt."""
        if verdict.failure not in _OF_THE_MACHINE:
            return Row()
        return Row(verdict.failure, self.length + 1 if verdict.failure == self.failure else 1)

    @property
    def is_over(self) -> bool:
        """Whether trying once more makes no sense."""
        return self.length >= IN_A_ROW


def _needs_answer(verdict: Verdict, before: History) -> bool:
    """Whether only a person gets the task on: the agent is stuck, or it asks again although the
    last attempt's question was answered with the advice to decide by itself.
    """
    asked_again = before.failures[:1] == (QUESTION,) and verdict.failure == QUESTION
    return verdict.failure == "stuck" or asked_again


def _all_failed(before: History) -> str:
    """That this attempt and all before it failed, of those that count."""
    count = before.charged + 1
    which = ""
    if before.reopened:
        which = " since it was reopened"
    elif before.attempts > count:
        which = " that counts" if count == 1 else " that count"
    if count == 1:
        return f"its attempt{which} failed"
    return f"all of its {count} attempts{which} failed, the last one"


def _leading(prints: tuple[str, ...], print_: str) -> int:
    """How many of the last attempts failed like this."""
    for count, other in enumerate(prints):
        if other != print_:
            return count
    return len(prints)
