"""Run the checks of an attempt once more with what defines them as it was before the attempt.

An attempt may change what its checks run: a script of package.json, a conftest.py. If the checks
pass only with that change, they say nothing about the work.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from pathlib import PurePosixPath

from cub.actions.run import failures, run_folders
from cub.actions.run.attempt_checks import run_check
from cub.actions.run.attempt_values import AttemptResult
from cub.actions.run.check_comparison import CheckComparison, explain_unverified
from cub.actions.run.check_inputs import ABSENT, InputState, find_changed_inputs, select_tests
from cub.actions.run.run_context import RunContext
from cub.actions.run.steering_settings import restore_steering
from cub.actions.run.task_text import mentions_path
from cub.actions.run.verdict import Verdict, judge_by_checks
from cub.git.objects import LINK_MODE
from cub.place.changes import FileVersion, list_tree_files, read_files, replace_files
from cub.store.events import Event
from cub.text import join_first

# Of pytest, and of Python itself, in any folder.
_NESTED_SETTINGS = ("conftest.py", "pytest.ini", ".pytest.ini", "sitecustomize.py",
                    "usercustomize.py")  # fmt: skip
_OF_PACKAGES = ("/package.json", "/Makefile")
Versions = Mapping[str, FileVersion]


def judge_by_old_definitions(
    context: RunContext, attempt: AttemptResult
) -> Generator[Event, None, Verdict | None]:
    """Return the verdict if the checks pass only as the attempt has changed them, or None.

    If tests were changed to fit, the earlier tests may show as well that the work is sound.
    """
    options = context.settings.options
    if options.allow_check_changes or options.no_checks:
        return None
    unnamed = {
        path: old
        for path, old in list_changed_definitions(attempt).items()
        if not mentions_path(attempt.spec.task, path)
    }
    versions = _merge_versions(attempt, unnamed)
    commands = _list_commands(attempt) if versions else ()
    if not commands:
        return None
    names = join_first(list(versions))
    what = join_first([f"`{command}`" for command in commands])
    text = f"the attempt changed {names}: {what} runs once more with the earlier version"
    yield context.make_event("notice", task=attempt.spec.task_id, text=text)
    reason = yield from _judge_with_files(context, attempt, commands, versions)
    tests = _read_old_tests(attempt) if reason else {}
    if tests and not context.stop.is_requested:
        files = {**tests, **versions}
        if not (yield from _judge_with_files(context, attempt, commands, files)):
            reason = ""
    if context.stop.is_requested:
        return Verdict(failures.INTERRUPTED, "the run was stopped")
    what = f"`{commands[0]}` passes only with the attempt's change of {names}"
    return Verdict(failures.CHECK_CHANGED, f"{what}: {reason}") if reason else None


def list_changed_definitions(attempt: AttemptResult) -> Versions:
    """Return what the changed definitions of checks were, by the paths that git has for them.

    A new script that a command names is not one of them: it replaces nothing. Neither is what is
    gone together with its folder, such as a package that has another name now.
    """
    place, versions = attempt.spec.place, dict[str, FileVersion]()
    before = attempt.baseline.inputs
    for file in find_changed_inputs(before, attempt.inputs):
        old = before.get(file, ABSENT)
        new = attempt.inputs.get(file, ABSENT)
        path = (place.settings.prefix / file.path).as_posix()
        if new == ABSENT and not (place.root / file.path).parent.is_dir():
            continue
        if old.data is not None:
            versions[path] = FileVersion(old.data, old.mode)
        elif old == ABSENT and _is_new_setting(file.path, new):
            versions[path] = FileVersion(None)
    nested = [one for one in attempt.changes if PurePosixPath(one.path).name in _NESTED_SETTINGS]
    earlier = attempt.read_files_before([one.path for one in nested if one.kind != "A"])
    for one in nested:
        versions.setdefault(one.path, FileVersion(earlier.get(one.path)))
    return versions


def _is_new_setting(path: str, state: InputState) -> bool:
    """Return whether a file may steer a check that did not know it; installed tools may be old.

    A new package in a monorepo takes nothing away.
    """
    is_other = path.startswith("node_modules/") or path.endswith(_OF_PACKAGES)
    return state.data is not None and state.is_setting and not is_other


def _list_commands(attempt: AttemptResult) -> list[str]:
    """Return the checks to run once more: those that worked before, so that they can again."""
    return [
        comparison.check.command
        for comparison in attempt.checks
        if (then := attempt.baseline.checks.get(comparison.check.command))
        and then.can_run
        and not then.finds_no_test
    ]


def _read_old_tests(attempt: AttemptResult) -> Versions:
    """Return what the changed files of tests were, including their data."""
    tests = select_tests(attempt.changes)
    old = [change.path for change in tests if change.kind != "A"]
    data = attempt.read_files_before(old)
    return {change.path: FileVersion(data.get(change.path)) for change in tests}


def _judge_with_files(
    context: RunContext,
    attempt: AttemptResult,
    commands: Sequence[str],
    versions: Versions,
) -> Generator[Event, None, str]:
    """Run checks on the attempt's files with earlier versions of some.

    Return why the checks don't accept the attempt then; "" if they do.
    """
    attempt.spec.place.check_out(replace_files(attempt.spec.place.tree, attempt.tree, versions))
    checks = list[CheckComparison]()
    with attempt.spec.files.open_file(run_folders.DEFINITIONS_LOG) as log:
        for comparison in attempt.checks:
            again, command = comparison, comparison.check.command
            if command in commands and not context.stop.is_requested:
                result = yield from run_check(context, attempt.spec, command, log, base=False)
                again = attempt.compare_check(result)
            checks.append(again)
    verdict = judge_by_checks(
        checks, attempt.evidence, excuses=context.settings.excuses_known_failures
    )
    return explain_unverified(checks) if verdict.is_ok else verdict.reason


def _merge_versions(attempt: AttemptResult, versions: Versions) -> Versions:
    """Return the old versions, except for what the new ones say beside of checks.

    Those that make no difference, and links, are left out.
    """
    if not versions:
        return {}
    files = list_tree_files(attempt.spec.place.tree, attempt.tree)
    current = read_files(attempt.spec.place.tree, attempt.tree, versions)
    merged = dict[str, FileVersion]()
    for path, old in versions.items():
        entry = files.get(path)
        if entry is None or old.data is None:
            if (entry is None) != (old.data is None):
                merged[path] = old
        elif entry.mode != LINK_MODE:
            data = restore_steering(path, old.data, current[path])
            if data != current[path]:
                merged[path] = old._replace(data=data)
    return merged
