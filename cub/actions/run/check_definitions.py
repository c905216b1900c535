"""Run the checks of an attempt once more with what defines them as it was before the attempt.

An attempt may change what its checks run: a script of package.json, a conftest.py. If the checks
pass only with that change, they say nothing about the work. The files are changed for this run
only: what the attempt made of them is kept in its folder until it is back.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path, PurePosixPath
from shutil import rmtree
from typing import NamedTuple

from cub.actions.run import failures, run_folders
from cub.actions.run.attempt_checks import compare_result, run_check, undo_edits_of_checks
from cub.actions.run.attempt_state import Attempt
from cub.actions.run.check_comparison import CheckComparison, explain_unverified
from cub.actions.run.check_inputs import ABSENT, InputState, find_changed_inputs, select_tests
from cub.actions.run.run_context import RunContext
from cub.actions.run.steering_settings import restore_steering
from cub.actions.run.task_text import mentions_path
from cub.actions.run.verdict import AttemptEvidence, Verdict, judge_by_checks
from cub.git.snapshot import Snapshot, write_patch
from cub.store.events import Event
from cub.text import join_first

# Of pytest, and of Python itself, in any folder.
_NESTED_SETTINGS = ("conftest.py", "pytest.ini", ".pytest.ini", "sitecustomize.py",
                    "usercustomize.py")  # fmt: skip
_OF_PACKAGES = ("/package.json", "/Makefile")


class FileVersion(NamedTuple):
    """Hold a file of the checkout as it was; `data` is None if it was not there."""

    data: bytes | None
    mode: int = 0
    mtime: int = 0  # in nanoseconds


Versions = Mapping[str, FileVersion]


def judge_by_old_definitions(
    context: RunContext, attempt: Attempt, before: Snapshot, evidence: AttemptEvidence
) -> Generator[Event, None, Verdict | None]:
    """Return the verdict if the checks pass only as the attempt has changed them, or None.

    If tests were changed to fit, the earlier tests may show as well that the work is sound.
    """
    options = context.settings.options
    if options.allow_check_changes or options.no_checks:
        return None
    root = context.workspace.toplevel
    versions = {
        path: old
        for path, old in list_changed_definitions(context, attempt, before).items()
        if not mentions_path(attempt.task, path) and _can_change(root, path, old)
    }
    commands = _list_commands(attempt) if versions else ()
    if not commands:
        return None
    names = join_first(list(versions))
    what = join_first([f"`{command}`" for command in commands])
    text = f"the attempt changed {names}: {what} runs once more with the earlier version"
    yield context.make_event("notice", task=attempt.task_id, text=text)
    reason = yield from _judge_with_files(context, attempt, evidence, commands, versions)
    tests = _read_old_tests(context, attempt, before) if reason else {}
    if tests and not context.stop.is_requested:
        files = {**tests, **versions}
        if not (yield from _judge_with_files(context, attempt, evidence, commands, files)):
            reason = ""
    if context.stop.is_requested:
        return Verdict(failures.INTERRUPTED, "the run was stopped")
    what = f"`{commands[0]}` passes only with the attempt's change of {names}"
    return Verdict(failures.CHECK_CHANGED, f"{what}: {reason}") if reason else None


def list_changed_definitions(context: RunContext, attempt: Attempt, before: Snapshot) -> Versions:
    """Return what the changed definitions of checks were, by the paths that git has for them.

    A new script that a command names is not one of them: it replaces nothing. Neither is what is
    gone together with its folder, such as a package that has another name now.
    """
    workspace, versions = context.workspace, dict[str, FileVersion]()
    for file in find_changed_inputs(attempt.inputs, attempt.new_inputs):
        old = attempt.inputs.get(file, ABSENT)
        new = attempt.new_inputs.get(file, ABSENT)
        if new == ABSENT and not (workspace.folder / file.path).parent.is_dir():
            continue
        if old.defines_check and old.data is not None:
            versions[workspace.prefix + file.path] = FileVersion(old.data, old.mode)
        elif old == ABSENT and _is_new_setting(file.path, new):
            versions[workspace.prefix + file.path] = FileVersion(None)
    for path, kind in _iter_new_and_changed(attempt):
        if PurePosixPath(path).name in _NESTED_SETTINGS:
            data = None if kind == "A" else workspace.read_file_before(before, path)
            versions.setdefault(path, FileVersion(data))
    return versions


def _is_new_setting(path: str, state: InputState) -> bool:
    """Return whether a file may steer a check that did not know it; installed tools may be old.

    A new package in a monorepo takes nothing away.
    """
    is_other = path.startswith("node_modules/") or path.endswith(_OF_PACKAGES)
    return state.defines_check and state.is_setting and not is_other


def _iter_new_and_changed(attempt: Attempt) -> Iterator[tuple[str, str]]:
    yield from ((change.path, change.kind) for change in attempt.changes)
    if attempt.after:
        yield from ((path, "A") for path in attempt.after.ignored_paths)


def _list_commands(attempt: Attempt) -> list[str]:
    """Return the checks to run once more: those that worked before, so that they can again."""
    return [
        comparison.check.command
        for comparison in attempt.checks
        if (then := attempt.baseline.get(comparison.check.command))
        and then.can_run
        and not then.finds_no_test
    ]


def _read_old_tests(context: RunContext, attempt: Attempt, before: Snapshot) -> Versions:
    """Return what the changed files of tests were, including their data."""
    tests = select_tests(attempt.changes)
    old = [change.path for change in tests if change.kind != "A"]
    data = context.workspace.read_files_before(before, old) if old else {}
    return {change.path: FileVersion(data.get(change.path)) for change in tests}


def _judge_with_files(
    context: RunContext,
    attempt: Attempt,
    evidence: AttemptEvidence,
    commands: Sequence[str],
    versions: Versions,
) -> Generator[Event, None, str]:
    """Run checks on the attempt's files with earlier versions of some.

    Return why the checks don't accept the attempt then; "" if they do.
    """
    files, before, after = attempt.files, attempt.before, attempt.after
    if before is None or after is None:
        return ""
    # If the run is killed meanwhile, the patch has what the attempt changed.
    patch = files.prepare_path(run_folders.PATCH_FILE)
    write_patch(context.workspace.worktree, before, after, patch)
    folder = files.prepare_folder(run_folders.DEFINITIONS_FOLDER)
    save_step = partial(files.write_state, run_folders.SWAP_FILE, {"paths": sorted(versions)})
    checks = list[CheckComparison]()
    with (
        put_back(context.workspace.toplevel, versions, folder, save_step),
        files.open_file(run_folders.DEFINITIONS_LOG) as log,
    ):
        for comparison in attempt.checks:
            again, command = comparison, comparison.check.command
            if command in commands and not context.stop.is_requested:
                result = yield from run_check(context, attempt, command, log, base=False)
                again = compare_result(attempt, result)
            checks.append(again)
    undo_edits_of_checks(context, attempt, before)
    patch.unlink(missing_ok=True)
    verdict = judge_by_checks(checks, evidence, excuses=context.settings.excuses_known_failures)
    return explain_unverified(checks) if verdict.is_ok else verdict.reason


@contextmanager
def put_back(
    root: Path, versions: Versions, folder: Path, save_step: Callable[[], object]
) -> Iterator[None]:
    """Make files what they were, and in the end again what they are now.

    What they are now is kept in `folder` meanwhile. `save_step` is called before each change.
    """
    files = {
        path: Path(os.path.realpath(root / path))
        for path in versions
        if _is_replaceable(root, root / path)
    }
    current = {path: _read_version(file) for path, file in files.items()}
    for path, version in current.items():
        _write(folder / path, version)
    save_step()
    try:
        for path, file in files.items():
            _write(file, _merge_versions(path, versions[path], current[path]))
        yield
    finally:
        save_step()
        for path, file in files.items():
            _write(file, current[path])
        rmtree(folder, ignore_errors=True)


def _merge_versions(path: str, old: FileVersion, new: FileVersion) -> FileVersion:
    """Return the old version, except for what the new one says beside of checks."""
    if old.data is None or new.data is None:
        return old
    data = restore_steering(path, old.data, new.data)
    # Python goes by size and seconds: it must not take the compiled file of one for the other.
    return old._replace(data=data, mtime=new.mtime - 10**9)


def _can_change(root: Path, path: str, old: FileVersion) -> bool:
    """Return whether a file would be another one with what steers checks as it was before."""
    if not _is_replaceable(root, root / path):
        return False
    current = _read_version(root / path)
    return _merge_versions(path, old, current).data != current.data


def _is_replaceable(root: Path, file: Path) -> bool:
    """Return whether a path is a file of the checkout, or free to be one."""
    real = Path(os.path.realpath(file))
    is_inside = real.is_relative_to(os.path.realpath(root))
    return is_inside and (real.is_file() or not os.path.lexists(real))


def _read_version(file: Path) -> FileVersion:
    try:
        status = file.stat()
        return FileVersion(file.read_bytes(), stat.S_IMODE(status.st_mode), status.st_mtime_ns)
    except FileNotFoundError:
        return FileVersion(None)


def _write(file: Path, version: FileVersion) -> None:
    file.unlink(missing_ok=True)  # it may be read-only
    if version.data is None:
        with suppress(OSError):  # as git does with a folder that became empty
            file.parent.rmdir()
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(version.data)
    if version.mode:
        file.chmod(version.mode)
    if version.mtime:
        os.utime(file, ns=(version.mtime, version.mtime))
