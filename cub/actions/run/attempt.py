"""Make one attempt at a task: baseline checks, the agent, evidence, checks, verdict.

All of it happens in the attempt's place; see attempt_finish for what becomes of it.
"""

from __future__ import annotations

import signal
from collections.abc import Generator
from dataclasses import replace

from cub.actions.agent_context import AgentContext, render_missing_context
from cub.actions.build_prompt import PromptOptions, build_task_prompt
from cub.actions.run import failures, run_folders
from cub.actions.run.agent_process import run_agent
from cub.actions.run.agent_texts import prepare_agent_context
from cub.actions.run.attempt_checks import (
    StartCommandError,
    judge_before_start,
    judge_by_final_checks,
    list_checks,
    prepare_baseline,
    run_setup,
)
from cub.actions.run.attempt_files import begin_attempt, take_agent_files
from cub.actions.run.attempt_finish import judge_error
from cub.actions.run.attempt_values import AttemptResult, AttemptSpec, Baseline, JudgedAttempt
from cub.actions.run.check_comparison import describe_failing_checks
from cub.actions.run.check_definitions import judge_by_old_definitions
from cub.actions.run.check_inputs import (
    CheckInputs,
    add_earlier_states,
    describe_changes,
    find_changed_inputs,
    find_protected_path,
    record_inputs,
)
from cub.actions.run.instruction_changes import (
    describe_instruction_changes,
    find_instruction_changes,
    judge_instruction_changes,
)
from cub.actions.run.new_files import (
    describe_ignored_files,
    describe_leftovers,
    explain_left_out,
    find_hidden_work,
)
from cub.actions.run.removed_tests import judge_removed_tests
from cub.actions.run.run_context import RunContext
from cub.actions.run.verdict import AttemptEvidence, Verdict, judge_before_checks
from cub.actions.tasks.attempt_edits import read_attempt_edits
from cub.actions.tasks.current_attempt import ATTEMPT_VARIABLE, read_request
from cub.errors import CubError
from cub.git.tracked_files import GitDiskTree
from cub.harness.base import Harness, LaunchRequest
from cub.place.place import Place
from cub.processes.orphans import kill_by_environment
from cub.project.project import Project
from cub.store.events import Event
from cub.store.store_paths import TASKS_FILE
from cub.store.task_index import TaskIndex

AttemptSteps = Generator[Event, None, JudgedAttempt]


def run_attempt(
    context: RunContext, spec: AttemptSpec, tasks: TaskIndex, baseline: Baseline | None
) -> AttemptSteps:
    """Make an attempt at a claimed task; yield its events, and return what it has made.

    Without a `baseline`, the context commands and the checks run on the base first.
    """
    attempt = AttemptResult(spec, baseline or Baseline(spec.place.base))
    try:
        if baseline is None:
            attempt = replace(attempt, baseline=(yield from prepare_baseline(context, spec)))
        attempt = begin_attempt(context, attempt)
        if verdict := _judge_before_agent(context, attempt):
            return JudgedAttempt(attempt, verdict)
        attempt = yield from _prepare_agent(context, attempt)
        attempt = yield from _run_agent(context, attempt, tasks)
        attempt = _read_result(context, attempt)
        if (verdict := _judge_before_checks(context, attempt)) is None:
            attempt, verdict, *_ = yield from _judge_work(context, attempt)
        return JudgedAttempt(attempt, explain_left_out(verdict, attempt.left_out_paths))
    except StartCommandError as error:
        return JudgedAttempt(attempt, Verdict(failures.CONTEXT_FAILED, str(error)))
    except (CubError, OSError) as error:
        return JudgedAttempt(attempt, judge_error(error))


def _judge_before_agent(context: RunContext, attempt: AttemptResult) -> Verdict | None:
    """Return the verdict if no check can decide, or the agent would execute unapproved files."""
    if verdict := judge_before_start(context, attempt.spec, attempt.baseline):
        return verdict
    lines = context.approved_checks.list_untrusted_files(attempt.spec.place.root)
    return Verdict(failures.UNTRUSTED, "; ".join(lines)) if lines else None


def _prepare_agent(
    context: RunContext, attempt: AttemptResult
) -> Generator[Event, None, AttemptResult]:
    """Report the checks that fail, run the setup, and record what the checks go by."""
    spec, known = attempt.spec, attempt.baseline.checks
    excuses = context.settings.excuses_known_failures
    for text in describe_failing_checks(known, spec.task_checks, excuses=excuses):
        if text not in context.reported:  # of a check of the project, which each attempt runs
            context.reported.add(text)
            yield context.make_event("notice", task=spec.task_id, text=text)
    if result := (yield from run_setup(context, spec, spec.place.tree)):
        spec.notes.add(f"the agent works without it: {result.reason}")
    inputs = _record_inputs(context, spec)
    return replace(attempt, baseline=replace(attempt.baseline, inputs=inputs))


def _run_agent(
    context: RunContext, attempt: AttemptResult, tasks: TaskIndex
) -> Generator[Event, None, AttemptResult]:
    spec, place = attempt.spec, attempt.spec.place
    texts = prepare_run_context(context, spec.harness, place)
    prompt, system_prompt = _write_prompts(context, attempt, tasks, texts)
    request = LaunchRequest(
        prompt, system_prompt, spec.files.path, place.inner_mailbox, spec.task_id, spec.number,
        context.settings.model, context.settings.permissions, texts.arguments,
        place.settings.kind.can_nest,
    )  # fmt: skip
    agent = yield from run_agent(context, spec, request)
    if agent.process.signal == signal.SIGKILL and not agent.process.cause:
        # What killed the agent may have killed its keeper too.
        kill_by_environment((ATTEMPT_VARIABLE, str(spec.files.path)))
    tasks_before = place.laid.get((place.settings.prefix / TASKS_FILE).as_posix(), b"")
    edits = read_attempt_edits(place.root, tasks_before, spec.task_id)
    return replace(attempt, evidence=AttemptEvidence(agent), edits=edits)


