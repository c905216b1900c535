"""Run the checks of an attempt, before the agent and after it, and judge the attempt by them.

All of them run in the tree of checks, which holds exactly what is judged. A check may change files,
as a formatter does: after the agent, the checks run once more on what they have made of the files.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from functools import partial
from typing import BinaryIO

from cub.actions.run import failures, run_folders
from cub.actions.run.agent_process import make_attempt_mark
from cub.actions.run.attempt_state import Attempt
from cub.actions.run.check_comparison import (
    CheckComparison,
    compare_check,
    explain_unverified,
    find_check_obstacle,
    has_run_project_code,
)
from cub.actions.run.check_runner import CheckResult, check_syntax
from cub.actions.run.run_context import RunContext, RunRefusedError
from cub.actions.run.setup_commands import run_setup
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
from cub.store.events import Event
from cub.text import join_first


def list_checks(context: RunContext, attempt: Attempt) -> tuple[str, ...]:
    """Return the commands that decide on an attempt: the task's own ones come first."""
    return tuple(dict.fromkeys((*attempt.task_checks, *context.settings.checks)))


def run_start_commands(
    context: RunContext, attempt: Attempt
) -> Generator[Event, None, CubError | None]:
    """Run the context commands; return the failure of one that must not fail, or None.

    What they do to files is no part of the attempt's work.
    """
    commands, parallel, _ = context.settings.context
    if not commands:
        return None
    place = attempt.place
    place.check_out(attempt.base.tree)
    mark = make_attempt_mark(context.folder, attempt.place, attempt.task_id)
    folder, confine = place.get_inner_root(place.checks), partial(place.confine, tree=place.checks)
    if result := (yield from run_setup(context, attempt, place.checks, mark=mark)):
        return CubError(result.reason)
    environment = CommandEnvironment(folder, context.environ, mark=mark, confine=confine)
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
    return failure


def run_baseline_checks(context: RunContext, attempt: Attempt) -> Generator[Event, None, None]:
    """Take the results of checks on the files of the base; run those not stored."""
    runner, commands, tree = context.check_runner, list_checks(context, attempt), attempt.base.tree
    results = {command: runner.find_result(tree, command) for command in commands}
    missing = [command for command, result in results.items() if result is None]
    if missing:
        attempt.place.check_out(tree)
        with attempt.files.open_file(run_folders.BASELINE_LOG) as log:
            for command in missing:
                results[command] = yield from run_check(context, attempt, command, log, base=True)
        for result in filter(None, results.values()):
            runner.store_result(tree, result)
    attempt.baseline = {command: result for command, result in results.items() if result}
    _drop_red_linters(context, attempt)
    attempt.is_prepared = True


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


def find_start_obstacle(context: RunContext, attempt: Attempt) -> Generator[Event, None, str]:
    """Return why a run should not start at all, by the checks before its first task; "" if it may.

    The task is not claimed yet. The attempt at it goes on from here. Raises RunRefusedError for a
    context command that must not fail.
    """
    if failure := (yield from run_start_commands(context, attempt)):
        raise RunRefusedError(
            failure.message, where=failure.where, hint=failure.hint, details=failure.details
        )
    yield from run_baseline_checks(context, attempt)
    verdict = judge_before_start(context, attempt)
    return verdict.reason if verdict and verdict.failure == failures.UNVERIFIED else ""


def judge_before_start(context: RunContext, attempt: Attempt) -> Verdict | None:
    """Return the verdict if there is no use in starting the agent, or None."""
    settings = context.settings
    if context.stop.is_requested:
        return Verdict(failures.INTERRUPTED, "the run was stopped")
    obstacle = find_check_obstacle(attempt.baseline, attempt.task_checks)
    if not attempt.baseline and not settings.options.no_checks:
        obstacle = NO_CHECK
    if not obstacle:
        return None
    if not settings.accept_unverified:
        return Verdict(failures.UNVERIFIED, obstacle, is_uncounted=True)
    notice = f"no check can decide: {obstacle}"
    if notice not in attempt.notices:  # at the start of the run
        attempt.notices.append(notice)
    return None


