"""Find tests that ran before an attempt and that no longer run after it.

The totals of test runners count what ran. Beside them, test files are compared by the names of
their tests: a new test must not make up for one that is gone. A test may be moved or renamed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import NamedTuple

from cub.actions.run import failures
from cub.actions.run.attempt_state import Attempt
from cub.actions.run.check_comparison import CheckComparison
from cub.actions.run.check_definitions import list_changed_definitions
from cub.actions.run.check_inputs import select_tests
from cub.actions.run.check_runner import CheckResult
from cub.actions.run.run_context import RunContext
from cub.actions.run.task_text import mentions_path
from cub.actions.run.verdict import Verdict
from cub.checks.runner_totals import RunnerTotals
from cub.git.snapshot import FileChange, Snapshot
from cub.text import join_first

_TEST = re.compile(
    r"""^[ \t]*(?:async[ ]+)?def[ ]+(?P<def>test\w*)                             # Python, Ruby
    | (?:(?<![.\w])(?:t\.)?(?:it|test|specify)                                # JavaScript, Ruby
        (?:\.(?:(?P<off>fail\w*|skip|todo)\b|\w+))*
        (?:(?<=\.each)(?P<table>\([^;]{0,2000}?\)|`[^`]{0,2000}`))?|@test)[ (]\s*
      (?P<quote>["'`])(?P<text>.{1,300}?)(?P=quote)
    | ^func[ ]+(?P<func>Test\w+)                                                 # Go
    | \bfunction[ ]+(?P<function>test\w+)                                        # PHP
    | \#\[[\w:]*test\b[^\]]*\]\s*(?:\#\[[^\]]*\]\s*)*(?:pub[ ]+)?(?:async[ ]+)?fn[ ]+(?P<fn>\w+)
    | (?:@\w*Test\b(?:\s*@\w+\([^()]*\))*|\[(?:Fact|Theory|Test\w*)\b)[^{;]{0,500}?  # Java, C#
      (?<!@)\b(?P<method>\w+)[ ]*\(
    """,
    re.MULTILINE | re.VERBOSE,
)
_NAMES = ("def", "text", "func", "function", "fn", "method")
_COMMENT = re.compile(r"^[ \t]*(?:(?:\#(?!\[)|//).*|/\*[\s\S]*?(?:\*/|\Z))", re.MULTILINE)
_WORD = re.compile(r"\w+")
_DECORATOR = re.compile(r"^[ \t]*@[\w.]+(?:\(|\s*$)", re.MULTILINE)
_SIMILAR = 0.5  # of the words of two tests
_COVERED = 0.75  # of the words of a test, by one that may stand for several
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
    context: RunContext, attempt: Attempt, before: Snapshot, verdict: Verdict
) -> Verdict | None:
    """Return the verdict on an attempt after which fewer tests run, or None.

    `verdict` is what the checks say. The task may name the files whose tests have to go; but a
    known failure is not fixed if its test is gone.
    """
    settings, workspace = context.settings, context.workspace
    if settings.allows_removed_tests or settings.options.no_checks:
        return None
    if verdict.failure not in _JUDGED_BY_CHECKS:
        return None
    files = compare_test_files(
        attempt.changes,
        lambda paths: workspace.read_files_before(before, paths),
        lambda path: workspace.read_file(path, _MAX_FILE),
    )
    definitions = list_changed_definitions(context, attempt, before)
    found = find_removed_tests(attempt.checks, files, list(definitions))
    if found is None:
        return None
    may_go = [
        path
        for path in found.paths
        if mentions_path(attempt.task, path)
        or (path in definitions and settings.options.allow_check_changes)
    ]
    if found.paths and len(may_go) == len(found.paths) and not found.hides_failure:
        return None
    return Verdict(failures.TESTS_REMOVED, found.reason)


class StaticTest(NamedTuple):
    """Hold a test as its file defines it: the file, the name, and the words of its code."""

    path: str
    name: str
    words: frozenset[str]


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
        causes.append(f"{names} {'is' if len(files.vanished) == 1 else 'are'} gone")
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
    vanished = _list_vanished(_list_all(old), _list_all(new))
    deleted = [c.path for c in tests if c.kind == "D"]
    gone = {test.path for test in vanished}
    moved_words = [_list_words(new[c.path]) for c in tests if c.kind == "A"]
    return TestFiles(
        tuple(change.path for change in tests),
        tuple(path for path in deleted if path in gone),
        tuple(path for path in deleted if _is_lost_script(path, old[path], moved_words)),
        tuple(test for test in vanished if test.path not in deleted),
    )


def _is_lost_script(path: str, text: str, moved: Iterable[frozenset[str]]) -> bool:
    """Return whether a deleted file, in which no test has a name, was a test as a whole."""
    if _TEST.search(text) or not _SCRIPT_NAME.fullmatch(PurePosixPath(path).name):
        return False
    return not any(_are_similar(_list_words(text), words) for words in moved)


def _list_all(texts: Mapping[str, str]) -> list[StaticTest]:
    return [test for path, text in texts.items() for test in list_static_tests(path, text)]


def list_static_tests(path: str, text: str) -> Iterator[StaticTest]:
    """Yield the tests that a file defines, in most languages by the start of each.

    A test in a comment is none, and neither is one that is skipped or has to fail.
    """
    text = _COMMENT.sub("", text)
    starts = list(_TEST.finditer(text))
    places = [0, *(start.end() for start in starts)]
    gaps = zip(places, starts, strict=False)  # the last place is behind the last test
    heads = [_find_head(text, place, start.start()) for place, start in gaps]
    for start, head, end in zip(starts, heads, [*heads, len(text)][1:], strict=True):
        if start["off"]:
            continue
        name = next(filter(None, (start[group] for group in _NAMES)), "")
        code = (text[head : start.start()], start["table"] or "", text[start.end() : end])
        yield StaticTest(path, name, _list_words(" ".join(code)))


def _find_head(text: str, begin: int, start: int) -> int:
    """Return where the decorators of a test begin, such as those with its parameters."""
    begin = max(begin, text.rfind("\n\n", begin, start))
    decorator = _DECORATOR.search(text, begin, start)
    return decorator.start() if decorator else start


def _list_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))


def _list_vanished(old: Sequence[StaticTest], new: Sequence[StaticTest]) -> list[StaticTest]:
    """Return the tests whose name is gone, and that no other test stands for.

    A test with a new name may resemble it, and any may have taken in what it said, as a case of it.
    """
    left = Counter(test.name for test in new)
    left.subtract(Counter(test.name for test in old))
    earlier = dict[str, frozenset[str]]()
    for test in old:
        if left[test.name] <= 0:
            earlier[test.name] = earlier.get(test.name, frozenset()) | test.words
    vanished = []
    for test in old:
        if left[test.name] < 0 and not any(
            _stands_for(one.words, test.words, earlier.get(one.name)) for one in new
        ):
            left[test.name] += 1
            vanished.append(test)
    return vanished


def _stands_for(
    words: frozenset[str], gone: frozenset[str], earlier: frozenset[str] | None
) -> bool:
    """Return whether a test stands for one that is gone; `earlier` if its name is not new."""
    both = words & gone
    is_case = len(both) >= _COVERED * max(1, len(gone))
    if earlier is None:
        return is_case or _are_similar(words, gone)
    return is_case and not both <= earlier


def _are_similar(words: frozenset[str], others: frozenset[str]) -> bool:
    both = len(words & others)
    return both >= _SIMILAR * max(1, len(words | others)) or words == others
