"""Count the tests that ran and passed, by the lines in which test runners say so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class RunCounts(NamedTuple):
    """Hold how many tests a line reports as run, and how many of them as passed."""

    ran: int
    passed: int


_PASS, _RUN, _NONE = RunCounts(1, 1), RunCounts(1, 0), RunCounts(0, 0)
_SOME = r"[1-9]\d* "
_SKIPS = r"(?:\d+ (?:skipped|todo)(?:, | \| | ))*"
# A line that matches one of these says that at least one test, or package of tests, passed.
_PASSED = (
    rf"(?:=+ )?(?:\d+ \w+, )*{_SOME}passed\b.* in [\d.]+s",  # pytest
    rf" *Tests:? +(?:\d+ \w+(?:, | \| ))*{_SOME}passed\b",  # Jest, Vitest, Pest
    r"(?:#|ℹ) pass [1-9]",  # noqa: RUF001 - node --test prints this very sign
    rf"test result: \w+\. {_SOME}passed;",  # cargo test
    rf" *Summary \[.*\] .*\btests? run: {_SOME}passed",  # cargo-nextest
    r"ok  \t\S+\t(?:[\d.]+s|\(cached\))(?!.*\[no tests)|\s*--- PASS: ",  # go test
    r'\{.*"Action":"pass".*"Test":',  # go test -json
    r"✓  \S+ \((?:cached|\d+)",  # gotestsum
    r".* \.\.\. ok$",  # unittest -v
    r"All tests successful\.$",  # prove
    rf" +{_SOME}passing \(",  # Mocha
    rf" +{_SOME}passed \([\d.]+m?[smh]\)$",  # Playwright
    rf" +{_SOME}tests? passed$|  ✔ \S",  # AVA
    r"  Passed: {4}[1-9]|  passing: {3}[1-9]",  # uvu, tap-spec
    rf" {_SOME}pass$",  # Bun
    rf"(?:ok|FAILED) \| {_SOME}passed ",  # Deno
    r"OK \([1-9]\d* tests?, [1-9]",  # PHPUnit
    r"\S.* > \S.* PASSED$",  # Gradle, if it logs them
    r"[1-9]\d*% tests passed, ",  # CTest
    r"(?:Passed|Failed)!  - Failed: +\d+, Passed: +[1-9]",  # dotnet test
    r"Test summary: .*\bsucceeded: [1-9]| +Passed: [1-9]\d*$",  # and its other loggers
)
# One of these says that something ran, and not that it passed.
_STARTED = (
    rf"(?:=+ )?{_SOME}failed\b.* in [\d.]+s| *Tests:? +{_SOME}failed\b",  # pytest; Jest, Vitest
    r"(?:#|ℹ) fail [1-9]|test result: FAILED\. ",  # noqa: RUF001 - node --test; cargo test
    rf" +{_SOME}fail(?:ing|ed)?$| +{_SOME}tests? failed$",  # Mocha, Playwright, Bun, AVA
    r"  Total: {5}[1-9]",  # uvu
    r"(?:> Task )?:\S*[tT]est(?: UP-TO-DATE| FROM-CACHE|WARNING: .*)?$",  # Gradle
)
# One of these says that a runner, or one part of its run, executed no test.
_EMPTY = (
    r"=* ?no tests ran in [\d.]+s|collected 0 items\b",  # pytest
    r"(?:=+ )?\d+ (?:skipped|deselected)(?:, \d+ (?:deselected|warnings?))* in [\d.]+s",
    r"NO TESTS RAN|Ran 0 tests in ",  # unittest
    r"No tests found(?:, exiting with code \d|\.?$| related to files changed)",  # Jest, Pest
    rf" *Tests:? +(?:no tests|{_SKIPS}(?:\d+ total|\(\d+\)))$",  # Jest, Vitest
    r"No test files found(?:, exiting with code \d|\.?$)|Error: No test files found",  # and Mocha
    r"(?:#|ℹ) (?:tests|pass) 0$",  # noqa: RUF001 - node --test prints this very sign
    r"test result: ok\. 0 passed; 0 failed;|error: no tests to run",  # cargo test, cargo-nextest
    r"\?   \t\S+\t\[no test files\]|ok  \t.*\[no tests to run\]",  # go test
    r"testing: warning: no tests to run|\t\S+\t\tcoverage: 0\.0% of statements$",
    r'\{.*"Output":".*\[no test(?:s to run| files)\]\\n"',  # go test -json
    r"DONE 0 tests|∅  \S+",  # gotestsum
    r"1\.\.0(?: |$)|Result: NOTESTS",  # TAP, prove
    r" +0 passing \(",  # Mocha
    r"Error: No tests found",  # Playwright
    r"  ✘ No tests found in |  ✘ Couldn.t find any files to test",  # AVA
    r"No specs found|Incomplete: No specs found",  # Jasmine
    r"  Total: {5}0$",  # uvu
    r" 0 pass$|Test filter .* had no matches$",  # Bun
    r"ok \| 0 passed \| 0 failed|error: No test modules found",  # Deno
    r"No examples found\.",  # RSpec
    r"No tests executed!|No tests found in class ",  # PHPUnit
    r"There are no tests to run|All tests have been excluded\.",  # ExUnit
    r'The --only option was given to "mix test" but no test was executed',
    r"\[INFO\] No tests to run\.|\[ERROR\] .*: No tests were executed!",  # Surefire
    r"(?:> Task )?:\S*[tT]est NO-SOURCE|> No tests found for given includes: ",  # Gradle
    r"No tests were found!!!|\d+% tests passed, 0 tests failed out of 0$",  # CTest
    r"No test is available in |No test matches the given testcase filter ",  # dotnet test
    r"Test summary: total: 0,|(?:Passed|Failed)!  - Failed: +0, Passed: +0,",
)
_KNOWN = re.compile(
    "|".join(
        f"(?P<{name}>{'|'.join(lines)})"
        for name, lines in (("passed", _PASSED), ("started", _STARTED), ("empty", _EMPTY))
    )
)
_MEANINGS = {"passed": _PASS, "started": _RUN, "empty": _NONE}


_TAP = re.compile(r"\s*ok \d+\b(?!.*# (?i:skip|todo))")
_TAP_PLAN = re.compile(r"\s*1\.\.\d+\s*$")  # without it, `ok 1` is prose
_UNITTEST_RAN = re.compile(r"Ran ([1-9]\d*) tests? in ")  # the next one belongs to it
_UNITTEST_END = re.compile(r"(?:OK|FAILED)(?: \(.+\))?$")
_UNITTEST_NUMBER = re.compile(r"([a-z]+(?: [a-z]+)*)=(\d+)")
_EXUNIT_END = re.compile(r"Finished in .* seconds \(.* async, .* sync\)$")


def iter_counts(lines: Sequence[str]) -> Iterator[RunCounts]:
    """Yield what each line says of tests; without any that ran, zeros if a runner says so."""
    is_tap = any(map(_TAP_PLAN.match, lines))
    ran, is_exunit = 0, False
    for line in lines:
        if known := _KNOWN.match(line):
            yield _MEANINGS[str(known.lastgroup)]
        elif is_tap and _TAP.match(line):
            yield _PASS
        elif count := _UNITTEST_RAN.match(line):
            ran = int(count[1])
        elif ran and _UNITTEST_END.match(line):
            yield _count_unittest(ran, line)
            ran = 0
        elif line == "0 failures" and is_exunit:  # before ExUnit 1.15, of no test
            yield _NONE
        else:
            yield from _read_summary(line)
        is_exunit = _EXUNIT_END.match(line) is not None


def _count_unittest(ran: int, line: str) -> RunCounts:
    """Return the counts by the last line of a run; it may skip more subtests than it has tests."""
    numbers = {word: int(number) for word, number in _UNITTEST_NUMBER.findall(line)}
    failed = numbers.pop("failures", 0) + numbers.pop("errors", 0)
    skipped = sum(numbers.values())
    skipped = skipped if skipped <= ran else 0
    return RunCounts(ran - (0 if line.startswith("FAILED") else skipped), ran - failed - skipped)


_TALLY = re.compile(r"\d+ [a-z]+(?: [a-z]+)*(?:, \d+ [a-z]+(?: [a-z]+)*)+$")
_TALLIED = re.compile(r"(\d+) ([a-z]+?)s?\b")
_FIELDS = re.compile(r"(?:\[\w+\] )?Tests(?: run)?: +\d+, ")
_FIELD = re.compile(r"\b([A-Z][a-z]+?)s?(?: run)?: +(\d+)")
_TESTS = ("example", "spec", "run", "test", "doctest", "property", "propertie")
_FAILED = ("failure", "error", "invalid")
_UNRUN = ("pending", "skip", "skipped", "excluded", "omission", "incomplete")
_PROVE = re.compile(r"\S.* \(Wstat: .*\) Tests: (\d+) Failed: (\d+)\)")
_JUNIT = re.compile(r".*?<testsuite\b([^>]*)")
_COUNT = re.compile(r'\b(tests|failures|errors|skipped|disabled)="(\d+)"')


def _read_summary(line: str) -> Iterator[RunCounts]:
    """Yield the counts of a line that sums up a run: all tests, and those that did not pass."""
    if "failure" in line and _TALLY.match(line):  # RSpec, minitest, test-unit, Jasmine, ExUnit
        yield _subtract((word, int(number)) for number, word in _TALLIED.findall(line))
    elif "Tests" in line and _FIELDS.match(line):  # PHPUnit, Surefire
        yield _subtract((word.lower(), int(number)) for word, number in _FIELD.findall(line))
    elif prove := _PROVE.match(line):
        yield RunCounts(int(prove[1]), int(prove[1]) - int(prove[2]))
    elif (suite := _JUNIT.match(line)) and ' tests="' in suite[1]:
        counts = {name: int(number) for name, number in _COUNT.findall(suite[1])}
        total = counts.pop("tests", 0)
        skipped = counts.get("skipped", 0) + counts.get("disabled", 0)
        yield RunCounts(total - skipped, total - sum(counts.values()))


def _subtract(numbers: Iterable[tuple[str, int]]) -> RunCounts:
    """Return the counts by the words of a summary; PHPUnit tests nothing without an assertion."""
    by_word = Counter[str]()
    for word, number in numbers:
        by_word[word] += number
    failed = sum(by_word[word] for word in _FAILED)
    ran = sum(by_word[word] for word in _TESTS) - sum(by_word[word] for word in _UNRUN)
    if not failed and by_word.get("assertion") == 0:
        return _NONE
    return RunCounts(ran, ran - failed)
