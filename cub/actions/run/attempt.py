"""Make one attempt at a task: baseline checks, the agent, evidence, checks, verdict.

All of it happens in the attempt's place; see attempt_finish for what becomes of it.
"""

from __future__ import annotations

import signal
from collections.abc import Generator
from functools import partial

from cub.actions.agent_context import AgentContext, render_missing_context
from cub.actions.build_prompt import PromptOptions, build_task_prompt
from cub.actions.run import failures, run_folders
from cub.actions.run.agent_process import run_agent
from cub.actions.run.agent_texts import prepare_agent_context
from cub.actions.run.attempt_checks import (
    judge_before_start,
    judge_by_final_checks,
    list_checks,
    run_baseline_checks,
    run_start_commands,
)
from cub.actions.run.attempt_files import begin_attempt, read_result
from cub.actions.run.attempt_state import Attempt, save_start
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
from cub.actions.run.setup_commands import run_setup
from cub.actions.run.verdict import AttemptEvidence, Verdict, judge_before_checks
from cub.actions.tasks.attempt_edits import read_attempt_edits
from cub.actions.tasks.current_attempt import ATTEMPT_VARIABLE, read_request
from cub.git import GitDiskTree
from cub.harness.base import Harness, LaunchRequest
from cub.place.place import Place
from cub.processes.orphans import kill_by_environment
from cub.project.project import Project
from cub.store.events import Event
from cub.store.store_paths import TASKS_FILE
from cub.store.task_index import TaskIndex

AttemptEvents = Generator[Event, None, Verdict]


def run_attempt(context: RunContext, attempt: Attempt, tasks: TaskIndex) -> AttemptEvents:
    """Make an attempt at a claimed task; yield its events, and return its verdict."""
    if not attempt.is_prepared:
        if failure := (yield from run_start_commands(context, attempt)):
            return Verdict(failures.CONTEXT_FAILED, str(failure))
        yield from run_baseline_checks(context, attempt)
    begin_attempt(context, attempt)
    save_start(context, attempt)
    if verdict := judge_before_start(context, attempt) or _judge_agent_files(context, attempt):
        return verdict
    yield from _report_failing_checks(context, attempt)
    if result := (yield from run_setup(context, attempt, attempt.place.tree)):
        attempt.notices.append(f"the agent works without it: {result.reason}")
    attempt.inputs = _record_inputs(context, attempt)
    yield from _run_agent(context, attempt, tasks)
    attempt.evidence = evidence = _collect_evidence(context, attempt)
    instructions = _judge_instructions(attempt)
    verdict = judge_before_checks(evidence) or _judge_inputs(context, attempt) or instructions
    if verdict is None:
        verdict = yield from _judge_work(context, attempt, evidence)
    return explain_left_out(verdict, attempt.left_out_paths)


def _run_agent(
    context: RunContext, attempt: Attempt, tasks: TaskIndex
) -> Generator[Event, None, None]:
    texts = prepare_run_context(context, attempt.harness, attempt.place)
    prompt, system_prompt = _write_prompts(context, attempt, tasks, texts)
    request = LaunchRequest(
        prompt, system_prompt, attempt.files.path, attempt.place.inner_mailbox, attempt.task_id,
        attempt.number, context.settings.model, context.settings.permissions, texts.arguments,
        attempt.place.settings.kind.can_nest,
    )  # fmt: skip
    attempt.agent_result = yield from run_agent(
        context, attempt.harness, request, attempt.files, attempt.place
    )
    process = attempt.agent_result.process
    if process.signal == signal.SIGKILL and not process.cause:
        # What killed the agent may have killed its keeper too.
        kill_by_environment((ATTEMPT_VARIABLE, str(attempt.files.path)))
    tasks_before = attempt.place.laid.get((attempt.place.settings.prefix / TASKS_FILE).as_posix())
    attempt.edits = read_attempt_edits(attempt.place.root, tasks_before or b"", attempt.task_id)
    attempt.request = read_request(attempt.place.folder.mailbox) or attempt.edits.request


def _judge_work(context: RunContext, attempt: Attempt, evidence: AttemptEvidence) -> AttemptEvents:
    """Return the verdict of the checks, unless the attempt has changed what they decide by."""
    verdict = yield from judge_by_final_checks(context, attempt, evidence)
    if verdict.is_ok:  # the checks may have changed files, too
        verdict = _judge_instructions(attempt) or verdict
    if verdict.is_ok:
        change = yield from judge_by_old_definitions(context, attempt, evidence)
        verdict = change or verdict
    return judge_removed_tests(context, attempt, verdict) or verdict


