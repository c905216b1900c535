"""The rule of checks: what was red before, what is new, and whether anything has decided."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cub.actions.run.check_comparison import (
    CheckComparison,
    compare_check,
    count_known_failures,
    describe_failing_checks,
    explain_not_mended,
    explain_unverified,
    find_check_obstacle,
    has_run_project_code,
)
from cub.actions.run.check_runner import NOT_RUN_EXIT_CODES, CheckResult
from cub.checks.failing_items import FailingItem
from cub.checks.tool_output import parse_output

OLD, NEW = FailingItem("test", "test_old", ""), FailingItem("test", "test_new", "")
PASSED, MUTE = CheckResult("make", 0), CheckResult("make", 1, whole="x")
ONE, BOTH = CheckResult("make", 1, items=(OLD,)), CheckResult("make", 1, items=(OLD, NEW))


@pytest.mark.parametrize(
    ("before", "after", "ok", "ok_if_own"),
    [
        (PASSED, PASSED, True, True),
        (PASSED, ONE, False, False),
        (PASSED, MUTE, False, False),
        (None, ONE, False, False),
        (ONE, PASSED, True, True),
        (ONE, ONE, True, False),
        (BOTH, ONE, True, False),
        (ONE, BOTH, False, False),
        (ONE, CheckResult("make", 1, items=(NEW,)), False, False),
        (MUTE, MUTE, True, False),
        (MUTE, CheckResult("make", 1, whole="y"), False, False),
        (MUTE, ONE, False, False),
        (
            CheckResult("make", None, cause="wall"),
            CheckResult("make", None, cause="wall"),
            True,
            False,
        ),
        (
            CheckResult("make", None, cause="wall"),
            CheckResult("make", None, cause="idle"),
            False,
            False,
        ),
    ],
)
def test_only_what_is_worse_stands_against_an_attempt(
    before: CheckResult | None, after: CheckResult, ok: bool, ok_if_own: bool
) -> None:
    assert compare_check(after, before, is_own=False).is_ok is ok
    assert compare_check(after, before, is_own=True).is_ok is ok_if_own


def test_items_are_told_apart_by_what_was_there_before() -> None:
    changed = compare_check(CheckResult("make", 1, items=(NEW,)), ONE, is_own=False)
    assert (changed.new, changed.fixed) == ((NEW,), (OLD,))
    assert compare_check(PASSED, BOTH, is_own=False).fixed == (OLD, NEW)
    assert compare_check(ONE, PASSED, is_own=False).new == (OLD,)


TEST, CRASH = (
    FailingItem("test", "test_a", ""),
    FailingItem("error", "test_b.py", "no module named b"),
)
FAILED, BROKEN = CheckResult("make", 1, items=(TEST,)), CheckResult("make", 1, reason="it broke")


@pytest.mark.parametrize("code", NOT_RUN_EXIT_CODES)
def test_a_check_that_can_not_be_run_is_an_obstacle_where_no_other_one_can(code: int) -> None:
    before = {"maek": CheckResult("maek", code, reason="not found")}
    assert find_check_obstacle(before, ()) == "`maek` can't be run (not found)"
    assert find_check_obstacle(before, ("maek",)) == ""  # the task may be to write it
    assert find_check_obstacle({**before, "make": BROKEN}, ()) == ""


def test_what_a_check_says_before_is_no_obstacle() -> None:
    no_test = CheckResult("pytest", 5, finds_no_test=True)
    late = CheckResult("sleep 9", None, cause="wall")
    for check in (PASSED, FAILED, BROKEN, no_test, late):
        assert find_check_obstacle({check.command: check}, ()) == ""
    missing = CheckResult("mocha", 1, lacks_program=True)
    assert "`mocha` can't be run" in find_check_obstacle({"mocha": missing}, ("mocha",))


def test_a_pass_without_a_test_judges_nothing() -> None:
    nothing = CheckResult("pytest", 0, finds_no_test=True)
    comparison = compare_check(nothing, nothing, is_own=False)
    assert explain_unverified([comparison]) == "`pytest` finds no test, before and after"
    assert not has_run_project_code([comparison])
    other = compare_check(PASSED, PASSED, is_own=False)
    assert explain_unverified([comparison, other]) == ""


def test_a_check_that_decides_nothing_is_told() -> None:
    broken = CheckResult("pytest", 2, items=(CRASH,))
    checks = {str(n): check for n, check in enumerate((PASSED, FAILED, BROKEN, broken))}
    failed, mute, crashed = describe_failing_checks(checks, (), excuses=False)
    demand = "the attempt has to fix at least one known failure, and may not add one"
    assert failed == f"1 known failure before the attempt: `make`: test_a; {demand}"
    assert mute.endswith(f"`make` (it broke); {demand}")
    (alone,) = describe_failing_checks({"make": BROKEN}, (), excuses=False)
    assert alone.endswith("`make` (it broke); the attempt has to make the check pass")
    assert crashed.endswith(f"`pytest`: test_b.py: no module named b; {demand}")


@pytest.mark.parametrize(
    ("own", "excuses", "demand"),
    [
        (("make tea",), False, "; the attempt may not add a failure"),
        ((), True, "; excused, but the attempt may not add a failure"),
    ],
)
def test_a_task_with_a_check_of_its_own_has_to_fix_no_other(
    own: tuple[str, ...], *, excuses: bool, demand: str
) -> None:
    before = {"make": replace(FAILED, passes=True)}
    (told,) = describe_failing_checks(before, own, excuses=excuses)
    assert told.endswith(demand)
    assert not [*describe_failing_checks({"make": FAILED}, ("make",), excuses=False)]


def test_excused_failures_decide_nothing_without_a_test_that_passes() -> None:
    """As `explain_unverified` says afterwards."""
    (told,) = describe_failing_checks({"make": BROKEN}, (), excuses=True)
    demand = "; excused, but without a test that passes, the attempt has to "
    assert told.endswith(f"{demand}make the check pass")
    (told,) = describe_failing_checks({"make": FAILED}, (), excuses=True)
    assert told.endswith(f"{demand}fix at least one known failure, and may not add one")
    told, _ = describe_failing_checks({"make": FAILED, "b": BROKEN}, ("a",), excuses=True)
    assert told.endswith("; excused, but the attempt may not add a failure")


def test_what_can_decide_nothing_before_is_named() -> None:
    empty = CheckResult("pytest", 5, finds_no_test=True)
    missing = CheckResult("mocha", 127, reason="mocha: not found", lacks_program=True)
    checks = {check.command: check for check in (empty, missing)}
    no_test, no_program = describe_failing_checks(checks, (), excuses=False)
    assert no_test == "`pytest` finds no test: it can't decide before there is one"
    assert no_program == "`mocha` can't be run (mocha: not found): it decides nothing"


LATE = CheckResult("make", None, cause="wall")
OTHERS = CheckResult("make", 1, items=(OLD, TEST))


@pytest.mark.parametrize(
    ("before", "after", "is_mended"),
    [
        (PASSED, PASSED, True),
        (ONE, ONE, False),
        (BOTH, ONE, True),
        (ONE, PASSED, True),
        (MUTE, MUTE, False),
        (MUTE, PASSED, True),
        (LATE, LATE, False),
        (LATE, PASSED, True),
        (ONE, CheckResult("make", 0, finds_no_test=True), False),
        (CheckResult("make", 5, finds_no_test=True), PASSED, True),
        (CheckResult("make", 127), CheckResult("make", 127), True),
    ],
)
def test_without_a_check_of_its_own_a_task_has_to_fix_a_known_failure(
    before: CheckResult, after: CheckResult, *, is_mended: bool
) -> None:
    green = compare_check(PASSED, PASSED, is_own=False)
    one = compare_check(after, before, is_own=False)
    assert (explain_not_mended([one]) == "") is is_mended
    assert (explain_not_mended([green, one]) == "") is is_mended
    assert explain_not_mended([one, compare_check(PASSED, ONE, is_own=True)]) == ""


def test_known_failures_of_all_checks_count_together() -> None:
    kept = compare_check(OTHERS, OTHERS, is_own=False)
    fixed = compare_check(ONE, BOTH, is_own=False)
    mute = compare_check(MUTE, MUTE, is_own=False)
    assert count_known_failures([kept, fixed, mute]) == 4
    assert explain_not_mended([kept, mute]) == (
        "3 known failures as before the attempt: `make`: test_old"
    )
    assert explain_not_mended([kept, fixed]) == ""
    green = compare_check(PASSED, OTHERS, is_own=False)
    assert count_known_failures([green]) == 0


def test_a_check_that_fails_as_before_repeats_the_baseline() -> None:
    again = [(ONE, ONE), (MUTE, MUTE), (LATE, LATE)]
    assert all(
        compare_check(after, before, is_own=True).repeats_baseline for before, after in again
    )
    other = [(ONE, BOTH), (BOTH, ONE), (ONE, PASSED), (PASSED, ONE), (MUTE, LATE), (MUTE, ONE)]
    assert not any(compare_check(a, b, is_own=True).repeats_baseline for b, a in other)
    assert not compare_check(ONE, None, is_own=True).repeats_baseline


def test_each_check_of_the_task_has_to_be_able_to_run() -> None:
    missing = CheckResult("npm tset", 1, reason='Unknown command: "tset"', lacks_program=True)
    before = {"make": PASSED, "npm tset": missing}
    assert find_check_obstacle(before, ()) == ""
    said = '`npm tset` can\'t be run (Unknown command: "tset")'
    assert find_check_obstacle(before, ("npm tset",)) == said


@pytest.mark.parametrize(
    ("one", "is_judged"),
    [
        (CheckComparison(PASSED, True), True),
        (CheckComparison(FAILED, True), False),
        (CheckComparison(FAILED, True, fixed=(TEST,)), True),
        (CheckComparison(CheckResult("make", 1, items=(TEST,), passes=True), True), True),
        (CheckComparison(CheckResult("make", 1, passes=True), True), False),
        (CheckComparison(BROKEN, True), False),
    ],
)
def test_what_judges_an_attempt(one: CheckComparison, is_judged: bool) -> None:
    assert (explain_unverified([one]) == "") is is_judged
    assert explain_unverified([CheckComparison(BROKEN, True), one]) == "" or not is_judged


def test_what_could_not_work_is_told_apart_from_what_fails_as_before() -> None:
    crashed = CheckComparison(CheckResult("make", 2, items=(CRASH,)), True)
    assert explain_unverified([crashed]).startswith("the checks could not work")
    assert explain_unverified([CheckComparison(FAILED, True)]).startswith(
        "every check fails as it did"
    )
    assert not has_run_project_code([crashed])
    assert has_run_project_code([crashed, CheckComparison(FAILED, True)])
    assert explain_unverified([]) == ""


def test_old_failures_beyond_the_first_ones_are_not_new() -> None:
    """A list that is cut moved an old failure into sight when an earlier one was fixed."""
    lines = [f"shop.py:{number}:1: F401 old{number}" for number in range(400)]
    before, after = (parse_output("\n".join(some)) for some in (lines, lines[1:]))
    one, other = (CheckResult("ruff", 1, items=items) for items in (before, after))
    assert compare_check(other, one, is_own=False).fixes_failure
    assert compare_check(other, one, is_own=False).is_ok
