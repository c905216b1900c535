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
from cub.actions.run.attempt_values import AttemptResult, AttemptSpec, Baseline, JudgedAttempt
from cub.actions.run.check_comparison import (
    CheckComparison,
    compare_syntax,
    explain_unverified,
    find_check_obstacle,
    has_run_project_code,
)
from cub.actions.run.check_runner import CheckResult
from cub.actions.run.run_context import RunContext, RunRefusedError
from cub.actions.run.verdict import (
    NO_CHECK,
    WITHOUT_CHECKS,
    Verdict,
    judge_by_checks,
    judge_files,
)
from cub.context.context_commands import (
    CommandEnvironment,
    list_output_warnings,
    run_context_commands,
)
from cub.context.output_blocks import OutputBlock, make_blocks
from cub.debug_log import log_debug
from cub.errors import CubError
from cub.place.checkout import TreeGit
from cub.store.events import Event
from cub.text import join_first


class StartCommandError(RunRefusedError):
    """Report that a context command failed that must not: no run starts with one."""


def list_checks(context: RunContext, spec: AttemptSpec) -> tuple[str, ...]:
    """Return the commands that decide on an attempt: the task's own ones come first."""
    return tuple(dict.fromkeys((*spec.task_checks, *context.settings.checks)))


def prepare_baseline(context: RunContext, spec: AttemptSpec) -> Generator[Event, None, Baseline]:
    """Run the context commands and the checks on the base of the place.

    Raises StartCommandError.
    """
    blocks = yield from _run_start_commands(context, spec)
    checks = yield from _run_baseline_checks(context, spec)
    return Baseline(spec.place.base, checks, blocks)


def _run_start_commands(
    context: RunContext, spec: AttemptSpec
) -> Generator[Event, None, tuple[OutputBlock, ...]]:
    """Run the context commands. What they do to files is no part of the attempt's work."""
    commands, parallel, _ = context.settings.context
    if not commands:
        return ()
    place = spec.place
    place.check_out(place.base.tree)
    folder, confine = place.get_inner_root(place.checks), partial(place.confine, tree=place.checks)
    if result := (yield from run_setup(context, spec, place.checks)):
        raise StartCommandError(result.reason)
    environment = CommandEnvironment(folder, context.environ, mark=spec.mark, confine=confine)
    lines: list[str] = []
    report = lines.append if context.settings.options.debug else log_debug
    failure, blocks = None, list[OutputBlock]()
    try:
        outputs = run_context_commands(commands, environment, parallel, context.stop, report)
        blocks = make_blocks(outputs)
        lines += [f"{one.location}: {one.message}" for one in list_output_warnings(outputs)]
    except CubError as error:
        failure = error
    for line in lines:
        yield context.make_event("notice", task=spec.task_id, text=line)
    if failure:
        raise StartCommandError(
            failure.message, where=failure.where, hint=failure.hint, details=failure.details
        ) from failure
    return tuple(blocks)


def _run_baseline_checks(
    context: RunContext, spec: AttemptSpec
) -> Generator[Event, None, dict[str, CheckResult]]:
    """Return the results of checks on the files of the base; run those not stored."""
    runner, tree = context.check_runner, spec.place.base.tree
    results = {command: runner.find_result(tree, command) for command in list_checks(context, spec)}
    missing = [command for command, result in results.items() if result is None]
    if missing:
        spec.place.check_out(tree)
        with spec.files.open_file(run_folders.BASELINE_LOG) as log:
            for command in missing:
                results[command] = yield from run_check(context, spec, command, log, base=True)
        for result in filter(None, results.values()):
            runner.store_result(tree, result)
    baseline = {command: result for command, result in results.items() if result}
    _drop_red_linters(context, spec, baseline)
    return baseline


def _drop_red_linters(
    context: RunContext, spec: AttemptSpec, baseline: dict[str, CheckResult]
) -> None:
    """Drop linters that cub has proposed and that fail already: nobody has asked for them."""
    settings = context.settings
    unasked = [one for one in settings.proposed_linters if one not in spec.task_checks]
    red = [one for one in unasked if one in baseline and baseline[one].is_red]
    for command in red:
        del baseline[command]
        spec.notes.add(f"`{command}` is not used: it fails before the attempt")
    if red:
        checks = tuple(one for one in settings.checks if one not in red)
        context.settings = replace(settings, checks=checks)


def judge_before_start(
    context: RunContext, spec: AttemptSpec, baseline: Baseline
) -> Verdict | None:
    """Return the verdict if there is no use in starting the agent, or None."""
    settings = context.settings
    if context.stop.is_requested:
        return Verdict(failures.INTERRUPTED, "the run was stopped")
    obstacle = find_check_obstacle(baseline.checks, spec.task_checks)
    if not baseline.checks and not settings.options.no_checks:
        obstacle = NO_CHECK
    if not obstacle:
        return None
    if not settings.accept_unverified:
        return Verdict(failures.UNVERIFIED, obstacle, is_uncounted=True)
    spec.notes.add(f"no check can decide: {obstacle}")
    return None


