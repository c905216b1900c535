"""Run the checks of an attempt, before the agent and after it, and judge the attempt by them.

The context commands run before the first checks. A check may change files, as a formatter does.
Before the agent, that is a reason not to start; after the agent, the checks run once more on what
they have made of the files.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import BinaryIO

from cub.actions.run import failures, run_folders
from cub.actions.run.agent_process import make_attempt_mark
from cub.actions.run.attempt_state import Attempt, save_git_settings, save_start, set_result
from cub.actions.run.check_comparison import (
    CheckComparison,
    compare_check,
    explain_unverified,
    find_check_obstacle,
    has_run_project_code,
)
from cub.actions.run.check_runner import CheckResult, check_syntax
from cub.actions.run.run_context import RunContext, RunRefusedError
from cub.actions.run.verdict import (
    NO_CHECK,
    WITHOUT_CHECKS,
    AttemptEvidence,
    Verdict,
    judge_by_checks,
    judge_files,
)
from cub.context.context_commands import (
    CommandEnvironment,
    list_output_warnings,
    run_context_commands,
)
from cub.context.output_blocks import make_blocks
from cub.debug_log import log_debug
from cub.errors import CubError
from cub.git.private_index import reset_user_index, write_tree_without
from cub.git.repository_settings import restore_git_settings
from cub.git.restore_snapshot import check_out_paths
from cub.git.snapshot import Snapshot, diff_trees
from cub.git.take_snapshot import take_snapshot
from cub.store.events import Event
from cub.text import join_first


def list_checks(context: RunContext, attempt: Attempt) -> tuple[str, ...]:
    """Return the commands that decide on an attempt: the task's own ones come first."""
    return tuple(dict.fromkeys((*attempt.task_checks, *context.settings.checks)))


def run_start_commands(
    context: RunContext, attempt: Attempt, before: Snapshot
) -> Generator[Event, None, CubError | None]:
    """Run the context commands; return the failure of one that must not fail, or None.

    What they do to files is none of the attempt's work, as with the checks before it.
    """
    commands, parallel, _ = context.settings.context
    if not commands:
        return None
    mark = make_attempt_mark(context.folder, attempt.files, attempt.task_id)
    environment = CommandEnvironment(context.workspace.folder, context.environ, mark=mark)
    lines: list[str] = []
    report = lines.append if context.settings.options.debug else log_debug
    failure = None
    try:
        outputs = run_context_commands(commands, environment, parallel, context.stop, report)
        attempt.blocks = make_blocks(outputs)
        lines += [f"{one.location}: {one.message}" for one in list_output_warnings(outputs)]
    except CubError as error:
        failure = error
    for line in lines:
        yield context.make_event("notice", task=attempt.task_id, text=line)
    _take_start(context, attempt, before)
    return failure


def run_baseline_checks(
    context: RunContext, attempt: Attempt, before: Snapshot
) -> Generator[Event, None, None]:
    """Take the results of checks on the files before the attempt; run those not stored."""
    runner, commands = context.check_runner, list_checks(context, attempt)
    results = {command: runner.find_result(before.tree, command) for command in commands}
    missing = [command for command, result in results.items() if result is None]
    if missing:
        with attempt.files.open_file(run_folders.BASELINE_LOG) as log:
            for command in missing:
                results[command] = yield from run_check(context, attempt, command, log, base=True)
        before = _take_start(context, attempt, before)
        for result in filter(None, results.values()):
            runner.store_result(before.tree, result)
    attempt.baseline = {command: result for command, result in results.items() if result}
    _drop_red_linters(context, attempt)


def _drop_red_linters(context: RunContext, attempt: Attempt) -> None:
    """Drop linters that cub has proposed and that fail already: nobody has asked for them."""
    settings, baseline = context.settings, attempt.baseline
    unasked = [one for one in settings.proposed_linters if one not in attempt.task_checks]
    red = [one for one in unasked if one in baseline and baseline[one].is_red]
    for command in red:
        del baseline[command]
        attempt.notices.append(f"`{command}` is not used: it fails before the attempt")
    if red:
        checks = tuple(one for one in settings.checks if one not in red)
        context.settings = replace(settings, checks=checks)


