"""Whether a log shows tests that passed: over the real samples, and on lines that mislead."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.checks.tallies import finds_no_test, has_passed
from tests.conftest import GOLDEN

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


def _sample(name: str) -> str:
    return Path(GOLDEN / "checks" / f"{name}.txt").read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize("name", _SAMPLES)
def test_a_sample_shows_tests_that_passed(name: str) -> None:
    assert has_passed(_sample(name)) is _SAMPLES[name]


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
    assert not has_passed(log)


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
    assert has_passed(log)


@pytest.mark.parametrize("name", ["pytest/tests-missing", "pytest/internal"])
def test_a_runner_without_a_test_says_so(name: str) -> None:
    assert finds_no_test(_sample(name))


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
    assert finds_no_test(log) is expected