def _judge_agent_files(context: RunContext, attempt: Attempt) -> Verdict | None:
    """Return a verdict if the agent would execute files that changed after they were approved."""
    lines = context.approved_checks.list_untrusted_files(attempt.place.root)
    return Verdict(failures.UNTRUSTED, "; ".join(lines)) if lines else None


def _report_failing_checks(context: RunContext, attempt: Attempt) -> Generator[Event, None, None]:
    excuses = context.settings.excuses_known_failures
    for text in describe_failing_checks(attempt.baseline, attempt.task_checks, excuses=excuses):
        if text not in context.reported:  # of a check of the project, which each attempt runs
            context.reported.add(text)
            yield context.make_event("notice", task=attempt.task_id, text=text)


def _record_inputs(context: RunContext, attempt: Attempt) -> CheckInputs:
    """Return what the checks go by, in the agent's tree: PATH may lead into the project, too."""
    root, seen = attempt.place.root.as_posix(), context.initial_stores.root.as_posix()
    path = context.environ.get("PATH", "").replace(seen, root)
    return record_inputs(attempt.place.root, list_checks(context, attempt), path, attempt.inputs)


def _write_prompts(
    context: RunContext, attempt: Attempt, tasks: TaskIndex, texts: AgentContext
) -> tuple[str, str]:
    """Return the agent's prompt and system prompt; keep both in the attempt's folder."""
    settings, commands = context.settings, list_checks(context, attempt)
    commands = commands or tuple(command.shell_line for command in context.check_commands)
    message, blocks = settings.message_template, tuple(attempt.blocks)
    options = PromptOptions(tasks, commands, message, settings.commits, blocks=blocks)
    built = build_task_prompt(context.current_stores, attempt.task_id, options)
    missing = render_missing_context(texts.sources)
    system_prompt = "\n".join(filter(None, [context.system_prompt, missing]))
    attempt.files.save_text(run_folders.SYSTEM_FILE, system_prompt)
    attempt.files.save_text(run_folders.PROMPT_FILE, built.prompt.text)
    return built.prompt.text, system_prompt


def prepare_run_context(context: RunContext, harness: Harness, place: Place) -> AgentContext:
    """Return the project's texts for an agent where it works, and what it loads on its own."""
    version = context.agent_versions.get(harness.name, "")
    # The agent finds other files above the project, at the path where it sees that.
    project = Project.from_tree(place.get_inner_root(place.tree), GitDiskTree(place.root))
    checkout = context.initial_stores.project
    return prepare_agent_context(project, harness, version, context.environ, checkout)


def _collect_evidence(context: RunContext, attempt: Attempt) -> AttemptEvidence:
    result, harness = attempt.agent_result, attempt.harness
    facts = read_result(context, attempt)
    state, transcript, process = facts.state, result.transcript, result.process
    attempt.note_for_review(describe_leftovers(attempt.place.folder.tree, attempt.changes))
    attempt.notices += describe_ignored_files(state.ignored_paths)
    is_success = harness.is_success(transcript, process.exit_code)
    return AttemptEvidence(
        process=process,
        transcript=transcript,
        stderr=result.stderr,
        is_success=is_success and not process.cause,
        has_changes=bool(attempt.changes),
        conflicts=facts.conflicts,
        oversized_files=state.oversized_files,
        uncommittable=facts.changed_submodules,
        hidden_work=find_hidden_work(attempt),
        request=attempt.request,
        is_over_budget=result.is_over_budget,
        refusal=harness.find_refusal(transcript, result.stderr, context.clock.now()),
        lacks_reply=harness.lacks_reply(transcript),
    )


def _judge_instructions(attempt: Attempt) -> Verdict | None:
    """Note what was changed in instruction files; return a verdict if that is forbidden."""
    changes = find_instruction_changes(attempt)
    attempt.note_for_review(describe_instruction_changes(changes))
    return judge_instruction_changes(changes, attempt.task)


def _judge_inputs(context: RunContext, attempt: Attempt) -> Verdict | None:
    """Note what was changed that the checks go by; return a verdict if it is protected."""
    attempt.new_inputs = _record_inputs(context, attempt)
    read_old = partial(Attempt.read_project_files_before, attempt)
    attempt.inputs = add_earlier_states(attempt.inputs, attempt.new_inputs, read_old)
    inputs = find_changed_inputs(attempt.inputs, attempt.new_inputs)
    is_red = any(check.is_red for check in attempt.baseline.values())
    notes = describe_changes(inputs, attempt.inputs, attempt.changes, is_red=is_red)
    attempt.note_for_review(notes)
    paths = [*(change.path for change in attempt.changes), *(file.path for file in inputs)]
    if path := find_protected_path(context.settings.protected_patterns, paths):
        return Verdict(failures.PROTECTED, f"{path} was changed, which run.protect forbids")
    return None
