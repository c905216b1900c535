"""What becomes of a task, from a failure's class and what the ledger has of earlier ones."""

from __future__ import annotations

from typing import Any

import pytest

from cub.actions.run import failures
from cub.actions.run.retry_policy import (
    Disposition,
    FailureStreak,
    decide_disposition,
    summarize_attempts,
)
from cub.actions.run.verdict import Verdict
from cub.store.events import Event

_FAILED = Verdict(failures.HARNESS_EXIT, "exit code 1")


def _ended(number: int, failure: str = "harness_exit", print_: str = "") -> Event:
    fail = {"class": failure, "charge": failure != "auth", "fp": print_ or f"p{number}"}
    return {
        "ev": "attempt_end",
        "n": number,
        "ok": not failure,
        **({"fail": fail} if failure else {}),
    }


def _state(status: str) -> Event:
    return {"ev": "task_state", "status": status}


def _fate(
    *oldest_first: Event, verdict: Verdict = _FAILED, most: int = 3, **more: Any
) -> Disposition:
    """What becomes of a task whose attempt has begun and now failed."""
    number = 1 + sum(event["ev"] == "attempt_end" for event in oldest_first)
    begun = {"ev": "attempt_start", "n": number}
    before = summarize_attempts(reversed([*oldest_first, begun]))
    return decide_disposition(verdict, more.get("print_", "new"), before, most)


def test_all_attempts_of_a_task_that_was_never_reopened() -> None:
    assert _fate(_ended(1), most=3) == Disposition("retry")
    parked = "all of its 3 attempts failed, the last one by harness_exit"
    assert _fate(_ended(1), _ended(2)) == Disposition("parked", parked)


def test_attempts_in_a_row_that_failed_in_the_same_way() -> None:
    check = {"cmd": "make", "fp": "c"}
    ends = [
        {**_ended(1, print_="old"), "checks": [check]},
        {**_ended(2, print_="new"), "checks": []},
        {**_ended(3, print_="same"), "checks": [{"cmd": "lint", "fp": "c"}, check, "odd"]},
        _ended(4, "auth", print_="other"),
        {**_ended(5, print_="same"), "checks": [check]},
    ]
    history = summarize_attempts(reversed(ends))
    assert [end["n"] for end in history.list_same_failures("same")] == [5, 3]
    assert history.list_same_failures("new") == []
    assert history.find_same_check("make", "c") == 3
    assert history.find_same_check("lint", "c") is None


def test_the_only_attempt() -> None:
    assert _fate(most=1) == Disposition("parked", "its attempt failed by harness_exit")


def test_attempts_that_are_not_charged_are_none_of_those_that_failed() -> None:
    parked = "all of its 2 attempts that count failed, the last one by harness_exit"
    assert _fate(_ended(1, "auth"), _ended(2), _ended(3, "auth"), most=2) == Disposition(
        "parked", parked
    )
    alone = "its attempt that counts failed by harness_exit"
    assert _fate(_ended(1, "auth"), most=1) == Disposition("parked", alone)


@pytest.mark.parametrize("before", ["failed", "done"])
def test_after_a_reopening_only_the_attempts_since_then_are_told(before: str) -> None:
    first = [_ended(number) for number in (1, 2, 3)] if before == "failed" else [_ended(1, "")]
    since = [*first, _state("parked"), _state("open"), _state("in_progress")]
    parked = "all of its 2 attempts since it was reopened failed, the last one by harness_exit"
    assert _fate(*since, _ended(4), most=2) == Disposition("parked", parked)
    alone = "its attempt since it was reopened failed by harness_exit"
    assert _fate(*since, most=1) == Disposition("parked", alone)


def test_a_task_that_a_run_gave_back_was_not_reopened() -> None:
    given_back = [_ended(1, "auth"), _state("open"), _state("in_progress")]
    assert "reopened" not in _fate(*given_back, most=1).reason


def test_the_same_failure_counts_from_the_reopening_on() -> None:
    earlier = [_ended(number, print_="same") for number in (1, 2, 3)]
    since = [*earlier, _state("parked"), _state("open"), _ended(4, print_="same")]
    assert _fate(*since, print_="same", most=9) == Disposition("retry")
    parked = _fate(*since, _ended(5, print_="same"), print_="same", most=9)
    assert parked == Disposition("parked", "3 attempts failed in the same way (harness_exit)")


def test_who_is_stuck_waits_for_a_person_at_once() -> None:
    found = _fate(verdict=Verdict(failures.STUCK, "I need the API key"), most=9)
    assert found == Disposition(
        "parked", "it waits for an answer: I need the API key", "I need the API key"
    )


def test_a_question_is_tried_once_more_and_the_second_one_in_a_row_waits_for_a_person() -> None:
    asked = Verdict(failures.ASKED_QUESTION, "Which oven?")
    assert _fate(verdict=asked, most=9) == Disposition("retry")
    assert _fate(_ended(1, "asked_question"), _ended(2), verdict=asked, most=9) == Disposition(
        "retry"
    )
    found = _fate(_ended(1, "asked_question"), verdict=asked, most=9)
    assert found == Disposition("parked", "it waits for an answer: Which oven?", "Which oven?")
    reopened = [_ended(1, "asked_question"), _state("parked"), _state("open")]
    assert _fate(*reopened, verdict=asked, most=9) == Disposition("retry")


def test_equal_failures_count_if_they_follow_each_other() -> None:
    ends = [_ended(1, print_="same"), _ended(2, print_="other"), _ended(3, print_="same")]
    assert _fate(*ends, print_="same", most=9) == Disposition("retry")


@pytest.mark.parametrize(
    ("names", "is_over"),
    [
        (("auth",), True),
        (("harness_setup",), True),
        (("commit_failed", "commit_failed"), False),
        (("commit_failed", "commit_failed", "commit_failed"), True),
        (("commit_failed", "commit_failed", "rate_limited"), False),
        (("commit_failed", "commit_failed", "context_failed"), False),
        (("commit_failed", "commit_failed", "checks_failed", "commit_failed"), False),
        (("service_failed",) * 5, False),
        (("service_failed",) * 6, True),
    ],
)
def test_three_failures_of_the_machine_for_one_reason_end_a_row(
    names: tuple[str, ...], is_over: bool
) -> None:
    row = FailureStreak()
    for failure in names:
        row = row.extend(Verdict(failures.find_class(failure), "its reason"))
    assert row.is_exhausted == is_over


def test_a_failure_that_is_not_charged_counts_whatever_its_class() -> None:
    row = FailureStreak()
    for _ in range(3):
        assert not row.is_exhausted
        row = row.extend(_FAILED._replace(is_uncounted=True))
    assert row.is_exhausted


def test_conflicts_with_newer_commits_end_no_run() -> None:
    row = FailureStreak()
    for _ in range(9):
        row = row.extend(Verdict(failures.MERGE_CONFLICT, "kept.txt", is_uncounted=True))
    assert not row.is_exhausted
