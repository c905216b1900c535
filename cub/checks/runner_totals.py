"""Count the tests of a run exactly, by the summaries that test runners print at the end.

Only summaries that a runner prints for passing tests as well as for failing ones count, so the
totals of two runs can be compared.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple


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
    "surefire": r"\[\w+\] Tests run: \d+, (?!.*Time elapsed)",
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
_PROVE_FAILED = re.compile(r"\S.* \(Wstat: .*\) Tests: \d+ Failed: (\d+)\)")


def read_totals(lines: Sequence[str]) -> tuple[RunnerTotals, ...]:
    """Return the totals of each runner that sums up its run in the lines, sorted by its name."""
    sums, last, subtests = defaultdict[str, Counter[str]](Counter), 0, 0
    for line in lines:
        if summary := _SUMMARY.match(line):
            name = str(_find_name(summary))
            numbers = _read_numbers(name, summary)
            if name == "pytest":  # it counts a subtest only if that fails
                numbers["failed"] = max(0, numbers["failed"] - subtests)
                last, subtests = numbers["passed"] + numbers["failed"], 0
            sums[_ALIASES.get(name, name)].update(numbers)
        elif _FAILED_SUBTEST.match(line):
            subtests += 1
    _drop_uncertain(sums, lines)
    return tuple(_make_totals(runner, sums[runner], last) for runner in sorted(sums))


def _find_name(summary: re.Match[str]) -> str:
    return next(name for name in _LINES if summary[name] is not None)


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
        failed = [int(found[1]) for line in lines if (found := _PROVE_FAILED.match(line))]
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