def _take_start(context: RunContext, attempt: Attempt, before: Snapshot) -> Snapshot:
    """Return the snapshot that the attempt starts from, after its first checks; note edited files.

    Nothing is undone: a check or a context command may have changed a file, or a person. Of commits
    made meanwhile, those with private files do not stay, as with an agent's.
    """
    workspace = context.workspace
    current = take_snapshot(workspace.worktree)
    if workspace.classify_head_move(before, current) == "forward":
        attempt.notices += workspace.adopt_commits(before)
        reset_user_index(workspace.worktree)
        current = take_snapshot(workspace.worktree)
    else:
        attempt.edited_paths += _find_edits(context, before, before, current)
    if current.tree != before.tree or current.head != before.head:
        attempt.before = before = current
        if attempt.files.read_state(run_folders.START_FILE):
            save_start(context, attempt, before)
    return before


def find_start_obstacle(context: RunContext, attempt: Attempt) -> Generator[Event, None, str]:
    """Return why a run should not start at all, by the checks before its first task; "" if it may.

    The task is not claimed yet. The attempt at it goes on from here. Raises RunRefusedError for a
    context command that must not fail.
    """
    save_git_settings(context, attempt)
    attempt.before = before = take_snapshot(context.workspace.worktree)
    if failure := (yield from run_start_commands(context, attempt, before)):
        _restore_git_settings(attempt)
        raise RunRefusedError(
            failure.message, where=failure.where, hint=failure.hint, details=failure.details
        )
    yield from run_baseline_checks(context, attempt, attempt.before)
    verdict = judge_before_start(context, attempt)
    if verdict is None or verdict.failure != failures.UNVERIFIED:
        return ""
    _restore_git_settings(attempt)
    return verdict.reason


def _restore_git_settings(attempt: Attempt) -> None:
    if attempt.settings is not None:  # checks and commands may have changed them
        rescue_folder = attempt.files.prepare_folder(run_folders.REPLACED_SETTINGS_FOLDER)
        restore_git_settings(attempt.settings, rescue_folder)


def judge_before_start(context: RunContext, attempt: Attempt) -> Verdict | None:
    """Return the verdict if there is no use in starting the agent, or None."""
    settings = context.settings
    if context.stop.is_requested:
        return Verdict(failures.INTERRUPTED, "the run was stopped")
    obstacle = find_check_obstacle(attempt.baseline, attempt.task_checks)
    if not attempt.baseline and not settings.options.no_checks:
        obstacle = NO_CHECK
    if attempt.edited_paths:  # no commit would have what the checks are to judge
        what = "the context commands or the checks" if settings.context.commands else "the checks"
        obstacle = f"{join_first(attempt.edited_paths)} changed while {what} ran at the start"
    if not obstacle:
        return None
    if not settings.accept_unverified:
        return Verdict(failures.UNVERIFIED, obstacle, is_uncounted=True)
    notice = f"no check can decide: {obstacle}"
    if notice not in attempt.notices:  # at the start of the run
        attempt.notices.append(notice)
    return None


def judge_by_final_checks(
    context: RunContext, attempt: Attempt, before: Snapshot, evidence: AttemptEvidence
) -> Generator[Event, None, Verdict]:
    """Run the checks on the files after the agent, and return the verdict."""
    yield from _run_final_checks(context, attempt)
    if paths := _take_edits_of_checks(context, attempt, before):
        attempt.notices.append(f"the checks changed {join_first(paths)}, and ran again on that")
        yield from _run_final_checks(context, attempt)
        undo_edits_of_checks(context, attempt, before)
    changes, head_move = attempt.changes, attempt.head_move
    evidence = replace(evidence, has_changes=bool(changes), head_move=head_move)
    if verdict := judge_files(evidence):
        return verdict
    doubt = explain_unverified(attempt.checks)
    if errors := check_syntax(context.workspace, before, changes):
        attempt.checks.append(CheckComparison(errors, False, errors.items))
    excuses = context.settings.excuses_known_failures
    verdict = judge_by_checks(attempt.checks, evidence, excuses=excuses)
    return _judge_unverified(context, attempt, verdict, doubt) if verdict.is_ok else verdict


