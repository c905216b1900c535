"""Make one attempt at a task: baseline checks, the agent, evidence, checks, verdict.

Nothing is committed or rolled back here; see attempt_finish.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Generator
from functools import partial

from cub.actions.agent_context import AgentContext, render_missing_context
from cub.actions.build_prompt import PromptOptions, build_task_prompt
from cub.actions.run import failures, run_folders
from cub.actions.run.agent_process import (
    RUN_MARK_VARIABLE,
    run_agent,
)
from cub.actions.run.agent_texts import prepare_agent_context
from cub.actions.run.attempt_checks import (
    judge_before_start,
    judge_by_final_checks,
    list_checks,
    run_baseline_checks,
    run_start_commands,
)
from cub.actions.run.attempt_state import Attempt, save_git_settings, save_start, set_result
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
from cub.actions.run.hidden_work import describe_ignored_files, find_hidden_work
from cub.actions.run.instruction_changes import (
    describe_instruction_changes,
    find_instruction_changes,
    judge_instruction_changes,
)
from cub.actions.run.new_files import (
    describe_leftovers,
    describe_secrets,
    explain_left_out,
    take_out_secrets,
)
from cub.actions.run.removed_tests import judge_removed_tests
from cub.actions.run.run_context import RunContext
from cub.actions.run.verdict import (
    AttemptEvidence,
    Verdict,
    judge_before_checks,
)
from cub.actions.tasks.current_attempt import read_request
from cub.git.lock_files import remove_stale_locks
from cub.git.repository_backup import repair_repository
from cub.git.repository_settings import restore_git_settings
from cub.git.snapshot import (
    Snapshot,
    list_changed_submodules,
)
from cub.git.take_snapshot import take_snapshot
from cub.harness.base import Harness, LaunchRequest
from cub.processes.orphans import kill_by_environment
from cub.project.project import Project
from cub.store.events import Event
from cub.store.task_index import TaskIndex

AttemptEvents = Generator[Event, None, Verdict]


def run_attempt(context: RunContext, attempt: Attempt, tasks: TaskIndex) -> AttemptEvents:
    """Make an attempt at a claimed task; yield its events, and return its verdict."""
    workspace = context.workspace
    if attempt.before is None:
        save_git_settings(context, attempt)  # before checks, which run what agents wrote
        attempt.before = before = take_snapshot(workspace.worktree)
        save_start(context, attempt, before)
        if failure := (yield from run_start_commands(context, attempt, before)):
            verdict = judge_before_start(context, attempt) if attempt.edited_paths else None
            return verdict or Verdict(failures.CONTEXT_FAILED, str(failure))
        yield from run_baseline_checks(context, attempt, attempt.before)
    else:  # as the start of the run has left it
        save_start(context, attempt, attempt.before)
    before, baseline = attempt.before, attempt.baseline
    if verdict := judge_before_start(context, attempt) or _judge_agent_files(context):
        attempt.after = before
        return verdict
    excuses = context.settings.excuses_known_failures
    for text in describe_failing_checks(baseline, attempt.task_checks, excuses=excuses):
        if text not in context.reported:  # of a check of the project, which each attempt runs
            context.reported.add(text)
            yield context.make_event("notice", task=attempt.task_id, text=text)
    attempt.inputs = _record_inputs(context, attempt)
    attempt.notices += workspace.back_up(before, context.settings.ignored_backup_limit)
    texts = prepare_run_context(context, attempt.harness)
    prompt, system_prompt = _write_prompts(context, attempt, tasks, texts)
    attempt.started_at = time.time()
    request = LaunchRequest(
        prompt, system_prompt, attempt.files.path, attempt.files.path, attempt.task_id,
        attempt.number, context.settings.model, context.settings.permissions, texts.arguments,
    )  # fmt: skip
    attempt.agent_result = yield from run_agent(context, attempt.harness, request, attempt.files)
    restore_surroundings(context, attempt)
    attempt.request = read_request(attempt.files.state)
    evidence = _collect_evidence(context, attempt, before)
    if attempt.replacements:
        return Verdict(failures.UNKNOWN, "; ".join(attempt.replacements))
    instructions = _judge_instructions(context, attempt, before)
    verdict = judge_before_checks(evidence) or _judge_inputs(context, attempt, before)
    verdict = verdict or instructions
    if verdict is None:
        verdict = yield from _judge_work(context, attempt, before, evidence)
    return explain_left_out(verdict, attempt.left_out_paths)


def _judge_work(
    context: RunContext, attempt: Attempt, before: Snapshot, evidence: AttemptEvidence
) -> AttemptEvents:
    """Return the verdict of the checks, unless the attempt has changed what they decide by."""
    verdict = yield from judge_by_final_checks(context, attempt, before, evidence)
    if verdict.is_ok:  # the checks may have changed files, too
        verdict = _judge_instructions(context, attempt, before) or verdict
    if verdict.is_ok:
        change = yield from judge_by_old_definitions(context, attempt, before, evidence)
        verdict = change or verdict
    return judge_removed_tests(context, attempt, before, verdict) or verdict


def _judge_agent_files(context: RunContext) -> Verdict | None:
    """Return a verdict if the agent would execute files that changed after they were approved."""
    lines = context.approved_checks.list_untrusted_files(context.workspace.folder)
    return Verdict(failures.UNTRUSTED, "; ".join(lines)) if lines else None


def restore_surroundings(context: RunContext, attempt: Attempt) -> None:
    """Restore what an attempt changed in git's own folder."""
    rescue_folder = attempt.files.remove_links()
    if damage := repair_repository(context.workspace.worktree, rescue_folder):
        attempt.replacements.append(damage)
    names = list[str]()
    if attempt.settings is not None:
        rescue_folder = attempt.files.prepare_folder(run_folders.REPLACED_SETTINGS_FOLDER)
        names = restore_git_settings(attempt.settings, rescue_folder)
    attempt.notices += [f"{name} was changed by the attempt, and is restored" for name in names]


