"""The exact totals of test runners: over the real samples, and of logs that are no full account."""

from __future__ import annotations

import pytest

from cub.checks.runner_totals import count_tests
from tests.checks.samples import read_sample

# passed, failed, skipped
SAMPLES = {
    "ava/failing": (1, 2, 2), "bun/failing": (1, 3, 2), "cargo/failing": (1, 6, 1),
    "cargo/passing": (1, 0, 1), "ctest/failing": (1, 3, 0), "deno/failing": (1, 2, 1),
    "dotnet/failing": (2, 2, 1), "dotnet/terminal-logger": (3, 1, 1), "go/gotestsum": (3, 6, 1),
    "go/json": (2, 4, 1), "go/verbose": (2, 3, 1), "jasmine/failing": (1, 3, 1),
    "jest/failing": (1, 6, 2), "jest/passing": (1, 0, 1), "junit/gotestsum": (4, 6, 0),
    "junit/vitest": (1, 7, 2), "minitest/failing": (1, 5, 1), "mix/failing": (1, 4, 1),
    "mocha/failing": (1, 5, 1), "mocha/passing": (2, 0, 1), "mocha/tap": (1, 2, 0),
    "node-test/failing": (2, 4, 2), "phpunit/failing": (2, 5, 2), "phpunit/passing": (2, 0, 0),
    "playwright/dot": (1, 2, 1), "pytest/default": (4, 8, 2), "pytest/passing-quiet": (2, 0, 2),
    "pytest/tests-missing": (0, 0, 0), "rspec/failing": (1, 4, 2), "rspec/passing": (1, 0, 1),
    "surefire/failing": (1, 4, 1), "surefire/passing": (1, 0, 0), "tap/bats": (1, 2, 1),
    "tap/node": (2, 5, 2), "tap/prove": (3, 2, 0), "unittest/failing": (0, 8, 3),
    "unittest/passing": (1, 0, 1), "uvu/failing": (7, 2, 0), "uvu/passing": (9, 0, 0),
    "vitest/failing": (1, 6, 2), "vitest/suites": (0, 0, 1),
}  # fmt: skip
# These print a summary only if a test fails, or none at all.
WITHOUT_TOTALS = (
    "surefire/quiet", "go/failing", "go/panic", "gradle/failing", "gradle/full", "cargo/compile",
    "mypy/default", "ruff/concise", "ordinary/prose", "ordinary/npm-install", "ctest/none",
)  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_a_runner_says_how_many_tests_passed_failed_and_were_skipped(name: str) -> None:
    (totals,) = count_tests(read_sample(name))
    assert totals[1:4] == SAMPLES[name]


@pytest.mark.parametrize("name", WITHOUT_TOTALS)
def test_a_log_that_does_not_sum_up_every_run_has_no_totals(name: str) -> None:
    assert count_tests(read_sample(name)) == ()


def test_the_summaries_of_several_runs_add_up() -> None:
    log = (
        read_sample("pytest/default")
        + read_sample("jest/failing")
        + read_sample("pytest/passing-quiet")
    )
    assert [total[:4] for total in count_tests(log)] == [("jest", 1, 6, 2), ("pytest", 6, 8, 4)]


def test_tape_counts_assertions() -> None:
    log = "TAP version 13\n# a\nok 1 x\nnot ok 2 y\n\n1..2\n# tests 2\n# pass  1\n# fail  1\n"
    (totals,) = count_tests(log)
    assert totals.counts_assertions
    assert totals[1:4] == (1, 1, 0)
    assert not count_tests(read_sample("tap/node"))[0].counts_assertions


@pytest.mark.parametrize(
    ("log", "ran", "skipped"),
    [
        ("Ran 5 tests in 0.001s\n\nOK (skipped=2)", 3, 2),
        ("Ran 5 tests in 0.001s\n\nOK (skipped=1, expected failures=1)", 3, 2),
        ("Ran 0 tests in 0.000s\n\nNO TESTS RAN", 0, 0),
        # Subtests that fail or are skipped count beside their tests.
        ("Ran 5 tests in 0.001s\n\nFAILED (failures=9, skipped=1)", 4, 1),
        ("Ran 5 tests in 0.001s\n\nFAILED (failures=2, skipped=7)", 5, 0),
        ("Ran 5 tests in 0.001s\n\nOK (skipped=7)", 5, 0),
        ("SUBFAILED(i=2) a_test.py::A::test_a - x\n1 failed, 3 passed in 0.1s", 3, 0),
        (
            "SUBFAILED[b] (i=2) a_test.py::test_a - x\nFAILED a_test.py::test_a\n2 failed in 1s",
            1,
            0,
        ),
        ("3 passed, 1 xpassed, 2 deselected, 1 error in 61.10s (0:01:01)", 3, 3),
        ("3 passed, 2 subtests passed in 0.1s", 3, 0),
        ("Tests:    1 failed, 2 passed (9 assertions)", 3, 0),
        ("Tests:       3 failed, 3 total", 3, 0),
        ("  ✔ a\n  ✔ [expected fail] b\n  - [skip] c\n\n  1 test passed", 1, 2),
        ("5 tests, 9 assertions, 1 failures, 1 errors, 1 pendings, 0 omissions", 4, 1),
        ("     Summary [   0.01s] 3 tests run: 2 passed, 1 failed, 4 skipped", 3, 4),
        ("0 examples, 0 failures, 1 error occurred outside of examples", 0, 0),
    ],
)
def test_tests_that_are_skipped_or_expected_to_fail_did_not_run(
    log: str, ran: int, skipped: int
) -> None:
    (totals,) = count_tests(log)
    assert (totals.ran, totals.skipped) == (ran, skipped)


def test_a_failure_of_ava_that_is_fixed_is_no_test_that_is_gone() -> None:
    log = "  ✘ [fail]: a\n  {} b\n  ✔ c\n\n  {}\n"
    two, one = log.format("✘ [fail]:", "2 tests failed"), log.format("✔", "1 test failed")
    assert [total.ran for total in (*count_tests(two), *count_tests(one))] == [3, 3]
    assert [total.runner for total in count_tests("  ✔ a\n\n  1 passing (2ms)\n")] == ["mocha"]


def test_a_run_that_stops_at_a_failure_has_no_totals() -> None:
    assert count_tests("!!!! stopping after 1 failures !!!!\n1 failed, 2 passed in 0.1s\n") == ()
