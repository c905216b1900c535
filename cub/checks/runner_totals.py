"""Count the tests of a run exactly, by the summaries that test runners print at the end.

Only summaries that a runner prints for passing tests as well as for failing ones count, so the
totals of two runs can be compared.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from cub.checks.terminal_text import split_lines


class RunnerTotals(NamedTuple):
    """Hold how many tests of a runner passed, failed, and were skipped or expected to fail.

    `last_ran` is how many ran by the last summary of pytest: a failing test of a plugin prints
    summaries, too.
    """

    runner: str
    passed: int
    failed: int
    skipped: int = 0
    last_ran: int = 0

    @property
    def ran(self) -> int:
        """Return how many tests ran and decided something."""
        return self.passed + self.failed

    @property
    def counts_assertions(self) -> bool:
        """Return whether the numbers are of assertions, which may vary with the code under test."""
        return self.runner in ("tap", "prove")


_PAIRS = r"\d+ [a-z]+(?: [a-z]+)*(?:, \d+ [a-z]+(?: [a-z]+)*)*"
_ENDS = r"pass|passed|passing|fail|failed|failing|failures?|flaky|skip|skipped|pending|todo"
# The lines that sum up a run, or say how one test ended, by the name that they are added up under.
_LINES = {
    "pytest": rf"(?:=+ )?(?:{_PAIRS}|no tests ran) in [\d.]+s\b",
    "jest": r" *Tests:? +(?:no tests$|\d+ [a-z]+\b)",  # Vitest and Pest, too
    "cargo": r"test result: \w+\S* \d+ passed; ",
    "nextest": r" *Summary \[.*\] .*\btests? run: \d+ passed",
    "uvu": r"  (?:Total: {5}|Passed: {4}|Skipped: {3})\d+$",
    "mocha": rf" +\d+ (?:{_ENDS})(?: \([\d.]+m?[smh]\))?$",  # Bun, Playwright, …
    "ava": r"  (?P<ava_end>✔ \[expected fail\]|✔|✘ \[fail\]:|- \[(?:skip|todo)\]) ",
    "deno": r"(?:ok|FAILED) \| \d+ passed ",
    "tally": r"\d+ (?:examples?|specs?|runs|tests?|doctests?|propert\w+), .*\d+ failures?\b",
    "ctest": r"\d+% tests passed, \d+ tests failed out of \d+",
    "gotestsum": r"DONE \d+ tests",
    "phpunit_ok": r"OK \(\d+ tests?, ",
    "phpunit": r"Tests: \d+, Assertions: \d+",
    "surefire": r"(?:\[\w+\] )?Tests run: \d+, (?!.*Time elapsed)",
    "dotnet": r"(?:Passed|Failed|Skipped)!  - Failed: +\d+, |Test summary: total: \d+, ",
    "prove": r"Files=\d+, Tests=\d+, ",
    "junit": r'.*?<testsuite\b[^>]* tests="[^>]*',
    "unittest_ran": r"Ran \d+ tests? in ",
    "unittest": r"(?:OK|FAILED) \([a-z ]+=\d+",
    "node": r"(?:#|ℹ) (?:tests|suites|pass|fail|cancelled|skipped|todo) +\d+$",  # noqa: RUF001
    "go": r"--- (?P<go_end>PASS|FAIL|SKIP): ",
    "go_json": r'\{(?=.*"Test":"[^"/]+").*"Action":"(?P<json_end>pass|fail|skip)"',
    "tap": r"(?P<tap_end>ok|not ok) \d+\b",
}
# A line that matches one of these says that a test, or a package of tests, passed.
_PASSED = (
    r"ok  \t\S+\t(?:[\d.]+s|\(cached\))(?!.*\[no tests)",  # go test
    r"✓  \S+ \((?:cached|\d+)",  # gotestsum
    r".* \.\.\. ok$",  # unittest -v
    r"  passing: {3}[1-9]",  # tap-spec
    r"\S.* > \S.* PASSED$",  # Gradle, if it logs them
    r"Test summary: .*\bsucceeded: [1-9]| +Passed: [1-9]\d*$",  # loggers of dotnet test
)
# One of these says that something ran, and not that it passed.
_STARTED = (r"(?:> Task )?:\S*[tT]est(?: UP-TO-DATE| FROM-CACHE|WARNING: .*)?$",)  # Gradle
# One of these says that a runner, or one part of its run, executed no test.
_EMPTY = (
    r"=* ?no tests ran in [\d.]+s|collected 0 items\b|NO TESTS RAN",  # pytest, unittest
    r"No tests found(?:, exiting with code \d|\.?$| related to files changed)",  # Jest, Pest
    r"No test files found(?:, exiting with code \d|\.?$)|Error: No test files found",  # and Mocha
    r"error: no tests to run|1\.\.0(?: |$)|Result: NOTESTS",  # cargo-nextest, TAP, prove
    r"\?   \t\S+\t\[no test files\]|ok  \t.*\[no tests to run\]",  # go test
    r"testing: warning: no tests to run|\t\S+\t\tcoverage: 0\.0% of statements$",
    r'\{.*"Output":".*\[no test(?:s to run| files)\]\\n"|∅  \S+',  # go test -json, gotestsum
    r"Error: No tests found|Test filter .* had no matches$",  # Playwright, Bun
    r"  ✘ No tests found in |  ✘ Couldn.t find any files to test",  # AVA
    r"No specs found|Incomplete: No specs found|No examples found\.",  # Jasmine, RSpec
    r"error: No test modules found|No tests executed!|No tests found in class ",  # Deno, PHPUnit
    r"There are no tests to run|All tests have been excluded\.",  # ExUnit
    r'The --only option was given to "mix test" but no test was executed',
    r"\[INFO\] No tests to run\.|\[ERROR\] .*: No tests were executed!",  # Surefire
    r"(?:> Task )?:\S*[tT]est NO-SOURCE|> No tests found for given includes: ",  # Gradle
    r"No tests were found!!!",  # CTest
    r"No test is available in |No test matches the given testcase filter ",  # dotnet test
)
_KNOWN = re.compile(
    "|".join(
        f"(?P<{name}>{'|'.join(lines)})"
        for name, lines in (("passed", _PASSED), ("started", _STARTED), ("empty", _EMPTY))
    )
)
_EXUNIT_END = re.compile(r"Finished in .* seconds \(.* async, .* sync\)$")
_SUMMARY = re.compile("|".join(f"(?P<{name}>{line})" for name, line in _LINES.items()))
_ALIASES = {"phpunit_ok": "phpunit", "unittest_ran": "unittest", "go_json": "go"}
_WORDS = {
    "passed": ("ok", "pass", "passed", "passing", "succeeded", "✔"),
    "failed": ("not ok", "fail", "failed", "failing", "failure", "flaky", "cancelled", "✘ [fail]:"),
    "errors": ("error", "invalid"),
    "skipped": (
        "skip", "skipped", "pending", "todo", "xfailed", "xpassed", "deselected", "ignored",
        "excluded", "omission", "incomplete", "disabled", "expected", "unexpected",
        "✔ [expected fail]", "- [skip]", "- [todo]",
    ),
    "total": ("total", "test", "example", "spec", "run", "doctest", "propertie", "property"),
    "suites": ("suite",),
    "assertions": ("assertion",),
}  # fmt: skip
_KEYS = {word: key for key, words in _WORDS.items() for word in words}
_ENDS_OF_TESTS = ("go_end", "json_end", "tap_end", "ava_end")
_NUMBER_FIRST = re.compile(r"(\d+) (?:tests? (?!run|in))?([a-z]+)\b(?! occurred)")
_WORD_FIRST = re.compile(r'([A-Za-z]+)(?: run| failures| successes)?(?:: *|="?| +)(\d+)')
_WORD_FIRST_RUNNERS = (
    "phpunit", "surefire", "dotnet", "prove", "junit", "unittest", "node", "uvu",
)  # fmt: skip
_WITHOUT_ERRORS = ("pytest", "mocha", "gotestsum")  # what they call errors are not tests
_NUMBER = re.compile(r"\d+")
_AVA_END = re.compile(r" +\d+ tests? (?:passed|failed)$")
_TAP_PLAN = re.compile(r"\s*1\.\.\d+\s*$")  # without it, `ok 1` is prose
_DIRECTIVE = re.compile(r".*# (?i:skip|todo)\b")
_CUT_SHORT = re.compile(r"!+ (?:stopping after \d+ failures?|\S*KeyboardInterrupt)\b")
_FAILED_SUBTEST = re.compile(r"SUBFAIL(?:ED)?[ (\[].*::")  # in pytest's short summary
_PROVE_FAILED = re.compile(r"\S.* \(Wstat: .*\) Tests: (\d+) Failed: (\d+)\)")


def count_tests(output: str) -> tuple[RunnerTotals, ...]:
    """Return the totals of each runner that sums up its run in the output, sorted by its name."""
    lines = split_lines(output)
    sums, last = _add_up(lines)
    _drop_uncertain(sums, lines)
    return tuple(_make_totals(runner, sums[runner], last) for runner in sorted(sums))


class RunEvidence(NamedTuple):
    """Say whether a log shows that a test ran, that one passed, and that a runner found none."""

    ran: bool
    passed: bool
    found_none: bool


def find_evidence(lines: Sequence[str]) -> RunEvidence:
    """Return what the summaries of a log, and lines that are not summed up, say of its tests."""
    sums, _ = _add_up(lines)
    if not any(map(_TAP_PLAN.match, lines)):
        sums.pop("tap", None)
    kinds = {known.lastgroup for known in map(_KNOWN.match, lines) if known}
    ran, passed, found_none = "started" in kinds, "passed" in kinds, "empty" in kinds
    found_none |= "0 failures" in lines and any(map(_EXUNIT_END.match, lines))  # before 1.15
    for runner, numbers in sums.items():
        totals = _make_totals(runner, numbers, 0)
        is_void = totals.failed == 0 == numbers.get("assertions", 1)  # PHPUnit tests nothing then
        has_numbers = any(key for key in numbers)  # and not of warnings alone
        found_none |= is_void or (has_numbers and totals.ran <= 0 and not numbers["errors"])
        ran |= totals.ran > 0 and not is_void
        passed |= totals.passed > 0 and not is_void
    scripts = [script for script in map(_PROVE_FAILED.match, lines) if script]
    passed |= any(int(script[1]) > int(script[2]) for script in scripts)
    return RunEvidence(ran or passed or bool(scripts), passed, found_none)


def _add_up(lines: Sequence[str]) -> tuple[dict[str, Counter[str]], int]:
    """Return the sums of each runner's numbers by their meaning, and how many ran by pytest's last
    summary.
    """
    sums, last, subtests = defaultdict[str, Counter[str]](Counter), 0, 0
    for line in lines:
        if summary := _SUMMARY.match(line):
            name = str(summary.lastgroup)
            numbers = _read_numbers(name, summary)
            if name == "pytest":  # it counts a subtest only if that fails
                if subtests:
                    numbers["failed"] = max(0, numbers["failed"] - subtests)
                last, subtests = numbers["passed"] + numbers["failed"], 0
            sums[_ALIASES.get(name, name)].update(numbers)
        elif _FAILED_SUBTEST.match(line):
            subtests += 1
    return sums, last


def _read_numbers(name: str, summary: re.Match[str]) -> Counter[str]:
    """Return the numbers of a summary, or of the line of one test, by their meaning."""
    line = summary[0] if name == "junit" else summary.string
    if end := next(filter(None, map(summary.group, _ENDS_OF_TESTS)), ""):
        is_directive = name == "tap" and _DIRECTIVE.match(line)
        return Counter(["skipped" if is_directive else _KEYS[end.lower()]])
    if name == "ctest":
        _, failed, total = map(int, _NUMBER.findall(line)[:3])
        return Counter(failed=failed, total=total)
    if name in _WORD_FIRST_RUNNERS:
        pairs = _WORD_FIRST.findall(line)
    else:
        pairs = [(word, number) for number, word in _NUMBER_FIRST.findall(line)]
    numbers = Counter[str]()
    for word, number in pairs:
        key = _KEYS.get(word.lower()) or _KEYS.get(word.lower().removesuffix("s"), "")
        numbers[key] += int(number)
    return numbers


def _drop_uncertain(sums: dict[str, Counter[str]], lines: Sequence[str]) -> None:
    """Drop the totals of runners that print them only sometimes, and lines that were summed up."""
    if not any(map(_TAP_PLAN.match, lines)):
        sums.pop("tap", None)
    if node := sums.pop("node", None):  # only the runner of Node.js counts suites, too
        sums.pop("tap", None)
        sums["node" if "suites" in node else "tap"] = node
    is_verbose = any(line.startswith(("=== RUN ", '{"')) for line in lines)
    if "gotestsum" in sums or not is_verbose:  # go alone names no test that passed
        sums.pop("go", None)
    if not any(line.startswith("[INFO] ") for line in lines):  # `mvn -q`
        sums.pop("surefire", None)
    if not any(map(_AVA_END.match, lines)):  # Mocha marks what passed in the same way
        sums.pop("ava", None)
    if uvu := sums.get("uvu"):
        uvu["failed"] = uvu["total"] - uvu["passed"]
    if any(map(_CUT_SHORT.match, lines)):
        sums.pop("pytest", None)
    if "prove" in sums:
        failed = [int(found[2]) for line in lines if (found := _PROVE_FAILED.match(line))]
        sums["prove"]["failed"] = sum(failed)


def _make_totals(runner: str, numbers: Counter[str], last: int) -> RunnerTotals:
    failed = numbers["failed"] + (0 if runner in _WITHOUT_ERRORS else numbers["errors"])
    total, skipped = numbers["total"], numbers["skipped"]
    if runner == "unittest":  # its subtests that fail or are skipped count beside the tests
        skipped = skipped if skipped <= total else 0
        failed = min(failed, total - skipped)
    passed = numbers["passed"] or max(0, total - failed - skipped)
    last_ran = last if runner == "pytest" else passed + failed
    return RunnerTotals(runner, passed, failed, skipped, last_ran)
