"""Compare what checks said before an attempt and after it, by one rule for all of them.

- Green before: green after.
- Red before, and the task has a check of its own: that one has to pass, and no other check may have
  a new failure.
- Red before, and no check of the task's own: fewer known failures than before, and no new one.

A known failure is a failing item that failed before, or a red check whose output names no item.
A syntax error in a file that the attempt changed counts as a failed check, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from cub.actions.run.check_runner import CheckResult
from cub.checks.failing_items import FailingItem, compare_items, truncate_item
from cub.place.changes import FileChange, read_files
from cub.place.checkout import TreeGit
from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from cub.repomap.listing.languages import detect_language
from cub.repomap.symbols.syntax_errors import find_syntax_error
from cub.store.events import Event

_MAX_ITEMS = 8  # that the ledger has of a check
_SYNTAX = "syntax of the changed files"
_MAX_FILES = 200
_MAX_SOURCE = 1 << 20  # bytes
# Folders of files that are input to a test or to a template engine, and may be broken on purpose.
_DATA = re.compile(
    r"(?:.*/)?(?:.*[-_.])?(?:data|testdata|fixtures?|__fixtures__|golden|goldens|snapshots?"
    r"|__snapshots__|samples?|corpus|cases|inputs?|templates?|skeletons?|archetypes?)/.*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class CheckComparison:
    """Hold a check after an attempt, compared with the one `before` it, None if that is not known.

    `is_ok`: nothing is worse, and a check of the task's own passes. `new` and `fixed` are failing
    items.
    """

    check: CheckResult
    is_ok: bool
    new: tuple[FailingItem, ...] = ()
    fixed: tuple[FailingItem, ...] = ()
    before: CheckResult | None = None
    is_own: bool = False

    @property
    def fixes_failure(self) -> bool:
        """Return whether a known failure is fixed."""
        was_red = self.before is not None and self.before.is_red
        is_better = bool(self.fixed) or self.check.is_passing
        return was_red and is_better and not self.check.finds_no_test

    @property
    def known_failure_count(self) -> int:
        """Return how many known failures are left."""
        if self.before is None or not self.before.is_red or self.check.is_passing:
            return 0
        return max(1, len(self.check.items) - len(self.new))

    @property
    def repeats_baseline(self) -> bool:
        """Return whether the check fails as it did before the attempt."""
        return self.before is not None and _is_same_failure(self.before, self.check)

    def to_json(self) -> Event:
        """Return the check as the ledger has it."""
        check = self.check
        items = [*self.new, *(item for item in check.items if item not in self.new)]
        return {
            "cmd": check.command,
            "exit": check.exit,
            "dur_s": round(check.seconds, 2),
            "n": len(check.items),
            "new": len(self.new),
            "fixed": len(self.fixed),
            "items": [list(item) for item in items[:_MAX_ITEMS]],
            "fp": check.fingerprint,
            "tail": "" if check.is_passing else check.tail,
            **({"cause": check.cause} if check.cause else {}),
        }


def compare_check(
    check: CheckResult, before: CheckResult | None, *, is_own: bool
) -> CheckComparison:
    """Compare a check with its baseline, None for one that is not known.

    What failed there already, and in no new way, is not the attempt's fault. A task's own check has
    to pass.
    """
    then = before or CheckResult(check.command, 0)
    new, fixed, _ = compare_items(then.items, check.items)
    if check.is_passing:
        is_ok, new = True, ()
    elif then.is_passing:
        is_ok, new, fixed = False, check.items, ()
    elif check.items and then.items:
        is_ok = not new and not is_own
    else:
        is_same = _is_same_failure(then, check)
        is_ok, new, fixed = is_same and not is_own, () if is_same else check.items, ()
    return CheckComparison(check, is_ok, new, fixed, before=before, is_own=is_own)


def _is_same_failure(before: CheckResult, after: CheckResult) -> bool:
    if before.is_passing or after.is_passing:
        return False
    if before.items and after.items:
        new, fixed, _ = compare_items(before.items, after.items)
        return not new and not fixed
    is_same_output = bool(after.cause) or after.whole == before.whole
    return before.cause == after.cause and is_same_output


def checks_to_json(checks: Sequence[CheckComparison]) -> list[Event]:
    """Return checks as the ledger has them, the failed ones first: their number is limited."""
    return [check.to_json() for check in sorted(checks, key=lambda check: check.is_ok)]


def count_known_failures(checks: Sequence[CheckComparison]) -> int:
    """Return how many known failures an attempt has left, in all checks."""
    return sum(comparison.known_failure_count for comparison in checks)


def explain_not_mended(checks: Sequence[CheckComparison]) -> str:
    """Return which known failures an attempt has left as they were, if it had to fix one.

    "" if it has fixed one, if there was none, or if the task has a check of its own.
    """
    red = [one for one in checks if one.before is not None and one.before.is_red]
    if not red or any(one.is_own for one in checks) or any(one.fixes_failure for one in red):
        return ""
    count = count_known_failures(red)
    first = next((one.check for one in red if one.known_failure_count), red[0].check)
    return f"{format_failure_count(count)} as before the attempt: {describe_first_failure(first)}"


def format_failure_count(count: int) -> str:
    """Return a number of known failures in words."""
    return f"{count} known failure{'s' * (count != 1)}"


def describe_first_failure(check: CheckResult) -> str:
    """Return the first failing item of a check, or else why it failed."""
    for item in check.items:
        return f"`{check.command}`: {item.where}" + (f": {item.message}" if item.message else "")
    return f"`{check.command}`" + (" does not end" if check.cause else quote_reason(check))


def quote_reason(check: CheckResult) -> str:
    """Return why a check failed, in parentheses after a space; "" if it printed nothing."""
    return f" ({check.reason})" if check.reason else ""


def find_check_obstacle(before: Mapping[str, CheckResult], own: Collection[str]) -> str:
    """Return why no agent should be started, by the checks before it; "" for no reason.

    Each of the task's own checks has to be able to run, because it has to pass; of the others, one.
    What a check says is no reason: it may say better later.
    """
    unable = [check for check in before.values() if not check.can_run and not _may_come(check, own)]
    if len(unable) < len(before):
        unable = [check for check in unable if check.command in own]
    return "; ".join(f"`{check.command}` can't be run{quote_reason(check)}" for check in unable)


def _may_come(check: CheckResult, own: Collection[str]) -> bool:
    """Return whether the command of a task's own check may be what the task is to make."""
    return check.command in own and not check.lacks_program