def judge_by_final_checks(
    context: RunContext, attempt: Attempt, evidence: AttemptEvidence
) -> Generator[Event, None, Verdict]:
    """Run the checks on the attempt's tree, and return the verdict.

    The tree is another one afterwards if the checks change files: they have seen that as well.
    """
    attempt.checks = yield from run_checks(context, attempt, run_folders.CHECKS_LOG)
    if paths := take_edits_of_checks(context, attempt):
        attempt.notices.append(f"the checks changed {join_first(paths)}, and ran again on that")
        attempt.checks = yield from run_checks(context, attempt, run_folders.CHECKS_LOG)
    evidence = replace(evidence, has_changes=bool(attempt.changes))
    if verdict := judge_files(evidence):
        return verdict
    doubt = explain_unverified(attempt.checks)
    git, before = attempt.place.tree, attempt.base.tree
    if errors := check_syntax(git, before, attempt.tree, attempt.changes):
        attempt.checks.append(CheckComparison(errors, False, errors.items))
    excuses = context.settings.excuses_known_failures
    verdict = judge_by_checks(attempt.checks, evidence, excuses=excuses)
    return _judge_unverified(context, attempt, verdict, doubt) if verdict.is_ok else verdict


def run_checks(
    context: RunContext, attempt: Attempt, log_name: str, tree: str = ""
) -> Generator[Event, None, list[CheckComparison]]:
    """Run the checks on a tree, else on the attempt's, unless this run has their results for it."""
    tree, comparisons = tree or attempt.tree, list[CheckComparison]()
    is_checked_out = False
    with attempt.files.open_file(log_name) as log:
        for command in list_checks(context, attempt):
            # Only results of this run: an agent could forge what is on disk.
            result = context.check_runner.results.get((tree, command))
            if result is None:
                if not is_checked_out:
                    attempt.place.check_out(tree)
                    is_checked_out = True
                    _note_stale_extensions(attempt, tree)
                result = yield from run_check(context, attempt, command, log, base=False)
            comparisons.append(compare_result(attempt, result))
            if context.stop.is_requested:
                break
    return comparisons


def _note_stale_extensions(attempt: Attempt, tree: str) -> None:
    if stale := attempt.place.list_stale_extensions(tree):
        notice = f"{join_first(stale)}: not shared, as the sources changed; a check has to build it"
        attempt.notices += [notice] if notice not in attempt.notices else []


def compare_result(attempt: Attempt, result: CheckResult) -> CheckComparison:
    """Compare the result of a check with what it said before the attempt."""
    is_own = result.command in attempt.task_checks
    return compare_check(result, attempt.baseline.get(result.command), is_own=is_own)


def take_edits_of_checks(context: RunContext, attempt: Attempt) -> list[str]:
    """Take over what the checks have made of the files; return those that they changed.

    New files are reports and caches, and are left out.
    """
    place = attempt.place
    if not attempt.checks or context.stop.is_requested or not place.holds(attempt.tree):
        return []
    paths = place.list_edits_of_checks()
    if paths:
        attempt.tree = place.take_edits_of_checks(paths)
    return paths


def run_check(
    context: RunContext, attempt: Attempt, command: str, log: BinaryIO, *, base: bool
) -> Generator[Event, None, CheckResult]:
    """Run one check, between two events; `base` is for one before the agent."""
    facts = {"task": attempt.task_id, "cmd": command, "base": base}
    yield context.make_event("check_start", **facts)
    mark = make_attempt_mark(context.folder, attempt.place, attempt.task_id)
    place = attempt.place
    failure = yield from run_setup(context, attempt, place.checks, log, mark)
    if failure:
        result = replace(failure, command=command)
    else:
        result = context.check_runner.run_check(place, command, log, mark)
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
