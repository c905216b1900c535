"""Find tests that ran before an attempt and that no longer run after it.

The totals of test runners count what ran. Beside them, test files are compared by the names of
their tests: a new test must not make up for one that is gone. A test may be moved or renamed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import NamedTuple

from cub.actions.run import failures
from cub.actions.run.attempt_values import AttemptResult
from cub.actions.run.check_comparison import CheckComparison
from cub.actions.run.check_definitions import list_changed_definitions
from cub.actions.run.check_inputs import select_tests
from cub.actions.run.check_runner import CheckResult
from cub.actions.run.run_context import RunContext
from cub.actions.run.task_text import mentions_path, mentions_test
from cub.actions.run.verdict import Verdict
from cub.checks.runner_totals import RunnerTotals
from cub.checks.static_tests import (
    StaticTest,
    are_similar,
    find_vanished_tests,
    list_static_tests,
    list_words,
)
from cub.place.changes import FileChange
from cub.text import join_first

_SCRIPT_NAME = re.compile(
    r"(?!.*\.(?:mdx?|rst|adoc|snap)$)(?:.*(?:test|spec|check).*|.*\.(?:t|bats))", re.IGNORECASE
)

# Options that select tests by what failed or changed, so that each run may select others.
_VARYING = re.compile(
    r"\s--(?:lf|last-failed|sw|stepwise|testmon|picked|onlyChanged|onlyFailures|changed\w*)(?=[\s=]|$)"
)

_MAX_FILE = 1 << 20  # bytes

ReadFiles = Callable[[Sequence[str]], Mapping[str, bytes]]
ReadFile = Callable[[str], bytes]
_JUDGED_BY_CHECKS = (None, failures.CHECKS_FAILED, failures.UNVERIFIED, failures.NOT_MENDED)


def judge_removed_tests(
    context: RunContext, attempt: AttemptResult, verdict: Verdict
) -> Verdict | None:
    """Return the verdict on an attempt after which fewer tests run, or None.

    `verdict` is what the checks say. The task may name the tests that have to go, or their files;
    but a known failure is not fixed if its test is gone.
    """
    settings, place = context.settings, attempt.spec.place
    if settings.allows_removed_tests or settings.options.no_checks:
        return None
    if verdict.failure not in _JUDGED_BY_CHECKS:
        return None
    files = compare_test_files(
        attempt.changes,
        attempt.read_files_before,
        lambda path: place.read_file(path, _MAX_FILE),
    )
    definitions = list_changed_definitions(attempt)
    found = find_removed_tests(attempt.checks, files, list(definitions))
    if found is None:
        return None
    unnamed = [test for test in files.vanished if not mentions_test(attempt.spec.task, test.name)]
    named_paths = {test.path for test in files.vanished} - {test.path for test in unnamed}
    may_go = [
        path
        for path in found.paths
        if path in named_paths
        or mentions_path(attempt.spec.task, path)
        or (path in definitions and settings.options.allow_check_changes)
    ]
    if found.paths and len(may_go) == len(found.paths) and not found.hides_failure:
        return None
    return Verdict(failures.TESTS_REMOVED, found.reason)


class LostTests(NamedTuple):
    """Hold how many tests, or assertions, of a check no longer run."""

    command: str
    number: int
    unit: str


@dataclass(frozen=True, slots=True)
class TestFiles:
    """Hold the test files that an attempt changed, and what is gone of them.

    `paths` are all of them, `deleted` those that are gone together with their tests, `scripts`
    those that are gone and name no test, and `vanished` single tests of files that are left.
    """

    __test__ = False
    paths: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    vanished: tuple[StaticTest, ...] = ()


@dataclass(frozen=True, slots=True)
class RemovedTests:
    """Hold why tests count as removed, and the files by which they were.

    `hides_failure`: a known failure went away with them, so nothing shows that it is fixed.
    """

    reason: str
    paths: tuple[str, ...]
    hides_failure: bool


def find_removed_tests(
    checks: Sequence[CheckComparison], files: TestFiles, inputs: Sequence[str]
) -> RemovedTests | None:
    """Return the tests that an attempt removed, by its checks and its files; None for none.

    `inputs` are the changed files that define a check.
    """
    if all(_has_exact_totals(comparison.check) for comparison in checks):
        files = replace(files, scripts=())  # the totals say whether one of them was a test
    files = replace(files, deleted=(*files.deleted, *files.scripts))
    judged = [one for one in checks if one.is_ok or one.check.finds_no_test]
    lost = [found for one in judged if (found := _count_lost(one, files, inputs))]
    gone = [*files.deleted, *dict.fromkeys(test.path for test in files.vanished)]
    if not lost and not gone:
        return None
    paths = gone or [*inputs, *files.paths]
    hides_failure = any(_hides_failure(one, lost, files) for one in checks)
    return RemovedTests(_explain(lost, files, inputs), tuple(paths), hides_failure)


def _count_lost(
    comparison: CheckComparison, files: TestFiles, inputs: Sequence[str]
) -> LostTests | None:
    """Compare the totals of a check; None if as many tests run as before, or if that is unknown."""
    then, now = comparison.before, comparison.check
    if then is None or then.totals is None or now.totals is None:
        return None
    after = {totals.runner: totals for totals in now.totals}
    known = {totals.runner for totals in then.totals}
    is_other_runner = bool(inputs) and any(t.ran and t.runner not in known for t in now.totals)
    most: LostTests | None = None
    is_varying = _VARYING.search(now.command) is not None
    for total in then.totals:
        # What failed has to run again, whatever else is selected.
        old = total._replace(passed=0, last_ran=total.failed) if is_varying else total
        if new := after.get(old.runner):
            is_telling = bool(files.paths or inputs) or not old.counts_assertions
            number = _subtract_totals(old, new, is_red=then.is_red) if is_telling else 0
        else:  # a tool around the runner may show its output only if it fails
            is_telling = (then.is_passing or bool(inputs)) and not is_other_runner
            number = old.ran if is_telling else 0
        if number > (most.number if most else 0):
            most = LostTests(now.command, number, "assertion" if old.counts_assertions else "test")
    return most


def _subtract_totals(old: RunnerTotals, new: RunnerTotals, *, is_red: bool) -> int:
    number = old.ran - new.ran
    return min(number, old.last_ran - new.last_ran) if is_red else number


def _hides_failure(
    comparison: CheckComparison, lost: Collection[LostTests], files: TestFiles
) -> bool:
    """Return whether a check that failed before fails less, perhaps as its tests are gone."""
    then, check = comparison.before, comparison.check
    if then is None or not then.is_red or not (check.is_passing or comparison.fixed):
        return False
    if any(found.command == check.command for found in lost):
        return True
    if not _has_exact_totals(then) or not _has_exact_totals(check):
        return True
    names = {test.name for test in files.vanished}
    places = [item.where for item in comparison.fixed]
    return any(name in where for where in places for name in (*names, *files.deleted))


def _has_exact_totals(check: CheckResult) -> bool:
    totals = check.totals or ()
    return any(one.ran for one in totals) and not any(one.counts_assertions for one in totals)


def _explain(lost: Sequence[LostTests], files: TestFiles, inputs: Sequence[str]) -> str:
    """Say how many tests are gone, and which files explain that."""
    causes = []
    if files.deleted:
        were = "was" if len(files.deleted) == 1 else "were"
        causes.append(f"{join_first(list(files.deleted))} {were} deleted")
    if files.vanished:
        names = join_first([f"{test.name} ({test.path})" for test in files.vanished])
        causes.append(f"{names} {'is' if len(files.vanished) == 1 else 'are'} gone or empty")
    changed = list(dict.fromkeys([*inputs, *files.paths]))
    if not causes and changed:
        causes.append(f"{join_first(changed)} {'was' if len(changed) == 1 else 'were'} changed")
    if not lost:
        return "; ".join(causes)
    most = max(lost, key=lambda found: found.number)
    unit = most.unit if most.number == 1 else f"{most.unit}s"
    verb = "runs" if most.number == 1 else "run"
    what = f"{most.number} {unit} of `{most.command}` that ran before no longer {verb}"
    return f"{what}: {'; '.join(causes)}" if causes else what


def compare_test_files(
    changes: Sequence[FileChange], read_old: ReadFiles, read_new: ReadFile
) -> TestFiles:
    """Compare the changed test files of an attempt with what they were."""
    tests = [change for change in select_tests(changes) if not change.is_submodule]
    data = read_old([c.path for c in tests if c.kind != "A"]) if tests else {}
    old = {path: data[path].decode("utf-8", "replace") for path in data}
    new = {c.path: read_new(c.path).decode("utf-8", "replace") for c in tests if c.kind != "D"}
    vanished = find_vanished_tests(_list_all(old), _list_all(new))
    deleted = [c.path for c in tests if c.kind == "D"]
    gone = {test.path for test in vanished}
    moved_words = [list_words(new[c.path]) for c in tests if c.kind == "A"]
    return TestFiles(
        tuple(change.path for change in tests),
        tuple(path for path in deleted if path in gone),
        tuple(path for path in deleted if _is_lost_script(path, old[path], moved_words)),
        tuple(test for test in vanished if test.path not in deleted),
    )


def _is_lost_script(path: str, text: str, moved: Iterable[frozenset[str]]) -> bool:
    """Return whether a deleted file, in which no test has a name, was a test as a whole."""
    is_script = _SCRIPT_NAME.fullmatch(PurePosixPath(path).name) is not None
    if not is_script or any(list_static_tests(path, text)):
        return False
    return not any(are_similar(list_words(text), words) for words in moved)


def _list_all(texts: Mapping[str, str]) -> list[StaticTest]:
    return [test for path, text in texts.items() for test in list_static_tests(path, text)]