def describe_failing_checks(
    before: Mapping[str, CheckResult], own: Collection[str], *, excuses: bool
) -> Iterator[str]:
    """Yield a message for each check that fails before the agent: what it takes to be accepted."""
    demand = _describe_demand(before.values(), has_own=bool(own), excuses=excuses)
    for check in before.values():
        if check.command in own:
            continue
        if check.finds_no_test:
            yield f"`{check.command}` finds no test: it can't decide before there is one"
        elif not check.can_run:
            yield f"`{check.command}` can't be run{quote_reason(check)}: it decides nothing"
        elif check.is_red:
            failures = format_failure_count(max(1, len(check.items)))
            what = f"{failures} before the attempt: {describe_first_failure(check)}"
            yield f"{what}; {demand}"


def _describe_demand(checks: Collection[CheckResult], *, has_own: bool, excuses: bool) -> str:
    shows_pass = any(map(_shows_pass, checks))
    if has_own or (excuses and shows_pass):
        return f"{'excused, but ' if excuses else ''}the attempt may not add a failure"
    start = "excused, but without a test that passes, " if excuses else ""
    red = [check for check in checks if check.is_red]
    if len(red) == 1 and not red[0].items:
        return f"{start}the attempt has to make the check pass"
    return f"{start}the attempt has to fix at least one known failure, and may not add one"


def explain_unverified(checks: Sequence[CheckComparison]) -> str:
    """Return why none of the checks, which all are ok, has judged an attempt; "" if one has.

    Without any check, it is "" as well.
    """
    if not checks or any(map(_has_judged, checks)):
        return ""
    first = checks[0].check
    if all(comparison.check.finds_no_test for comparison in checks):
        return f"`{first.command}` finds no test, before and after"
    if not has_run_project_code(checks):
        return f"the checks could not work, before and after: {describe_first_failure(first)}"
    what = "every check fails as it did before, and none shows a test that passes"
    return f"{what}: {describe_first_failure(first)}"


def has_run_project_code(checks: Sequence[CheckComparison]) -> bool:
    """Return whether a check got as far as to run the project's code.

    It did not if tests can't be imported or collected, or if there is none.
    """
    return any(_has_run(comparison.check) for comparison in checks)


def _has_run(check: CheckResult) -> bool:
    if check.finds_no_test or not check.can_run:
        return False
    return not check.items or any(item.kind != "error" for item in check.items)


def _has_judged(comparison: CheckComparison) -> bool:
    check = comparison.check
    return _shows_pass(check) or (bool(comparison.fixed) and not check.is_passing)


def _shows_pass(check: CheckResult) -> bool:
    """Return whether a check passes, or shows tests that pass beside its failures."""
    if check.is_passing:
        return not check.finds_no_test
    return bool(check.items) and check.passes


def compare_syntax(
    git: TreeGit, before: str, after: str, changed: Sequence[FileChange]
) -> CheckComparison | None:
    """Parse the sources that differ between two trees, as far as cub has a reliable grammar.

    Return the new syntax errors as a failed check; None if there are none.
    """
    files = [change for change in changed if change.kind != "D" and not change.is_submodule]
    items = tuple(_find_syntax_errors(git, before, after, [change.path for change in files]))
    return CheckComparison(CheckResult(_SYNTAX, 1, items=items), False, items) if items else None


def _find_syntax_errors(
    git: TreeGit, before: str, after: str, paths: Sequence[str]
) -> Iterator[FailingItem]:
    grammars = {path: grammar for path in paths if (grammar := _find_grammar(path))}
    for path, data in read_files(git, after, islice(grammars, _MAX_FILES)).items():
        fault = find_syntax_error(grammars[path], data) if len(data) <= _MAX_SOURCE else None
        if fault is None:
            continue
        old = read_files(git, before, [path])[path]
        if find_syntax_error(grammars[path], old) is None:
            yield truncate_item(FailingItem("build", f"{path}:{fault.line}", fault.message))


def _find_grammar(path: str) -> str:
    """Return the grammar of a source file; "" for data, vendored and generated files."""
    language = detect_language(path)
    if language is None or not language.syntax_checked or _DATA.fullmatch(path):
        return ""
    is_foreign = FileClassifier(()).classify(path) in (FileKind.VENDORED, FileKind.GENERATED)
    return "" if is_foreign else language.grammar