def judge_by_final_checks(
    context: RunContext, attempt: AttemptResult
) -> Generator[Event, None, JudgedAttempt]:
    """Run the checks on the attempt's tree; return it as they have left it, and the verdict."""
    attempt, changed = yield from run_final_checks(context, attempt)
    if changed:
        attempt.spec.notes.add(f"the checks changed {join_first(changed)}, and ran again on that")
    evidence = replace(attempt.evidence, has_changes=bool(attempt.changes))
    if verdict := judge_files(evidence):
        return JudgedAttempt(attempt, verdict)
    doubt = explain_unverified(attempt.checks)
    git, before = attempt.spec.place.tree, attempt.base.tree
    if broken := compare_syntax(git, before, attempt.tree, attempt.changes):
        attempt = replace(attempt, checks=(*attempt.checks, broken))
    excuses = context.settings.excuses_known_failures
    verdict = judge_by_checks(attempt.checks, evidence, excuses=excuses)
    return JudgedAttempt(attempt, _judge_unverified(context, attempt, verdict, doubt))


def run_final_checks(
    context: RunContext, attempt: AttemptResult
) -> Generator[Event, None, tuple[AttemptResult, list[str]]]:
    """Run the checks on the attempt's tree, and once more on what they have made of its files.

    Return the attempt with their results, and the paths that they changed. New files are reports
    and caches, and are left out.
    """
    place, changed = attempt.spec.place, list[str]()
    checks = yield from _run_checks(context, attempt)
    if checks and not context.stop.is_requested and place.holds(attempt.tree):
        changed = place.list_edits_of_checks()
    if changed:
        attempt = replace(attempt, tree=place.take_edits_of_checks(changed))
        checks = yield from _run_checks(context, attempt)
    return replace(attempt, checks=checks), changed


def _run_checks(
    context: RunContext, attempt: AttemptResult
) -> Generator[Event, None, tuple[CheckComparison, ...]]:
    """Run the checks on the attempt's tree, unless this run has their results for it."""
    spec, tree, comparisons = attempt.spec, attempt.tree, list[CheckComparison]()
    is_checked_out = False
    with spec.files.open_file(run_folders.CHECKS_LOG) as log:
        for command in list_checks(context, spec):
            # Only results of this run: an agent could forge what is on disk.
            result = context.check_runner.results.get((tree, command))
            if result is None:
                if not is_checked_out:
                    spec.place.check_out(tree)
                    is_checked_out = True
                    _note_stale_extensions(spec, tree)
                result = yield from run_check(context, spec, command, log, base=False)
            comparisons.append(attempt.compare_check(result))
            if context.stop.is_requested:
                break
    return tuple(comparisons)


def _note_stale_extensions(spec: AttemptSpec, tree: str) -> None:
    if stale := spec.place.list_stale_extensions(tree):
        what = f"{join_first(stale)}: not shared, as the sources changed; a check has to build it"
        spec.notes.add(what)


def run_check(
    context: RunContext, spec: AttemptSpec, command: str, log: BinaryIO, *, base: bool
) -> Generator[Event, None, CheckResult]:
    """Run one check, between two events; `base` is for one before the agent."""
    facts = {"task": spec.task_id, "cmd": command, "base": base}
    yield context.make_event("check_start", **facts)
    if failure := (yield from run_setup(context, spec, spec.place.checks, log)):
        result = replace(failure, command=command)
    else:
        result = context.check_runner.run_check(spec.place, command, log, spec.mark)
    facts |= {"exit": result.exit, "n": len(result.items), "dur_s": round(result.seconds, 2)}
    has_failed = not base and not result.is_passing
    if has_failed and (same := spec.history.find_same_check(command, result.fingerprint)):
        facts["same"] = same
    yield context.make_event("check_end", **facts)
    return result


def run_setup(
    context: RunContext, spec: AttemptSpec, tree: TreeGit, log: BinaryIO | None = None
) -> Generator[Event, None, CheckResult | None]:
    """Run the setup commands in one of the trees of an attempt's place if they are due there.

    Returns None, or the result of the command that failed: nothing can be checked without it.
    """
    place = spec.place
    if not place.get_setup(tree).is_due:
        return None
    for command in place.settings.setup_commands:
        yield context.make_event("notice", task=spec.task_id, text=f"run.setup: `{command}`")
        runner = context.check_runner
        if result := runner.run_setup_command(place, tree, command, log, spec.mark):
            return result
    place.finish_setup(tree)
    return None


def _judge_unverified(
    context: RunContext, attempt: AttemptResult, verdict: Verdict, doubt: str
) -> Verdict:
    """Return the verdict if a check has judged the attempt; `doubt` is why none has."""
    if not verdict.is_ok:
        return verdict
    if context.settings.options.no_checks:
        return verdict._replace(doubt=WITHOUT_CHECKS)
    if not doubt:
        return verdict
    if context.settings.accept_unverified:
        attempt.spec.notes.add(f"it is accepted, although nothing has judged it: {doubt}")
        return verdict._replace(doubt=doubt)
    return Verdict(
        failures.UNVERIFIED, doubt, is_uncounted=not has_run_project_code(attempt.checks)
    )