def _record_inputs(context: RunContext, attempt: Attempt) -> CheckInputs:
    path = context.environ.get("PATH")
    commands = list_checks(context, attempt)
    return record_inputs(context.workspace.folder, commands, path, attempt.inputs)


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


def prepare_run_context(context: RunContext, harness: Harness) -> AgentContext:
    """Return the project's texts for an agent where it works, and what it loads on its own."""
    checkout, folder = context.initial_stores.project, context.workspace.folder
    project = checkout if folder == checkout.root else Project.load(folder)
    version = context.agent_versions.get(harness.name, "")
    return prepare_agent_context(project, harness, version, context.environ, checkout)


def _collect_evidence(context: RunContext, attempt: Attempt, before: Snapshot) -> AttemptEvidence:
    workspace, process = context.workspace, attempt.agent_result.process
    if process.signal == signal.SIGKILL and not process.cause:
        # What killed the agent may have killed its keeper too.
        kill_by_environment((RUN_MARK_VARIABLE, context.folder.id))
    remove_stale_locks(workspace.toplevel, attempt.started_at)
    restored = workspace.restore_private_files(
        before, attempt.files.remove_links(), context.uncommitted_files, restores_modes=True
    )
    attempt.notices += restored.messages
    after = take_snapshot(workspace.worktree, before)
    attempt.files.write_state(run_folders.AGENT_HEAD_FILE, {"head": after.head})
    set_result(context, attempt, before, after)
    if paths := take_out_secrets(workspace, attempt.files, attempt.changes):
        after = take_snapshot(workspace.worktree, before)
        set_result(context, attempt, before, after)
        attempt.left_out_paths = paths
        attempt.notices.append(describe_secrets(paths))
    attempt.note_for_review(describe_leftovers(workspace.toplevel, attempt.changes))
    attempt.notices += describe_ignored_files(after)
    if attempt.head_move == "forward" and before.head != after.head:
        attempt.notices.append("there are commits that the run did not make")
    transcript = attempt.agent_result.transcript
    is_success = attempt.harness.is_success(transcript, process.exit_code)
    return AttemptEvidence(
        process=process,
        transcript=transcript,
        stderr=attempt.agent_result.stderr,
        is_success=is_success and not process.cause,
        has_changes=bool(attempt.changes),
        restored_files=restored.files,
        conflicts=after.conflicts,
        oversized_files=after.oversized_files,
        head_move=attempt.head_move,
        uncommittable=list_changed_submodules(before, after),
        hidden_work=find_hidden_work(workspace, before, after, attempt.changes, attempt.started_at),
        request=attempt.request,
        is_over_budget=attempt.agent_result.is_over_budget,
        refusal=attempt.harness.find_refusal(
            transcript, attempt.agent_result.stderr, context.clock.now()
        ),
        lacks_reply=attempt.harness.lacks_reply(transcript),
    )


def _judge_instructions(context: RunContext, attempt: Attempt, before: Snapshot) -> Verdict | None:
    """Note what was changed in instruction files; return a verdict if that is forbidden."""
    after = attempt.after or before
    changes = find_instruction_changes(context.workspace, before, after)
    attempt.note_for_review(describe_instruction_changes(changes))
    return judge_instruction_changes(changes, attempt.task)


def _judge_inputs(context: RunContext, attempt: Attempt, before: Snapshot) -> Verdict | None:
    """Note what was changed that the checks go by; return a verdict if it is protected."""
    attempt.new_inputs = _record_inputs(context, attempt)
    read_old = partial(context.workspace.read_project_files_before, before)
    attempt.inputs = add_earlier_states(attempt.inputs, attempt.new_inputs, read_old)
    inputs = find_changed_inputs(attempt.inputs, attempt.new_inputs)
    is_red = any(check.is_red for check in attempt.baseline.values())
    notes = describe_changes(inputs, attempt.inputs, attempt.changes, is_red=is_red)
    attempt.note_for_review(notes)
    paths = [*(change.path for change in attempt.changes), *(file.path for file in inputs)]
    if path := find_protected_path(context.settings.protected_patterns, paths):
        return Verdict(failures.PROTECTED, f"{path} was changed, which run.protect forbids")
    return None
