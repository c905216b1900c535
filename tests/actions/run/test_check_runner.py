"""A check after an attempt, compared with the one before it, and what is kept of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.run.check_runner import NOT_RUN_EXIT_CODES, CheckResult, CheckRunner, compare_check
from cub.checks.failing_items import FailingItem
from cub.files.signed_state import find_state_folder
from cub.processes.command import StopRequest, TimeLimits

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
        (BOTH, ONE, True, True),
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
    assert compare_check(after, before, is_task_check=False).is_ok is ok
    assert compare_check(after, before, is_task_check=True).is_ok is ok_if_own


def test_items_are_told_apart_by_what_was_there_before() -> None:
    changed = compare_check(CheckResult("make", 1, items=(NEW,)), ONE, is_task_check=False)
    assert (changed.new, changed.fixed) == ((NEW,), (OLD,))
    assert compare_check(PASSED, BOTH, is_task_check=False).fixed == (OLD, NEW)
    assert compare_check(ONE, PASSED, is_task_check=False).new == (OLD,)


@pytest.fixture
def checker(tmp_path: Path, home: Path) -> CheckRunner:
    assert find_state_folder().is_relative_to(home)
    return _checker(tmp_path)


def _checker(folder: Path) -> CheckRunner:
    return CheckRunner(find_state_folder() / "checks", folder, {}, TimeLimits(), StopRequest())


def test_a_result_is_recalled_for_the_very_files_alone(
    checker: CheckRunner, tmp_path: Path
) -> None:
    checker.store_result("tree 1", BOTH)
    for one in (checker, _checker(tmp_path)):
        assert one.find_result("tree 1", "make") == BOTH
        assert one.find_result("tree 2", "make") is None
        assert one.find_result("tree 1", "make check") is None


@pytest.mark.parametrize("code", [None, *NOT_RUN_EXIT_CODES])
def test_what_tells_nothing_of_the_files_is_recalled_in_the_same_run_alone(
    checker: CheckRunner, tmp_path: Path, code: int | None
) -> None:
    check = CheckResult("make", code, cause="" if code else "wall")
    checker.store_result("tree 1", check)
    assert checker.find_result("tree 1", "make") == check
    assert _checker(tmp_path).find_result("tree 1", "make") is None


def test_a_check_that_was_stopped_is_not_recalled(checker: CheckRunner) -> None:
    checker.store_result("tree 1", CheckResult("make", None, cause="stopped"))
    assert checker.find_result("tree 1", "make") is None
