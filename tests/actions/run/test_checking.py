"""A check after an attempt, compared with the one before it, and what is kept of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.run.checking import NOT_RUN, Check, Checker, compared
from cub.checks.items import Item
from cub.files.signed import state_folder
from cub.processes.command import Limits
from cub.processes.stop import Stop

OLD, NEW = Item("test", "test_old", ""), Item("test", "test_new", "")
PASSED, MUTE = Check("make", 0), Check("make", 1, whole="x")
ONE, BOTH = Check("make", 1, items=(OLD,)), Check("make", 1, items=(OLD, NEW))


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
        (ONE, Check("make", 1, items=(NEW,)), False, False),
        (MUTE, MUTE, True, False),
        (MUTE, Check("make", 1, whole="y"), False, False),
        (MUTE, ONE, False, False),
        (Check("make", None, cause="wall"), Check("make", None, cause="wall"), True, False),
        (Check("make", None, cause="wall"), Check("make", None, cause="idle"), False, False),
    ],
)
def test_only_what_is_worse_stands_against_an_attempt(
    before: Check | None, after: Check, ok: bool, ok_if_own: bool
) -> None:
    assert compared(after, before, own=False).ok is ok
    assert compared(after, before, own=True).ok is ok_if_own


def test_items_are_told_apart_by_what_was_there_before() -> None:
    changed = compared(Check("make", 1, items=(NEW,)), ONE, own=False)
    assert (changed.new, changed.fixed) == ((NEW,), (OLD,))
    assert compared(PASSED, BOTH, own=False).fixed == (OLD, NEW)
    assert compared(ONE, PASSED, own=False).new == (OLD,)


@pytest.fixture
def checker(tmp_path: Path, home: Path) -> Checker:
    assert state_folder().is_relative_to(home)
    return _checker(tmp_path)


def _checker(folder: Path) -> Checker:
    return Checker(state_folder() / "checks", folder, {}, Limits(), Stop())


def test_a_result_is_recalled_for_the_very_files_alone(checker: Checker, tmp_path: Path) -> None:
    checker.keep("tree 1", BOTH)
    for one in (checker, _checker(tmp_path)):
        assert one.recall("tree 1", "make") == BOTH
        assert one.recall("tree 2", "make") is None
        assert one.recall("tree 1", "make check") is None


@pytest.mark.parametrize("code", [None, *NOT_RUN])
def test_what_tells_nothing_of_the_files_is_recalled_in_the_same_run_alone(
    checker: Checker, tmp_path: Path, code: int | None
) -> None:
    check = Check("make", code, cause="" if code else "wall")
    checker.keep("tree 1", check)
    assert checker.recall("tree 1", "make") == check
    assert _checker(tmp_path).recall("tree 1", "make") is None


def test_a_check_that_was_stopped_is_not_recalled(checker: Checker) -> None:
    checker.keep("tree 1", Check("make", None, cause="stopped"))
    assert checker.recall("tree 1", "make") is None