def _run_final_checks(context: RunContext, attempt: Attempt) -> Generator[Event, None, None]:
    """Run the checks on the attempt's result, unless this run has theirs for the same files."""
    tree = attempt.after.tree if attempt.after else ""
    attempt.checks.clear()
    with attempt.files.open_file(run_folders.CHECKS_LOG) as log:
        for command in list_checks(context, attempt):
            # Only results of this run: an agent could forge what is on disk.
            result = context.check_runner.results.get((tree, command))
            if result is None:
                result = yield from run_check(context, attempt, command, log, base=False)
            attempt.checks.append(compare_result(attempt, result))
            if context.stop.is_requested:
                return


def compare_result(attempt: Attempt, result: CheckResult) -> CheckComparison:
    """Compare the result of a check with what it said before the attempt."""
    is_own = result.command in attempt.task_checks
    return compare_check(result, attempt.baseline.get(result.command), is_own=is_own)


def _take_edits_of_checks(context: RunContext, attempt: Attempt, before: Snapshot) -> list[str]:
    """Take what the checks left as the attempt's result; return the files that they changed.

    A script may also commit: then HEAD is another one. New files are left out.
    """
    checked, worktree = attempt.after, context.workspace.worktree
    if checked is None or not attempt.checks or context.stop.is_requested:
        return []
    current = take_snapshot(worktree, before)
    entries = diff_trees(worktree, checked.tree, current.tree).entries
    new = [entry.path for entry in entries if entry.kind == "A"]
    tree = write_tree_without(worktree, current.tree, new)
    paths = _find_edits(context, before, checked, current)
    set_result(context, attempt, before, replace(current, tree=tree if paths else checked.tree))
    return paths


def undo_edits_of_checks(context: RunContext, attempt: Attempt, before: Snapshot) -> None:
    """Make the files what the last checks saw: some checks change files each time they run."""
    checked, worktree = attempt.after, context.workspace.worktree
    if checked is None or context.stop.is_requested:
        return
    current = take_snapshot(worktree, before)
    set_result(context, attempt, before, replace(checked, head=current.head, branch=current.branch))
    check_out_paths(worktree, checked.tree, _find_edits(context, before, checked, current))


def _find_edits(context: RunContext, before: Snapshot, old: Snapshot, new: Snapshot) -> list[str]:
    """Return the files that were changed or deleted between two snapshots.

    New files are reports and caches, and files that were untracked before are no part of a commit.
    """
    private = set(before.untracked_paths)
    entries = diff_trees(context.workspace.worktree, old.tree, new.tree).entries
    return [entry.path for entry in entries if entry.kind != "A" and entry.path not in private]


def run_check(
    context: RunContext, attempt: Attempt, command: str, log: BinaryIO, *, base: bool
) -> Generator[Event, None, CheckResult]:
    """Run one check, between two events; `base` is for one before the agent."""
    facts = {"task": attempt.task_id, "cmd": command, "base": base}
    yield context.make_event("check_start", **facts)
    mark = make_attempt_mark(context.folder, attempt.files, attempt.task_id)
    end_time_file = attempt.files.state / run_folders.CHECKS_END_FILE
    result = context.check_runner.run_check(command, log, end_time_file, mark)
    facts |= {"exit": result.exit, "n": len(result.items), "dur_s": round(result.seconds, 2)}
    has_failed = not base and not result.is_passing
    if has_failed and (same := attempt.history.find_same_check(command, result.fingerprint)):
        facts["same"] = same
    yield context.make_event("check_end", **facts)
    return result


def _judge_unverified(
    context: RunContext, attempt: Attempt, verdict: Verdict, doubt: str
) -> Verdict:
    """Return the verdict of an attempt that no check fails; `doubt` is why none has judged it."""
    if context.settings.options.no_checks:
        return verdict._replace(doubt=WITHOUT_CHECKS)
    if not doubt:
        return verdict
    if context.settings.accept_unverified:
        attempt.notices.append(f"it is accepted, although nothing has judged it: {doubt}")
        return verdict._replace(doubt=doubt)
    return Verdict(
        failures.UNVERIFIED, doubt, is_uncounted=not has_run_project_code(attempt.checks)
    )
