"""Whether checks can decide about an attempt, and did, by their results alone."""

from __future__ import annotations

import pytest

from cub.actions.run.checking import NOT_RUN, Check, Compared
from cub.actions.run.verification import (
    describe_undecided,
    find_obstacle,
    find_unverified,
    has_worked,
)
from cub.checks.items import Item

TEST, CRASH = Item("test", "test_a", ""), Item("error", "test_b.py", "no module named b")
PASSED, MUTE = Check("make", 0), Check("make", 1, reason="it broke")
FAILED = Check("make", 1, items=(TEST,))


@pytest.mark.parametrize("code", NOT_RUN)
def test_a_check_that_can_not_be_run_is_an_obstacle_beside_others_that_pass(code: int) -> None:
    before = {"true": Check("true", 0), "maek": Check("maek", code, reason="not found")}
    says = "the check `maek` can't be run (not found)"
    assert find_obstacle(before, ()) == says
    assert find_obstacle(before, ("maek",)) == ""


def test_one_check_that_may_decide_is_enough() -> None:
    no_test = Check("pytest", 5, finds_no_test=True)
    for check in (PASSED, FAILED, no_test):
        assert find_obstacle({"x": MUTE, check.command: check}, ()) == ""
    assert "names no failing item" in find_obstacle({"make": MUTE}, ())
    assert find_obstacle({"make": MUTE}, ("make",)) == ""
    assert find_obstacle({}, ()) == ""


def test_a_check_that_decides_nothing_is_told() -> None:
    checks = {str(n): check for n, check in enumerate((PASSED, FAILED, MUTE))}
    assert len([*describe_undecided(checks, ())]) == 1
    assert not [*describe_undecided(checks, ("make",))]


@pytest.mark.parametrize(
    ("one", "is_judged"),
    [
        (Compared(PASSED, True), True),
        (Compared(FAILED, True), False),
        (Compared(FAILED, True, fixed=(TEST,)), True),
        (Compared(Check("make", 1, items=(TEST,), passes=True), True), True),
        (Compared(Check("make", 1, passes=True), True), False),
        (Compared(MUTE, True), False),
    ],
)
def test_what_judges_an_attempt(one: Compared, is_judged: bool) -> None:
    assert (find_unverified([one]) == "") is is_judged
    assert find_unverified([Compared(MUTE, True), one]) == "" or not is_judged


def test_what_could_not_work_is_told_apart_from_what_fails_as_before() -> None:
    crashed = Compared(Check("make", 2, items=(CRASH,)), True)
    assert find_unverified([crashed]).startswith("the checks could not work")
    assert find_unverified([Compared(FAILED, True)]).startswith("every check fails as it did")
    assert not has_worked([crashed])
    assert has_worked([crashed, Compared(FAILED, True)])
    assert find_unverified([]) == ""
