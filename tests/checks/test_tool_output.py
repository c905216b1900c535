"""Whether a log shows tests that passed: over the real samples, and on lines that mislead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.checks.failing_items import MAX_MESSAGE, FailingItem
from cub.checks.tool_output import (
    MAX_ITEMS,
    find_missing_tool,
    has_passing_test,
    parse_output,
    reports_no_test,
)
from tests.checks.samples import SAMPLES, read_sample
from tests.checks.test_runner_totals import SAMPLES as TOTALS
from tests.examples import few_examples

LINES = sorted({line for name in SAMPLES for line in read_sample(name).split("\n")})
MIXED = ("ruff/concise", "mypy/default", "pytest/default")
PASSING = """<testsuite name="pytest"><testcase classname="a" name="b"/></testsuite>\n"""
BOMB = """<?xml version="1.0"?>
<!DOCTYPE bomb [<!ENTITY a "loaf"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<testsuites><testcase name="x"><failure message="&b;"/></testcase></testsuites>
"""


def test_the_items_of_several_tools_come_in_the_order_of_the_log() -> None:
    parts = [read_sample(name) for name in MIXED]
    together = parse_output("== ruff\n" + "== next\n".join(parts))
    assert list(together) == [item for part in parts for item in parse_output(part)]


def test_passing_tools_around_a_failing_one_change_nothing() -> None:
    names = ("mypy/passing", "jest/passing", "go/verbose", "cargo/passing", "ruff/passing")
    log = "".join(read_sample(name) for name in names)
    assert parse_output(log) == parse_output(read_sample("go/verbose"))


def test_a_test_that_two_reports_tell_is_one() -> None:
    log = read_sample("pytest/default")
    report = read_sample("junit/pytest")
    assert set(parse_output(log + report)) == {
        *parse_output(log),
        parse_output(read_sample("junit/pytest"))[0],
    }


def test_what_a_failing_test_wrote_is_no_finding() -> None:
    captured = (
        read_sample("clang/errors") + read_sample("ruff/concise") + "--- FAIL: TestX (0.00s)\n"
    )
    log = read_sample("pytest/no-summary")
    inside = log.replace("making a label\n", captured)
    assert parse_output(inside) == parse_output(log)
    assert parse_output(inside + read_sample("ruff/concise")) == parse_output(log) + parse_output(
        read_sample("ruff/concise")
    )


def test_two_runs_of_pytest_are_read_each_for_itself() -> None:
    other = read_sample("pytest/no-summary").replace("test_ovens", "test_shops")
    log = read_sample("pytest/default")
    assert parse_output(log + other) == parse_output(log) + parse_output(other)


@pytest.mark.parametrize(
    "message",
    [
        "FAIL Required test coverage of 100% not reached. Total coverage: 75.00%",  # pytest-cov
        "Coverage failure: total of 75 is less than fail-under=100",
        'Jest: "global" coverage threshold for lines (80%) not met: 75%',
        "ERROR: Coverage for lines (75.00%) does not meet global threshold (80%)",
        "Line coverage (75.00%) is below the expected minimum coverage (80.00%).",
    ],
)
def test_coverage_that_is_too_low_comes_after_the_tests(message: str) -> None:
    low = FailingItem("lint", "coverage", message)
    failing = read_sample("pytest/default")
    assert parse_output(f"2 passed\n{message}\n") == (low,)
    short = "=========================== short test summary info"
    log = failing.replace(short, f"{message}\n{short}")
    assert parse_output(log) == (*parse_output(failing), low)


@pytest.mark.parametrize("tool", ["jasmine", "minitest", "mix", "rspec"])
def test_the_order_in_which_tests_run_changes_no_item(tool: str) -> None:
    failing, shuffled = (read_sample(f"{tool}/{name}") for name in ("failing", "shuffled"))
    assert parse_output(failing) != parse_output(shuffled)
    assert sorted(parse_output(failing)) == sorted(parse_output(shuffled))


def test_assertions_of_tape_that_are_called_alike_are_those_of_their_tests() -> None:
    log = "TAP version 13\n# {}\nok 1 should be equal\n# {}\nnot ok 2 should be equal\n1..2\n"
    one, other = parse_output(log.format("a", "b")), parse_output(log.format("b", "a"))
    assert [item.where for item in (*one, *other)] == [
        "b > should be equal",
        "a > should be equal",
    ]


def test_comments_of_a_failed_test_name_no_test() -> None:
    log = "TAP version 13\nnot ok 1 a\n# (in test file t.bats, line 3)\nnot ok 2 b\n1..2\n"
    assert [item.where for item in parse_output(log)] == ["a", "b"]


def test_how_long_a_test_of_tap_took_is_no_part_of_its_name() -> None:
    log = (
        "TAP version 14\nnot ok 1 - f.js # time={0}ms {{\n    not ok 1 - a # time={0}ms\n    1..1\n"
        "}}\nnot ok 2 - parses {{\n1..2\n"
    )
    items = parse_output(log.format("1.5"))
    assert [item.where for item in items] == ["f.js > a", "parses {"]
    assert parse_output(log.format("20")) == items


@pytest.mark.parametrize("lines", [6_000, pytest.param(100_000, marks=pytest.mark.thorough)])
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
    assert parse_output(BOMB + read_sample("junit/surefire")) == parse_output(
        read_sample("junit/surefire")
    )


def test_a_report_may_stand_inside_a_log() -> None:
    report = read_sample("junit/vitest")[: read_sample("junit/vitest").index("</testsuites>") + 13]
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
@given(st.sampled_from(SAMPLES).map(read_sample), st.data())
def test_a_log_that_was_cut_off_is_read(log: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(log)))
    end = data.draw(st.integers(start, len(log)))
    assert all(item.where for item in parse_output(log[start:end]))


# Whether a test passed: what the totals say, and of outputs that have none.
HAS_PASSING = {
    **{name: passed > 0 for name, (passed, _, _) in TOTALS.items()},
    "cargo/colour": True,
    "cargo/compile": False,
    "cargo/deny": False,
    "go/failing": True,
    "go/build": False,
    "go/panic": False,
    "jest/colour": True,
    "junit/pytest": True,
    "junit/surefire": True,
    "pytest/xdist": True,
    "pytest/collection": False,
    "pytest/conftest": False,
    "pytest/xdist-crash": False,
    "tap/perl": True,
    "unittest/verbose": True,
    "unittest/python-3.10": True,
    "unittest/one": False,
    "tap/tap-spec": True,
    "ava/passing": True,
    "bun/skipped": False,
    "ctest/disabled": False,
    "ctest/passing": True,
    "deno/crash": False,
    "dotnet/build": False,
    "dotnet/passing": True,
    "gradle/failing": False,
    "gradle/full": True,
    "minitest/none": False,
    "minitest/rails": True,
    "minitest/test-unit": True,
    "mix/excluded": False,
    "mix/setup": False,
    "mocha/dot": True,
    "mocha/pending": False,
    "mocha/xunit": True,
    "phpunit/skipped": False,
    "phpunit/testdox-11": True,
    "phpunit/version-11": True,
    "playwright/passing": True,
    "playwright/projects": False,
    "rspec/pending": False,
    "surefire/skipped": False,
    "mypy/default": False,
    "ruff/concise": False,
    "gcc/errors": False,
    "ordinary/prose": False,
    "ordinary/npm-install": False,
}


@pytest.mark.parametrize("name", HAS_PASSING)
def test_a_sample_shows_tests_that_passed(name: str) -> None:
    assert has_passing_test(read_sample(name)) is HAS_PASSING[name]


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
        "12 passing loaves",
        "5 examples, 3 failures, 2 pending",
        "5 runs, 9 assertions, 4 failures, 1 errors",
        "Tests: 3, Assertions: 5, Errors: 1, Failures: 2.",
        "Tests run: 2, Failures: 1, Errors: 0, Skipped: 1",
        "0% tests passed, 4 tests failed out of 4",
        "Failed!  - Failed:     1, Passed:     0, Skipped:     0, Total:     1",
        "5 tests, 4 failures, 1 skipped",
        "Ran 3 tests in 0.001s\n\nOK (skipped=3)",
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
        "  12 passing (4ms)\n  1 failing",
        "5 examples, 1 failure",
        "5 runs, 9 assertions, 1 failures, 0 errors, 0 skips",
        "Tests: 5, Assertions: 9, Failures: 1.",
        "OK (2 tests, 2 assertions)",
        "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0",
        "75% tests passed, 1 tests failed out of 4",
        "Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5",
        "5 tests, 1 failure",
        "  4 passed (1.2s)",
        "Ran 3 tests in 0.001s\n\nOK (skipped=1)",
        "Ran 3 tests in 0.001s\n\nOK (skipped=9)",  # subtests, for a test has one skip
        "Ran 3 tests in 0.001s\n\nFAILED (failures=2, skipped=9)",
        "     Summary [   0.01s] 3 tests run: 2 passed, 1 failed, 0 skipped",
    ],
)
def test_where_something_passed_it_is_seen(log: str) -> None:
    assert has_passing_test(log)


@pytest.mark.parametrize(
    "name",
    [
        "ava/none", "bun/none", "bun/skipped", "ctest/disabled", "ctest/none", "deno/none",
        "dotnet/none", "gradle/none", "jasmine/none", "minitest/none", "mix/excluded", "mix/none",
        "mocha/none", "mocha/pending", "phpunit/class-without-tests", "phpunit/none",
        "phpunit/skipped", "playwright/none", "pytest/internal", "pytest/tests-missing",
        "rspec/none", "rspec/pending", "surefire/none", "surefire/skipped",
    ],
)  # fmt: skip
def test_a_runner_without_a_test_says_so(name: str) -> None:
    assert reports_no_test(read_sample(name))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_log_with_a_test_that_ran_has_tests_and_tools(name: str) -> None:
    log = read_sample(name)
    if has_passing_test(log) or any(item.kind == "test" for item in parse_output(log)):
        none = read_sample("mocha/none") + read_sample("go/all") + "sh: 1: mocha: not found\n"
        assert not reports_no_test(f"{none}{log}{none}")
        assert not find_missing_tool(f"{none}{log}{none}")


@pytest.mark.parametrize(
    "log",
    [
        "NO TESTS RAN",
        "----\nRan 0 tests in 0.000s\n\nOK",
        "Ran 0 tests in 0.000s\n\nNO TESTS RAN (skipped=2)",
        "============ 2 skipped, 1 warning in 0.01s ============",
        "============ 3 deselected in 0.01s ============",
        "?   \texample.com/x\t[no test files]",
        "testing: warning: no tests to run\nPASS\nok  \texample.com/x\t0.01s [no tests to run]",
        "?   \ta\t[no test files]\nok  \tb\t0.01s\tcoverage: 0.0% of statements [no tests to run]",
        '{"Action":"output","Package":"a","Output":"?   \\ta\\t[no test files]\\n"}',
        "No tests found, exiting with code 1",
        "No tests found, exiting with code 0",
        "Tests:       2 skipped, 2 total",
        "No test files found, exiting with code 0",
        "No test files found, exiting with code 1",
        "0 examples, 0 failures",
        "\n  0 passing (2ms)\n",
        "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured",
        "TAP version 13\n1..0\n# tests 0\n# pass 0",
        "ℹ tests 0\nℹ pass 0",  # noqa: RUF001
        "No tests executed!",
        "No tests were found!!!",
        "No test is available in /home/ada/Bakery.Tests.dll. Make sure that",
        "No test matches the given testcase filter `Oven` in /home/ada/Bakery.Tests.dll",
        "There are no tests to run",
        "Error: No tests found",
        "> Task :compileTestJava NO-SOURCE\n> Task :test NO-SOURCE",
        "[INFO] No tests to run.",
        "Tests run: 0, Failures: 0, Errors: 0, Skipped: 0",
        "1..0 # SKIP closed",
        "ok | 0 passed | 0 failed (6ms)",
        "  Total:     0\n  Passed:    0\n  Skipped:   0\n  Duration:  0.71ms",
    ],
)
def test_runners_say_in_many_words_that_no_test_ran(log: str) -> None:
    assert reports_no_test(log)
    assert reports_no_test(f"$ lint\nno problems\n{log}\ndone\n")
    assert not reports_no_test(f"{log}\n=== 1 passed in 0.10s ===\n")


@pytest.mark.parametrize(
    "log",
    [
        "",
        "1 failed in 0.1s",
        "the oven has no tests",
        "No tests found for ovens.py\nchecked 3 files",
        "0 failures",
        "3 warnings in 0.52s",
        "All checks passed!",
        "BUILD SUCCESSFUL in 2s",
        "> Task :api:test NO-SOURCE\n> Task :shop:test\n\nBUILD SUCCESSFUL in 2s",
        "  0 passing (2ms)\n  1 failing\n\n  1) price:\n     Error: no flour\n",
        "?   \ta\t[no test files]\n--- FAIL: TestHeat (0.00s)\nFAIL\tb\t0.01s",
        "test result: ok. 0 passed; 0 failed;\ntest result: FAILED. 0 passed; 1 failed; 0 ignored",
        "1 doctest, 7 tests, 0 failures",
    ],
)
def test_where_a_test_may_have_run_nothing_is_said(log: str) -> None:
    assert not reports_no_test(log)


@pytest.mark.parametrize(
    "log",
    [
        "/usr/bin/python3: No module named pytest",
        "/usr/bin/python3.11: No module named pytest.__main__; 'pytest' is a package",
        "\n> bake@1.0.0 test\n> mocha\n\nsh: 1: mocha: not found",
        "bash: line 1: mocha: command not found",
        "./check.sh: line 3: mocha: command not found",
        "zsh: command not found: mocha",
        "/bin/sh: mocha: command not found\nmake: *** [Makefile:2: test] Error 127",
        "sh: 1: ./node_modules/.bin/mocha: not found",
        "bash: line 1: .venv/bin/pytest: No such file or directory",
        "env: ‘mocha’: No such file or directory",  # noqa: RUF001
        "'mocha' is not recognized as an internal or external command,",
        'npm error Missing script: "test"\nnpm error\nnpm error To see a list of scripts, run:',
        "npm ERR! missing script: test",
        "npm error could not determine executable to run",
        "  throw err;\n  ^\n\nError: Cannot find module '/bread/node_modules/mocha/bin/mocha.js'\n",
        "bundler: command not found: rspec\nInstall missing gem executables with `bundle install`",
        "/usr/lib/resolver.rb:271:in `verify!': Could not find gem 'rspec (= 99)' in locally",
        'Could not find command "tset".',
        "error: no such command: `nextest`\n\nhelp: view all installed commands",
        "error: Failed to spawn: `pytest`\n  Caused by: No such file or directory (os error 2)",
        "Could not open input file: vendor/bin/phpunit",
        '** (Mix) The task "tset" could not be found. Did you mean "test"?',
        "make: *** No rule to make target 'test'.  Stop.",
        'Unknown command: "tset"\n\nTo see a list of supported npm commands, run:\n  npm help',
        "error: unrecognized subcommand 'tset'",
        "go tset: unknown command\nRun 'go help' for usage.",
        "Command not found: pytst",
        "rake aborted!\nDon't know how to build task 'tset' (See the list of available tasks)",
        '[ERROR] Unknown lifecycle phase "tset". You must specify a valid lifecycle phase',
        "Task 'tset' not found in root project 'bakery'.",
        "error: Justfile does not contain recipe `tset`",
    ],
)
def test_a_tool_that_is_not_installed_is_seen(log: str) -> None:
    assert find_missing_tool(log)
    assert not reports_no_test(log)
    assert not find_missing_tool(f"{log}\n=== 1 failed, 1 passed in 0.10s ===\n")


@pytest.mark.parametrize(
    "log",
    [
        "",
        "the app said: Unknown command: bake",
        "/usr/bin/python3: No module named bakery",
        "ModuleNotFoundError: No module named 'pytest'",
        "E   ModuleNotFoundError: No module named 'ovens'",
        "Error: Cannot find module './ovens'",
        "Error: Cannot find module 'chai'",
        "make: *** No rule to make target 'ovens.c', needed by 'ovens.o'.  Stop.",
        "sh: 1: ./check.sh: not found",
        "the oven: command not found in the manual",
        "the door was not found",
    ],
)
def test_what_a_project_itself_misses_is_no_missing_tool(log: str) -> None:
    assert not find_missing_tool(log)


@given(st.text())
def test_any_text_has_counts(text: str) -> None:
    assert not (has_passing_test(text) and reports_no_test(text))
    assert not (has_passing_test(text) and find_missing_tool(text))


@few_examples
@given(st.lists(st.sampled_from(LINES), max_size=60))
def test_lines_in_any_order_do_not_pass_without_a_test(lines: list[str]) -> None:
    log = "\n".join(lines)
    assert not (has_passing_test(log) and (reports_no_test(log) or find_missing_tool(log)))
