"""Whether tests passed, and whether there were any, as the summaries of test runners tell it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.checks.plain import plain

_LONGEST_LINE = 1_000  # characters; summaries are short, and JUnit's counts stand at the start
_SOME = r"[1-9]\d* "
# A line that matches one of these says that at least one test, or package of tests, passed.
_PASSED = re.compile(
    "|".join(
        (
            rf"(?:=+ )?(?:\d+ \w+, )*{_SOME}passed\b.* in [\d.]+s",  # pytest
            rf" *Tests:? +(?:\d+ \w+(?:, | \| ))*{_SOME}passed\b",  # Jest, Vitest
            r"(?:#|ℹ) pass [1-9]",  # noqa: RUF001 - node --test prints this very sign
            rf"test result: \w+\. {_SOME}passed;",  # cargo test
            rf" *Summary \[.*\] .*\btests? run: {_SOME}passed",  # cargo-nextest
            r"ok  \t\S+\t(?:[\d.]+s|\(cached\))(?! \[no tests)|\s*--- PASS: ",  # go test
            r'\{.*"Action":"pass".*"Test":',  # go test -json
            r"✓  \S+ \((?:cached|\d+)",  # gotestsum
            r".* \.\.\. ok$",  # unittest -v
        )
    )
)
# Lines that count tests, and those of them that did not pass.
_RAN = re.compile(r"Ran (\d+) tests? in ")  # unittest; the next one belongs to it
_NOT_PASSED = re.compile(r"FAILED \((.+)\)$")
_TAP = re.compile(r"\s*ok \d+\b(?!.*# (?i:skip|todo))")
_TAP_PLAN = re.compile(r"^\s*1\.\.\d+\s*$", re.MULTILINE)  # without it, `ok 1` is prose
_PROVE = re.compile(r"\S.* \(Wstat: .*\) Tests: (\d+) Failed: (\d+)\)")
_JUNIT = re.compile(r".*?<testsuite\b([^>]*)")
_COUNT = re.compile(r'\b(tests|failures|errors|skipped|disabled)="(\d+)"')
_NO_TESTS = re.compile(
    r"=* ?no tests ran in [\d.]+s|collected 0 items\b|NO TESTS RAN|Ran 0 tests in "
    r"|No tests? (?:files? )?found\b|Error: No test files found|No tests were found"
    r"|No tests executed|No examples found"
)


def has_passed(output: str) -> bool:
    """Tell whether the output of a check shows a test that passed, beside those that failed.

    Known are the runners whose failing items `cub.checks.parsers` reads.
    """
    ran, is_tap = 0, _TAP_PLAN.search(output) is not None
    for line in _lines(output):
        if _PASSED.match(line) or (is_tap and _TAP.match(line)):
            return True
        if any(counted > bad for counted, bad in _counts(line)):
            return True
        if found := _RAN.match(line):
            ran = int(found[1])
        elif (found := _NOT_PASSED.match(line)) and ran > sum(
            int(number) for number in re.findall(r"=(\d+)", found[1])
        ):
            return True
    return False


def finds_no_test(output: str) -> bool:
    """Tell whether a test runner says that there is no test to run."""
    return any(_NO_TESTS.match(line.strip()) for line in _lines(output))


def _counts(line: str) -> Iterator[tuple[int, int]]:
    """How many tests a line counts, and how many of them did not pass."""
    if found := _PROVE.match(line):
        yield int(found[1]), int(found[2])
    if found := _JUNIT.match(line):
        counts = {name: int(number) for name, number in _COUNT.findall(found[1])}
        yield counts.pop("tests", 0), sum(counts.values())


def _lines(output: str) -> Iterator[str]:
    return (line[:_LONGEST_LINE] for line in plain(output).split("\n"))
