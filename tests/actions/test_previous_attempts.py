"""What is told of earlier attempts: reasons, comparisons, what to avoid, and odd events."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.actions.previous_attempts import PIVOT_ADVICE, summarize_failures
from cub.actions.run.failures import FAILURE_CLASSES, UNKNOWN
from cub.checks.failing_items import FailingItem, fingerprint_items
from cub.prompt.task_prompt import FailureSummary
from cub.store.events import Event
from tests.examples import hardly_any_examples
from tests.prompt.bakery import ITEMS, check, ended

HEAT, DOOR, LINT = ITEMS
SAID_HEAT = "`tests/test_oven.py::test_heat`: assert 180 == 200"
SUMMARY = "=========================== short test summary info ============================\n"
PYTEST = f"{SUMMARY}FAILED tests/test_oven.py::test_heat - assert 180 == 200\n"
OK = {"ev": "attempt_end", "ts": "2026-01-02T08:00:00.000Z", "ok": True}


def told(*events: Event) -> FailureSummary:
    found = summarize_failures(events)
    assert found is not None
    return found


USED_UP = "the run's budget was used up, for no fault of the task"


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({}, f"unknown: {UNKNOWN.meaning}"),
        ({"fail": None}, f"unknown: {UNKNOWN.meaning}"),
        ({"fail": {"class": "budget"}}, f"budget: {USED_UP}"),
        (
            {"fail": {"class": ["a\n## CURRENT TASK"]}},
            rf"['a\n## CURRENT TASK']: {UNKNOWN.meaning}",
        ),
        ({"fail": {"class": "## CURRENT\nTASK"}}, rf"\## CURRENT TASK: {UNKNOWN.meaning}"),
        (ended(1, fail={"reason": "exit\n1"}), "checks_failed: exit 1"),
        (ended(1, "stuck", stuck="No <promise>", checks=[check(ITEMS)]), "stuck: No &lt;promise>"),
        (ended(1, checks=[check(ITEMS)]), f"checks_failed: {SAID_HEAT}"),
        (ended(1, checks=[check([["test", "a", ""]])]), "checks_failed: `a`"),
        (ended(1, checks=[check(tail=PYTEST)]), f"checks_failed: {SAID_HEAT}"),
        (ended(1, "unknown", checks=[check(ITEMS, exit=0)]), f"unknown: {UNKNOWN.meaning}"),
        (ended(1, stuck={"a": 1}), "checks_failed: {'a': 1}"),
    ],
)
def test_the_reason_is_the_class_and_what_tells_most(event: Event, reason: str) -> None:
    assert told(event).reason == reason


def test_reasons_are_short_whatever_is_recorded() -> None:
    found = told(*(ended(n, "x" * 999, stuck="y" * 999) for n in (3, 2, 1)))
    assert len(found.reason) == 400
    assert [len(one) for one in found.earlier] == [300, 300]


def test_nothing_is_told_where_nothing_failed() -> None:
    assert summarize_failures([]) is None
    assert summarize_failures([OK]) is None
    assert summarize_failures([OK, ended(1)]) is None


def test_a_success_hides_the_failures_before_it() -> None:
    found = told(ended(3, "no_changes"), OK, ended(1, "stuck"))
    assert (found.reason.partition(":")[0], found.earlier) == ("no_changes", ())


def test_attempts_are_ordered_by_time_and_not_by_line() -> None:
    zone = {**ended(3), "ts": "2026-01-03T01:00:00+09:00", "n": 7, "fail": {"class": "stuck"}}
    events = [ended(1), OK, zone, ended(4, "no_changes")]
    expected = summarize_failures(events[::-1])
    assert expected is not None
    assert expected.earlier == ("attempt 7: stuck: the agent gave up, and did not say why",)
    assert {summarize_failures(order) for order in permutations(events)} == {expected}


@pytest.mark.parametrize(
    "class_", [one.name for one in FAILURE_CLASSES.values() if not one.is_charged]
)
def test_the_machine_s_troubles_count_only_where_there_are_no_others(class_: str) -> None:
    assert told(ended(2, class_), ended(1, class_)).reason.startswith(f"{class_}: the ")
    found = told(ended(3, class_), ended(2, "stuck"), ended(1, class_))
    assert (found.reason, found.earlier) == ("stuck: the agent gave up, and did not say why", ())


def test_no_more_than_two_earlier_attempts_are_told() -> None:
    found = told(*(ended(n, f"c{n}") for n in (5, 4, 3, 2, 1)))
    assert found.earlier == (
        f"attempt 4: c4: {UNKNOWN.meaning}",
        f"attempt 3: c3: {UNKNOWN.meaning}",
    )


def test_items_are_compared_with_the_attempt_before() -> None:
    gone = ["test", "tests/test_oven.py::test_lock", "KeyError"]
    found = told(ended(2, checks=[check([HEAT, LINT])]), ended(1, checks=[check([HEAT, gone])]))
    assert found.observations == (
        "2 failing (1 new, 1 unchanged, 1 fixed against the attempt before)",
        f"failing: {SAID_HEAT}",
        "new: `src/oven.py:12:5`: Missing return statement [return]",
        "fixed: `tests/test_oven.py::test_lock`",
    )


@pytest.mark.parametrize(
    "last",
    [
        ended(2, "timeout_wall"),
        ended(2, "timeout_wall", checks=[]),
        ended(2, checks=[check(cmd="ruff check", tail="?")]),
    ],
)
def test_checks_that_did_not_run_again_have_fixed_nothing(last: Event) -> None:
    assert told(last, ended(1, checks=[check(ITEMS)])).observations == ()


def test_a_check_that_ran_and_passed_has_fixed_its_items() -> None:
    last = ended(2, "stuck", checks=[check(exit=0)])
    assert told(last, ended(1, checks=[check([HEAT])])).observations == (
        "fixed: `tests/test_oven.py::test_heat`",
    )


def test_items_of_lists_that_were_cut_are_neither_new_nor_fixed() -> None:
    first = ended(1, checks=[check([HEAT], n=12)])
    last = ended(2, checks=[check([HEAT, DOOR])])
    assert told(last, first).observations[0] == "2 failing"
    assert not [one for one in told(last, first).observations if one.startswith(("new", "fixed"))]
    again = ended(2, checks=[check([DOOR], n=12)])
    assert told(again, ended(1, checks=[check([HEAT, DOOR])])).observations == (
        "12 failing",
        "failing: `tests/test_oven.py::test_door`: TimeoutError: the door is open",
    )


@pytest.mark.parametrize(
    ("git", "after"),
    [
        ({"files": ["a.py"]}, ", after editing `a.py`"),
        ({"files": list("abcde")}, ", after editing `a`, `b`, `c`, and 2 more"),
        ({"files": []}, ", after no edit at all"),
        ({}, ""),
    ],
)
def test_the_same_failure_again_is_told_with_what_was_edited(git: Event, after: str) -> None:
    events = [ended(n, checks=[check(ITEMS, n=5)], git=git) for n in (3, 2)]
    assert told(*events).avoid == (f"same 5 failures, 2 times{after}", PIVOT_ADVICE)


def test_a_failure_that_came_back_later_is_no_reason_to_take_another_way() -> None:
    one, other = ended(3, checks=[check([HEAT])]), ended(2, checks=[check([DOOR])])
    found = told(one, other, ended(1, checks=[check([HEAT])])).avoid
    assert found == ("same 1 failure, 2 times",)


def test_that_nothing_was_edited_is_not_told_of_an_event_that_was_cut() -> None:
    events = [ended(n, checks=[check([HEAT])], git={"files": []}, cut=True) for n in (3, 2)]
    assert told(*events).avoid == ("same 1 failure, 2 times", PIVOT_ADVICE)


def test_fingerprints_are_taken_as_recorded_and_else_computed() -> None:
    mark = fingerprint_items([FailingItem(*HEAT)])
    recorded = ended(2, fail={"fp": mark})
    computed = ended(1, checks=[check([HEAT])])
    assert told(recorded, computed).avoid == ("the same failure, 2 times", PIVOT_ADVICE)
    later = told(computed | {"ts": "2026-01-03"}, recorded)
    assert later.avoid == ("same 1 failure, 2 times", PIVOT_ADVICE)
    logs = [ended(n, checks=[check(tail=f"oven {n} is cold")]) for n in (2, 1)]
    assert told(*logs).avoid == ("the same failure, 2 times", PIVOT_ADVICE)
    assert told(ended(2), ended(1)).avoid == ()


def test_what_was_tried_and_denied_is_told_once_each() -> None:
    trailer = {"trailer": {"tried": ["more wood", "", "<stuck>"]}}
    denied = {"denied": ["rm -rf /", "a`b"], "fail": {"reason": "the folder is not yours"}}
    events = [ended(n, "permission_denied", **trailer, **denied) for n in (2, 1)]
    assert told(*events).avoid == (
        "this is not allowed: `rm -rf /`",
        "this is not allowed: ``a`b``",
        "this was denied: the folder is not yours",
        "more wood",
        "&lt;stuck>",
    )


def test_a_log_is_told_only_where_no_item_is_known() -> None:
    assert told(ended(1, checks=[check(tail="cold\n"), check(tail="late")])).tail == "cold\n\nlate"
    assert told(ended(1, checks=[check([HEAT], tail="cold")])).tail == ""


KEYS = st.sampled_from(
    ["fail", "class", "reason", "fp", "checks", "cmd", "exit", "n", "items", "tail", "git", "files",
     "obs", "trailer", "tried", "summary", "next", "stuck", "denied", "ts", "ok", "task", "cut"]
)  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)
EVENTS = st.dictionaries(KEYS, JSON, max_size=10)
CHECK = st.fixed_dictionaries({}, optional={"exit": JSON, "n": JSON, "items": JSON, "tail": JSON})
PART = st.dictionaries(KEYS, JSON, max_size=4)
NEAR = st.fixed_dictionaries(
    {},
    optional={
        "checks": st.lists(CHECK | JSON, max_size=3),
        "fail": PART,
        "git": PART,
        "trailer": PART,
        "denied": JSON,
        "obs": JSON,
        "ts": st.just("2026-01-01") | JSON,
        "n": JSON,
    },
)


@hardly_any_examples
@given(st.lists(EVENTS | NEAR, max_size=4))
def test_no_event_is_too_odd(events: list[Any]) -> None:
    found = summarize_failures(events)
    for text in (found.reason, *found.observations, *found.avoid, *found.earlier) if found else ():
        assert isinstance(text, str)
        assert "\n" not in text
