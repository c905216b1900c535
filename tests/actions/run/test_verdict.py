"""What an attempt came to, by the evidence alone: no client, no check and no git is run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cub.actions.run import failures
from cub.actions.run.check_comparison import CheckComparison, compare_check
from cub.actions.run.check_runner import CheckResult
from cub.actions.run.failures import FailureClass, find_class
from cub.actions.run.verdict import (
    AgentResult,
    AttemptEvidence,
    Verdict,
    judge_before_checks,
    judge_by_checks,
)
from cub.checks.failing_items import FailingItem
from cub.harness.base import Transcript
from cub.harness.refusals import Refusal, RefusalKind
from cub.processes.command import ProcessResult

_FINE = AttemptEvidence(
    AgentResult(ProcessResult(0, None, "", "", 12.0), Transcript(has_result=True), stderr=""),
    is_success=True,
    has_changes=True,
)


def _final(text: str) -> Transcript:
    return Transcript(has_result=True, _result=text)


def _judged(**different: Any) -> Verdict | None:
    agent = {name: different.pop(name) for name in AgentResult._fields if name in different}
    evidence = replace(_FINE, agent=_FINE.agent._replace(**agent), **different)
    return judge_before_checks(evidence)


def _failed(**different: Any) -> Verdict:
    verdict = _judged(**different)
    assert verdict is not None
    return verdict


def test_where_nothing_stands_against_it_the_checks_decide() -> None:
    assert judge_before_checks(_FINE) is None


@pytest.mark.parametrize(
    ("different", "failure"),
    [
        ({"process": ProcessResult(None, 2, "stopped", "", 1.0)}, "interrupted"),
        ({"process": ProcessResult(None, None, "", "no such program", 0.0)}, "harness_missing"),
        (
            {"process": ProcessResult(127, None, "", "", 0.0), "is_success": False},
            "harness_missing",
        ),
        ({"is_over_budget": True}, "budget"),
        ({"process": ProcessResult(None, 9, "idle", "", 1.0)}, "timeout_idle"),
        ({"process": ProcessResult(None, 9, "wall", "", 1.0)}, "timeout_wall"),
        ({"transcript": Transcript(denials=["rm"]), "has_changes": False}, "permission_denied"),
        ({"transcript": _final("<stuck>which oven?</stuck>")}, "stuck"),
        ({"transcript": _final("status: stuck\nsummary: no oven")}, "stuck"),
        ({"request": {"reason": "wontfix"}}, "stuck"),
        ({"transcript": _final("Which oven do you mean?"), "has_changes": False}, "asked_question"),
        ({"process": ProcessResult(3, None, "", "", 1.0), "is_success": False}, "harness_exit"),
        ({"conflicts": ["a.py"]}, "merge_conflict"),
        ({"oversized_files": ["a.bin"]}, "too_large"),
        ({"uncommittable": ["inner"]}, "commit_failed"),
        ({"has_changes": False}, "no_changes"),
    ],
)
def test_the_class_of_a_failure(different: dict[str, Any], failure: str) -> None:
    verdict = _failed(**different)
    assert (verdict.failure, verdict.is_ok) == (find_class(failure), False)


_UNANSWERED = {"lacks_reply": True, "has_changes": False}
_ENDED = ProcessResult(1, None, "", "", 1.0)


@pytest.mark.parametrize(
    ("different", "failure", "reason"),
    [
        ({}, failures.SERVICE_FAILED, "the model's reply was empty"),
        ({"process": ProcessResult(None, 9, "idle", "", 6.0), "is_success": False},
         failures.SERVICE_FAILED, "the model sent no reply within 6 s"),
        ({"process": ProcessResult(None, 9, "wall", "", 6.0), "is_success": False},
         failures.SERVICE_FAILED, "the model sent no reply within 6 s"),
        ({"process": ProcessResult(None, 9, "", "", 6.0), "is_success": False},
         failures.HARNESS_EXIT, "signal 9 before the first reply of the model"),
        ({"process": _ENDED, "is_success": False, "stderr": "see:\nerror: no option x\nUsage: x"},
         failures.HARNESS_SETUP, "exit code 1: error: no option x"),
        ({"process": _ENDED, "is_success": False, "stderr": "x [options]\n  --help\n"},
         failures.HARNESS_SETUP, "exit code 1: x [options]"),
        ({"process": _ENDED, "is_success": False,
          "transcript": Transcript(has_started=True, error="\nIt broke.\nSee y.\n")},
         failures.SERVICE_FAILED, "exit code 1: It broke."),
    ],
)  # fmt: skip
def test_without_a_reply_of_a_model_nothing_is_charged(
    different: dict[str, Any], failure: FailureClass, reason: str
) -> None:
    verdict = _failed(**_UNANSWERED, **different)
    assert (verdict.failure, verdict.reason) == (failure, reason)
    assert not verdict.counts_as_attempt


def test_files_that_were_changed_show_that_a_model_worked() -> None:
    verdict = _failed(lacks_reply=True, process=_ENDED, is_success=False)
    assert (verdict.failure, verdict.counts_as_attempt) == (failures.HARNESS_EXIT, True)


@pytest.mark.parametrize(
    ("kind", "has_reply", "failure"),
    [
        ("limit", True, failures.RATE_LIMITED),
        ("login", True, failures.AUTH),
        ("service", True, failures.SERVICE_FAILED),
        ("setup", False, failures.HARNESS_SETUP),
        ("setup", True, failures.HARNESS_EXIT),
    ],
)
def test_a_refusal_has_its_class_and_a_wrong_request_is_the_tasks_once_a_model_has_replied(
    kind: RefusalKind, *, has_reply: bool, failure: FailureClass
) -> None:
    verdict = _failed(
        process=_ENDED,
        is_success=False,
        transcript=Transcript(has_started=True, has_words=has_reply, error="prompt is too long"),
        lacks_reply=not has_reply,
        refusal=Refusal(kind, None, "prompt is too long"),
    )
    assert verdict.failure == failure
    assert verdict.reason.endswith("prompt is too long")
    assert verdict.counts_as_attempt is failure.is_charged


_LOG = "2026-11-25T10:35:29.795632Z  INFO codex_otel: event.name=x\n"


@pytest.mark.parametrize(
    ("stderr", "result", "has_failed", "reason"),
    [
        ("no oven\n", "I baked.", False, "exit code 3: no oven"),
        (f"{_LOG}no oven\n{_LOG}", "I baked.", False, "exit code 3: no oven"),
        (_LOG, "I baked.", False, "exit code 3: I baked."),
        ("warning: dust\n", "I can't bake.", True, "exit code 3: I can't bake."),
    ],
)
def test_the_reason_is_what_the_agent_reports_or_its_last_error(
    *, stderr: str, result: str, has_failed: bool, reason: str
) -> None:
    transcript = Transcript(has_result=True, has_failed=has_failed, _result=result)
    process = ProcessResult(3, None, "", "", 1.0)
    found = _judged(process=process, transcript=transcript, stderr=stderr, is_success=False)
    assert found == Verdict(failures.HARNESS_EXIT, reason)


def test_what_had_not_to_be_changed_is_no_failure() -> None:
    request = {"reason": "no_change"}
    assert _judged(has_changes=False, request=request) is None
    known = replace(_FINE, has_changes=False, request=request)
    assert judge_by_checks([], known) == Verdict(no_change=True)


def test_one_check_that_is_worse_is_enough() -> None:
    item = FailingItem("test", "test_a", "it broke")
    fine = CheckComparison(CheckResult("make", 0), is_ok=True)
    worse = CheckComparison(CheckResult("make test", 1, items=(item,)), is_ok=False, new=(item,))
    assert judge_by_checks([fine], _FINE).is_ok
    verdict = judge_by_checks([fine, worse, fine], _FINE)
    assert verdict == Verdict(failures.CHECKS_FAILED, "test_a: it broke")
    stopped = CheckComparison(CheckResult("make", None, cause="stopped"), is_ok=False)
    assert judge_by_checks([worse, stopped], _FINE).failure == failures.INTERRUPTED


_RED = CheckResult("npm test", 1, tail="> test\n\nError: no oven\n", whole="x")


def test_a_check_of_the_task_that_fails_as_before_may_be_at_fault_itself() -> None:
    verdict = judge_by_checks([compare_check(_RED, _RED, is_own=True)], _FINE)
    assert verdict.failure == failures.CHECKS_FAILED
    assert verdict.repeats_baseline
    assert verdict.reason == (
        "`npm test` failed in the same way before the attempt, so the check itself may be at fault "
        "(exit code 1: Error: no oven)"
    )
    other = compare_check(replace(_RED, whole="y"), _RED, is_own=True)
    assert not judge_by_checks([other], _FINE).repeats_baseline


def test_a_new_failure_is_told_from_the_known_ones() -> None:
    one, two = (FailingItem("test", f"test_{name}", "") for name in ("a", "b"))
    before, hidden = CheckResult("make", 1, items=(one,)), CheckResult("make", 1, items=(two,))
    both = CheckResult("make", 1, items=(one, two))
    reasons = [
        judge_by_checks([compare_check(after, before, is_own=own)], _FINE).reason
        for after, own in ((hidden, False), (both, False), (hidden, True))
    ]
    assert reasons == ["test_b (new; 1 known failure fixed)", "test_b (new)", "test_b"]
    mute = compare_check(_RED, replace(_RED, whole="y"), is_own=False)
    assert judge_by_checks([mute], _FINE).reason.endswith(" (new)")


def test_known_failures_have_to_be_fixed_or_excused() -> None:
    red = compare_check(_RED, _RED, is_own=False)
    assert judge_by_checks([red], _FINE).failure == failures.NOT_MENDED
    assert judge_by_checks([red], _FINE, excuses=True) == Verdict(known_failures=1, excuses=True)
    own = compare_check(CheckResult("make", 0), _RED, is_own=True)
    assert judge_by_checks([own, red], _FINE) == Verdict(known_failures=1)
    assert judge_by_checks([own], _FINE, excuses=True) == Verdict()


@pytest.mark.parametrize(
    ("verdict", "charged"),
    [
        (Verdict(), False),
        (Verdict(failures.CHECKS_FAILED), True),
        (Verdict(failures.CHECKS_FAILED, is_uncounted=True), False),
        (Verdict(failures.INTERRUPTED), False),
        (Verdict(failures.BUDGET), False),
        (Verdict(failures.STUCK), True),
    ],
)
def test_only_a_fault_of_the_attempt_is_charged(verdict: Verdict, charged: bool) -> None:
    assert verdict.counts_as_attempt is charged