def _read_result(context: RunContext, attempt: AttemptResult) -> AttemptResult:
    """Return the attempt with the files that the agent has left, and all that is known of it."""
    spec, agent, place = attempt.spec, attempt.evidence.agent, attempt.spec.place
    attempt, state, conflicts = take_agent_files(context, attempt)
    spec.notes.add_for_review(describe_leftovers(place.folder.tree, attempt.changes))
    spec.notes.add(*describe_ignored_files(state.ignored_paths))
    is_success = spec.harness.is_success(agent.transcript, agent.process.exit_code)
    evidence = AttemptEvidence(
        agent,
        is_success=is_success and not agent.process.cause,
        has_changes=bool(attempt.changes),
        conflicts=conflicts,
        oversized_files=state.oversized_files,
        uncommittable=place.list_changed_submodules(),
        hidden_work=find_hidden_work(attempt, state),
        request=read_request(place.folder.mailbox) or attempt.edits.request,
        refusal=spec.harness.find_refusal(agent.transcript, agent.stderr, context.clock.now()),
        lacks_reply=spec.harness.lacks_reply(agent.transcript),
    )
    return _add_inputs(context, replace(attempt, evidence=evidence))


def _add_inputs(context: RunContext, attempt: AttemptResult) -> AttemptResult:
    """Return the attempt with what the checks go by now, and what of that was there before."""
    inputs = _record_inputs(context, attempt.spec, attempt.baseline.inputs)
    before = add_earlier_states(attempt.baseline.inputs, inputs, attempt.read_project_files_before)
    return replace(attempt, baseline=replace(attempt.baseline, inputs=before), inputs=inputs)


def _record_inputs(
    context: RunContext, spec: AttemptSpec, known: CheckInputs | None = None
) -> CheckInputs:
    """Return what the checks go by, in the agent's tree: PATH may lead into the project, too."""
    root, seen = spec.place.root, context.initial_stores.root.as_posix()
    path = context.environ.get("PATH", "").replace(seen, root.as_posix())
    return record_inputs(root, list_checks(context, spec), path, known)


def _judge_before_checks(context: RunContext, attempt: AttemptResult) -> Verdict | None:
    """Return the verdict if the checks need not run; note what a reviewer should look at."""
    instructions = _judge_instructions(attempt)
    verdict = judge_before_checks(attempt.evidence)
    return verdict or _judge_inputs(context, attempt) or instructions


def _judge_work(context: RunContext, attempt: AttemptResult) -> AttemptSteps:
    """Return the verdict of the checks, unless the attempt has changed what they decide by."""
    attempt, verdict, *_ = yield from judge_by_final_checks(context, attempt)
    if verdict.is_ok:  # the checks may have changed files, too
        verdict = _judge_instructions(attempt) or verdict
    if verdict.is_ok:
        change = yield from judge_by_old_definitions(context, attempt)
        verdict = change or verdict
    return JudgedAttempt(attempt, judge_removed_tests(context, attempt, verdict) or verdict)


def _write_prompts(
    context: RunContext, attempt: AttemptResult, tasks: TaskIndex, texts: AgentContext
) -> tuple[str, str]:
    """Return the agent's prompt and system prompt; keep both in the attempt's folder."""
    settings, spec, commands = context.settings, attempt.spec, list_checks(context, attempt.spec)
    commands = commands or tuple(command.shell_line for command in context.check_commands)
    message, blocks = settings.message_template, attempt.baseline.blocks
    options = PromptOptions(tasks, commands, message, settings.commits, blocks=blocks)
    built = build_task_prompt(context.current_stores, spec.task_id, options)
    missing = render_missing_context(texts.sources)
    system_prompt = "\n".join(filter(None, [context.system_prompt, missing]))
    spec.files.save_text(run_folders.SYSTEM_FILE, system_prompt)
    spec.files.save_text(run_folders.PROMPT_FILE, built.prompt.text)
    return built.prompt.text, system_prompt


def prepare_run_context(context: RunContext, harness: Harness, place: Place) -> AgentContext:
    """Return the project's texts for an agent where it works, and what it loads on its own."""
    version = context.agent_versions.get(harness.name, "")
    # The agent finds other files above the project, at the path where it sees that.
    project = Project.from_tree(place.get_inner_root(place.tree), GitDiskTree(place.root))
    checkout = context.initial_stores.project
    return prepare_agent_context(project, harness, version, context.environ, checkout)


def _judge_instructions(attempt: AttemptResult) -> Verdict | None:
    """Note what was changed in instruction files; return a verdict if that is forbidden."""
    changes = find_instruction_changes(attempt)
    attempt.spec.notes.add_for_review(describe_instruction_changes(changes))
    return judge_instruction_changes(changes, attempt.spec.task)


def _judge_inputs(context: RunContext, attempt: AttemptResult) -> Verdict | None:
    """Note what was changed that the checks go by; return a verdict if it is protected."""
    baseline = attempt.baseline
    inputs = find_changed_inputs(baseline.inputs, attempt.inputs)
    is_red = any(check.is_red for check in baseline.checks.values())
    notes = describe_changes(inputs, baseline.inputs, attempt.changes, is_red=is_red)
    attempt.spec.notes.add_for_review(notes)
    paths = [*(change.path for change in attempt.changes), *(file.path for file in inputs)]
    if path := find_protected_path(context.settings.protected_patterns, paths):
        return Verdict(failures.PROTECTED, f"{path} was changed, which run.protect forbids")
    return None
