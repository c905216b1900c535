"""Whether a log shows tests that passed: over the real samples, and on lines that mislead."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.checks.failing_items import MAX_MESSAGE, FailingItem
from cub.checks.tool_output import MAX_ITEMS, has_passing_test, parse_output, reports_no_test
from tests.conftest import GOLDEN
from tests.examples import few_examples

SAMPLES = sorted((GOLDEN / "checks").glob("*/*.txt"))
LINES = sorted({line for case in SAMPLES for line in case.read_bytes().decode().split("\n")})
MIXED = ("ruff/concise", "mypy/default", "pytest/default")
PASSING = """<testsuite name="pytest"><testcase classname="a" name="b"/></testsuite>\n"""
BOMB = """<?xml version="1.0"?>
<!DOCTYPE bomb [<!ENTITY a "loaf"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<testsuites><testcase name="x"><failure message="&b;"/></testcase></testsuites>
"""


def _sample(name: str) -> str:
    return (GOLDEN / "checks" / f"{name}.txt").read_bytes().decode()


def test_the_items_of_several_tools_come_in_the_order_of_the_log() -> None:
    parts = [_sample(name) for name in MIXED]
    together = parse_output("== ruff\n" + "== next\n".join(parts))
    assert list(together) == [item for part in parts for item in parse_output(part)]


def test_passing_tools_around_a_failing_one_change_nothing() -> None:
    names = ("mypy/passing", "jest/passing", "go/verbose", "cargo/passing", "ruff/passing")
    log = "".join(_sample(name) for name in names)
    assert parse_output(log) == parse_output(_sample("go/verbose"))


def test_a_test_that_two_reports_tell_is_one() -> None:
    log = _sample("pytest/default")
    report = _sample("junit/pytest")
    assert set(parse_output(log + report)) == {
        *parse_output(log),
        parse_output(_sample("junit/pytest"))[0],
    }


def test_what_a_failing_test_wrote_is_no_finding() -> None:
    captured = _sample("clang/errors") + _sample("ruff/concise") + "--- FAIL: TestX (0.00s)\n"
    log = _sample("pytest/no-summary")
    inside = log.replace("making a label\n", captured)
    assert parse_output(inside) == parse_output(log)
    assert parse_output(inside + _sample("ruff/concise")) == parse_output(log) + parse_output(
        _sample("ruff/concise")
    )


def test_two_runs_of_pytest_are_read_each_for_itself() -> None:
    other = _sample("pytest/no-summary").replace("test_ovens", "test_shops")
    log = _sample("pytest/default")
    assert parse_output(log + other) == parse_output(log) + parse_output(other)


@pytest.mark.parametrize("tool", ["jasmine", "minitest", "mix", "rspec"])
def test_the_order_in_which_tests_run_changes_no_item(tool: str) -> None:
    failing, shuffled = (_sample(f"{tool}/{name}") for name in ("failing", "shuffled"))
    assert parse_output(failing) != parse_output(shuffled)
    assert sorted(parse_output(failing)) == sorted(parse_output(shuffled))


@pytest.mark.parametrize("lines", [2_000, pytest.param(100_000, marks=pytest.mark.thorough)])
def test_items_are_few_and_short(lines: int) -> None:
    log = "".join(f"a.py:{line}:1: F401 {'long ' * 200}\n" for line in range(lines))
    found = parse_output(log)
    assert len(found) == MAX_ITEMS
    assert {len(item.message) for item in found} == {MAX_MESSAGE}
    assert found[0].message.startswith("F401 long long")
    assert found[0].message.endswith("…")


def test_messages_are_on_one_line() -> None:
    case = '<testcase name="x"><failure message="a &#9; b&#10;c"/></testcase>'
    assert parse_output(f"<testsuite>{case}</testsuite>") == (FailingItem("test", "x", "a b"),)


@pytest.mark.parametrize(
    "log",
    [
        "",
        "\n\n",
        "\x00" * 1000,
        "\x1b[" * 1000,
        "a" * 1_000_000,
        "FAILED " * 10_000,
        "(" * 100_000,
        '{"Time":' + "[" * 100_000,
        '{"Action":"output","Package":1,"Output":"FAIL"}',
        '{"Action":["fail"]}',
        "not ok 1 - no plan was told",
        "--- FAIL: no duration\nFAIL",
        "=== FAILURES ===\n=== 1 passed in 0.1s ===",
        "<testsuite>" * 10_000,
        "<testsuites>" + "<testsuite>" * 50_000 + "</testsuite>" * 50_000 + "</testsuites>",
        PASSING,
        BOMB,
        BOMB.replace("DOCTYPE bomb [<!ENTITY", "ENTITY"),
    ],
    ids=lambda log: log[:20],
)
def test_hostile_and_empty_logs_have_no_items(log: str) -> None:
    assert parse_output(log) == ()


def test_a_report_behind_a_bomb_is_read() -> None:
    assert parse_output(BOMB + _sample("junit/surefire")) == parse_output(_sample("junit/surefire"))


def test_a_report_may_stand_inside_a_log() -> None:
    report = _sample("junit/vitest")[: _sample("junit/vitest").index("</testsuites>") + 13]
    assert parse_output(f"running\n{report}\ndone\n") == parse_output(report)


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert len(parse_output(text)) <= MAX_ITEMS


@few_examples
@given(st.lists(st.sampled_from(LINES), max_size=60))
def test_lines_of_tools_in_any_order_are_read(lines: list[str]) -> None:
    for item in parse_output("\n".join(lines)):
        assert item.where
        assert len(item.message) <= MAX_MESSAGE
        assert "\n" not in item.where + item.message


@few_examples
@given(st.sampled_from(SAMPLES).map(lambda path: path.read_bytes().decode()), st.data())
def test_a_log_that_was_cut_off_is_read(log: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(log)))
    end = data.draw(st.integers(start, len(log)))
    assert all(item.where for item in parse_output(log[start:end]))


_SAMPLES = {
    "cargo/failing": True,
    "cargo/colour": True,
    "cargo/compile": False,
    "cargo/deny": False,
    "go/failing": True,
    "go/json": True,
    "go/verbose": True,
    "go/gotestsum": True,
    "go/build": False,
    "go/panic": False,
    "jest/failing": True,
    "jest/colour": True,
    "junit/pytest": True,
    "junit/surefire": True,
    "junit/vitest": True,
    "node-test/failing": True,
    "pytest/default": True,
    "pytest/xdist": True,
    "pytest/collection": False,
    "pytest/conftest": False,
    "pytest/xdist-crash": False,
    "tap/bats": True,
    "tap/prove": True,
    "tap/perl": True,
    "unittest/verbose": True,
    "unittest/python-3.10": True,
    "unittest/one": False,
    "vitest/failing": True,
    "vitest/suites": False,
    "mypy/default": False,
    "ruff/concise": False,
    "gcc/errors": False,
    "ordinary/prose": False,
    "ordinary/npm-install": False,
}


def _tallies_sample(name: str) -> str:
    return Path(GOLDEN / "checks" / f"{name}.txt").read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize("name", _SAMPLES)
def test_a_sample_shows_tests_that_passed(name: str) -> None:
    assert has_passing_test(_tallies_sample(name)) is _SAMPLES[name]


@pytest.mark.parametrize(
    "log",
    [
        "=== 3 failed in 0.10s ===",
        "3 failed, 0 passed in 0.10s",
        "Tests:       3 failed, 3 total",
        "Tests  3 failed (3)",
        "# pass 0",
        "test result: FAILED. 0 passed; 1 failed; 0 ignored",
        "Ran 2 tests in 0.001s\n\nFAILED (failures=1, errors=1)",
        "a.t (Wstat: 512 (exited 2) Tests: 2 Failed: 2)",
        '<testsuite tests="2" failures="1" errors="1">',
        "1..2\nok 1 # SKIP closed\nnot ok 2",
        "ok 1 is fine, and so is this",
        "ok  \texample.com/x\t0.01s [no tests to run]",
        "12 passed the oven",
    ],
)
def test_where_nothing_passed_nothing_is_seen(log: str) -> None:
    assert not has_passing_test(log)


@pytest.mark.parametrize(
    "log",
    [
        "1 failed, 2 passed in 0.10s",
        "\x1b[31m===== 1 failed, 2 passed, 1 warning in 61.10s (0:01:01) =====\x1b[0m",
        "Tests:       1 failed, 1 skipped, 2 passed, 4 total",
        "Ran 3 tests in 0.001s\n\nFAILED (failures=1, errors=1)",
        "a.t (Wstat: 512 (exited 2) Tests: 5 Failed: 2)",
        '<testsuite name="a" tests="3" failures="1" errors="1">',
        "1..2\nok 1 - heats\nnot ok 2",
        "     Summary [   0.01s] 3 tests run: 2 passed, 1 failed, 0 skipped",
    ],
)
def test_where_something_passed_it_is_seen(log: str) -> None:
    assert has_passing_test(log)


@pytest.mark.parametrize("name", ["pytest/tests-missing", "pytest/internal"])
def test_a_runner_without_a_test_says_so(name: str) -> None:
    assert reports_no_test(_tallies_sample(name))


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("NO TESTS RAN", True),
        ("No tests found, exiting with code 1", True),
        ("No test files found, exiting with code 1", True),
        ("1 failed in 0.1s", False),
        ("the oven has no tests", False),
    ],
)
def test_other_runners_say_it_in_other_words(log: str, expected: bool) -> None:
    assert reports_no_test(log) is expected
