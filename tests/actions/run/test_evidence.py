"""What an attempt came to, by the evidence alone: no client, no check and no git is run."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from cub.actions.run.checking import Check, Compared
from cub.actions.run.evidence import Evidence, Verdict, by_checks, judged
from cub.checks.items import Item
from cub.harness.transcript import Transcript
from cub.processes.command import Ended

_FINE = Evidence(
    ended=Ended(0, None, "", "", 12.0),
    told=Transcript(ended=True),
    errors="",
    succeeded=True,
    changed=True,
    put_back=(),
    moved="",
    unreachable=(),
    conflicts=(),
    oversized=(),
    request={},
    over_budget=False,
    at=datetime(2026, 1, 1, tzinfo=UTC),
)


def _final(text: str) -> Transcript:
    return Transcript(ended=True, _result=text)


def _judged(**different: Any) -> Verdict | None:
    return judged(replace(_FINE, **different))


def test_where_nothing_stands_against_it_the_checks_decide() -> None:
    assert judged(_FINE) is None


@pytest.mark.parametrize(
    ("different", "failure"),
    [
        ({"ended": Ended(None, 2, "stopped", "", 1.0)}, "interrupted"),
        ({"ended": Ended(None, None, "", "no such program", 0.0)}, "harness_missing"),
        ({"ended": Ended(127, None, "", "", 0.0), "succeeded": False}, "harness_missing"),
        ({"over_budget": True}, "budget"),
        ({"ended": Ended(None, 9, "idle", "", 1.0)}, "timeout_idle"),
        ({"ended": Ended(None, 9, "wall", "", 1.0)}, "timeout_wall"),
        ({"told": Transcript(denied=["rm"]), "changed": False}, "permission_denied"),
        ({"told": _final("<stuck>which oven?</stuck>")}, "stuck"),
        ({"told": _final("status: stuck\nsummary: no oven")}, "stuck"),
        ({"request": {"reason": "wontfix"}}, "stuck"),
        ({"told": _final("Which oven do you mean?"), "changed": False}, "asked_question"),
        ({"ended": Ended(3, None, "", "", 1.0), "succeeded": False}, "harness_exit"),
        ({"moved": "away"}, "unknown"),
        ({"conflicts": ["a.py"]}, "merge_conflict"),
        ({"oversized": ["a.bin"]}, "too_large"),
        ({"unreachable": ["inner"]}, "commit_failed"),
        ({"changed": False}, "no_changes"),
    ],
)
def test_the_class_of_a_failure(different: dict[str, Any], failure: str) -> None:
    verdict = _judged(**different)
    assert verdict is not None
    assert (verdict.failure, verdict.ok) == (failure, False)


def test_what_had_not_to_be_changed_is_no_failure() -> None:
    request = {"reason": "no_change"}
    assert _judged(changed=False, request=request) is None
    known = replace(_FINE, changed=False, request=request)
    assert by_checks([], known) == Verdict(no_change=True)


def test_one_check_that_is_worse_is_enough() -> None:
    item = Item("test", "test_a", "it broke")
    fine = Compared(Check("make", 0), ok=True)
    worse = Compared(Check("make test", 1, items=(item,)), ok=False, new=(item,))
    assert by_checks([fine], _FINE).ok
    verdict = by_checks([fine, worse, fine], _FINE)
    assert verdict == Verdict("checks_failed", "test_a: it broke")
    stopped = Compared(Check("make", None, cause="stopped"), ok=False)
    assert by_checks([worse, stopped], _FINE).failure == "interrupted"


@pytest.mark.parametrize(
    ("verdict", "charged"),
    [
        (Verdict(), False),
        (Verdict("checks_failed"), True),
        (Verdict("checks_failed", is_free=True), False),
        (Verdict("interrupted"), False),
        (Verdict("budget"), False),
        (Verdict("stuck"), True),
    ],
)
def test_only_a_fault_of_the_attempt_is_charged(verdict: Verdict, charged: bool) -> None:
    assert verdict.charged is charged
