"""Make one attempt at a task: baseline checks, the agent, evidence, checks, verdict.

Nothing is committed or rolled back here; see attempt_finish.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from cub.actions.build_prompt import PromptOptions, build_task_prompt
from cub.actions.run import run_folders
from cub.actions.run.agent_process import (
    RUN_MARK_VARIABLE,
    AgentResult,
    make_attempt_mark,
    run_agent,
)
from cub.actions.run.check_inputs import (
    CheckInputs,
    describe_changes,
    find_changed_inputs,
    find_protected_path,
    record_inputs,
)
from cub.actions.run.check_runner import CheckComparison, CheckResult, check_syntax, compare_check
from cub.actions.run.cub_folder_backup import CubFolderBackup
from cub.actions.run.retry_policy import AttemptHistory
from cub.actions.run.run_context import RunContext
from cub.actions.run.run_folders import AttemptFolder
from cub.actions.run.verdict import (
    UNVERIFIED,
    AttemptEvidence,
    Verdict,
    describe_undecided_checks,
    explain_unverified,
    find_check_obstacle,
    has_run_project_code,
    judge_before_checks,
    judge_by_checks,
)
from cub.actions.tasks.current_attempt import read_request
from cub.git.lock_files import remove_stale_locks
from cub.git.repository_backup import repair_repository
from cub.git.repository_settings import GitSettings, restore_git_settings
from cub.git.snapshot import FileChange, Snapshot, list_changed_submodules, list_changes
from cub.git.take_snapshot import take_snapshot
from cub.harness.base import Harness, LaunchRequest, Transcript
from cub.processes.command import ProcessResult
from cub.processes.orphans import kill_by_environment
from cub.store.events import Event
from cub.store.jsonl import Record
from cub.store.task_index import TaskIndex

AttemptEvents = Generator[Event, None, Verdict]
_NOT_STARTED = ProcessResult(None, None, "stopped", "", 0.0)


@dataclass(slots=True)
class Attempt:
    """Hold what is known of an attempt so far.

    - `before`, `after`: snapshots around the agent's work; None until they are taken.
    - `inputs`: what the checks go by; `input_changes` describes what of it was changed.
    - `notices`: what to report to a person and to the next attempt.
    - `replacements`: what the attempt put in the place of `.cub` or of git's folder.
    """

    task: Record
    task_checks: tuple[str, ...]
    number: int
    harness: Harness
    files: AttemptFolder
    history: AttemptHistory
    before: Snapshot | None = None
    after: Snapshot | None = None
    agent_result: AgentResult = field(
        default_factory=lambda: AgentResult(_NOT_STARTED, Transcript(), "")
    )
    changes: list[FileChange] = field(default_factory=list)
    checks: list[CheckComparison] = field(default_factory=list)
    request: dict[str, Any] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    settings: GitSettings | None = None
    replacements: list[str] = field(default_factory=list)
    inputs: CheckInputs = field(default_factory=dict)
    input_changes: list[str] = field(default_factory=list)
    head_move: str = ""
    started_at: float = 0.0

    @property
    def task_id(self) -> str:
        """Return the task's id."""
        return str(self.task["id"])


def run_attempt(
    context: RunContext, attempt: Attempt, tasks: TaskIndex, backup: CubFolderBackup
) -> AttemptEvents:
    """Make an attempt at a claimed task; yield its events, and return its verdict."""
    workspace = context.workspace
    _save_git_settings(context, attempt)  # before checks, which run what agents wrote
    attempt.before = take_snapshot(workspace.worktree)
    save_start(context, attempt, attempt.before)
    commands = tuple(dict.fromkeys((*attempt.task_checks, *context.settings.checks)))
    baseline = yield from run_baseline_checks(context, attempt, attempt.before, commands)
    if verdict := _judge_before_start(context, attempt, baseline):
        attempt.after = attempt.before
        return verdict
    for text in describe_undecided_checks(baseline, attempt.task_checks):
        yield context.make_event("notice", task=attempt.task_id, text=text)
    attempt.inputs = record_inputs(workspace.folder, commands, context.environ.get("PATH"))
    attempt.notices += workspace.back_up(attempt.before, context.settings.ignored_backup_limit)
    prompt = _write_prompt(context, attempt, tasks, commands)
    attempt.started_at = time.time()
    request = LaunchRequest(
        prompt, context.system_prompt, attempt.files.path, attempt.task_id, attempt.number,
        context.settings.model, context.settings.permissions,
    )  # fmt: skip
    attempt.agent_result = yield from run_agent(context, attempt.harness, request, attempt.files)
    restore_surroundings(context, attempt, backup)
    attempt.request = read_request(attempt.files.state, attempt.files.path)
    evidence = _collect_evidence(context, attempt, attempt.before)
    if attempt.replacements:
        return Verdict("unknown", "; ".join(attempt.replacements))
    if verdict := judge_before_checks(evidence) or _judge_inputs(context, attempt):
        return verdict
    yield from run_final_checks(context, attempt, commands, baseline)
    doubt = explain_unverified(attempt.checks)
    if syntax_check := check_syntax(workspace, attempt.before, attempt.changes):
        attempt.checks.append(syntax_check)
    verdict = judge_by_checks(attempt.checks, evidence)
    if verdict.is_ok and doubt:
        return _judge_unverified(context, attempt, verdict, doubt)
    return verdict


def restore_surroundings(context: RunContext, attempt: Attempt, backup: CubFolderBackup) -> None:
    """Restore what an attempt changed in `.cub/` and in git's own folder."""
    attempt.replacements += backup.restore_file_types()
    rescue_folder = attempt.files.remove_links()
    if damage := repair_repository(context.workspace.worktree, rescue_folder):
        attempt.replacements.append(damage)
    names = backup.restore_files()
    if attempt.settings is not None:
        rescue_folder = attempt.files.prepare_folder(run_folders.REPLACED_SETTINGS_FOLDER)
        names += restore_git_settings(attempt.settings, rescue_folder)
    attempt.notices += [f"{name} was changed by the attempt, and is back" for name in names]


def _save_git_settings(context: RunContext, attempt: Attempt) -> None:
    """Read git's settings, and write them down for recovery unless the same are there."""
    attempt.settings = context.workspace.read_git_settings()
    tree = {"settings": attempt.settings.to_json()}
    if context.folder.read_state(run_folders.GIT_SETTINGS_FILE) != tree:
        context.folder.write_state(run_folders.GIT_SETTINGS_FILE, tree)


def save_start(context: RunContext, attempt: Attempt, before: Snapshot) -> None:
    """Write down what recovery needs, before anything is started."""
    start = {
        "task": attempt.task_id,
        "n": attempt.number,
        "harness": attempt.harness.name,
        "at": context.timestamp,
        "charged": attempt.history.counted_attempts,
        "folder": context.workspace.folder.as_posix(),
        "top": context.workspace.toplevel.as_posix(),
        "before": before.to_json(),
    }
    attempt.files.write_state(run_folders.START_FILE, start)


def run_baseline_checks(
    context: RunContext, attempt: Attempt, before: Snapshot, commands: Sequence[str]
) -> Generator[Event, None, dict[str, CheckResult]]:
    """Return the results of checks on the files before the attempt; run those not stored."""
    runner = context.check_runner
    results = {command: runner.find_result(before.tree, command) for command in commands}
    missing = [command for command, result in results.items() if result is None]
    if missing:
        with attempt.files.open_file(run_folders.BASELINE_LOG) as log:
            for command in missing:
                results[command] = yield from _run_check(context, attempt, command, log, base=True)
        # What a check leaves behind is not the agent's work.
        current = take_snapshot(context.workspace.worktree)
        if current.tree != before.tree:
            attempt.before = before = current
            save_start(context, attempt, before)
        for result in filter(None, results.values()):
            runner.store_result(before.tree, result)
    return {command: result for command, result in results.items() if result}


def _judge_before_start(
    context: RunContext, attempt: Attempt, baseline: Mapping[str, CheckResult]
) -> Verdict | None:
    """Return the verdict if there is no use in starting the agent, or None."""
    if context.stop.is_requested:
        return Verdict("interrupted", "the run was stopped")
    if obstacle := find_check_obstacle(baseline, attempt.task_checks):
        if not context.settings.accept_unverified:
            return Verdict(UNVERIFIED, obstacle, is_uncounted=True)
        attempt.notices.append(f"no check can decide: {obstacle}")
    return None


def _write_prompt(
    context: RunContext, attempt: Attempt, tasks: TaskIndex, commands: tuple[str, ...]
) -> str:
    """Return the agent's prompt; keep it and the system prompt in the attempt's folder."""
    settings = context.settings
    commands = commands or tuple(command.shell_line for command in context.check_commands)
    options = PromptOptions(tasks, commands, settings.message_template, settings.commits)
    built = build_task_prompt(context.current_stores, attempt.task_id, options=options)
    attempt.files.save_text(run_folders.SYSTEM_FILE, context.system_prompt)
    attempt.files.save_text(run_folders.PROMPT_FILE, built.prompt.text)
    return built.prompt.text


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
    attempt.after = after = take_snapshot(workspace.worktree, before)
    attempt.files.write_state(run_folders.AGENT_HEAD_FILE, {"head": after.head})
    attempt.head_move = workspace.classify_head_move(before, after)
    attempt.changes = list_changes(workspace.worktree, before, after)
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
        request=attempt.request,
        is_over_budget=process.cause == "ended",
        time=context.clock.now(),
    )


def _judge_inputs(context: RunContext, attempt: Attempt) -> Verdict | None:
    """Note what was changed that the checks go by; return a verdict if it is protected."""
    inputs = find_changed_inputs(context.workspace.folder, attempt.inputs)
    attempt.input_changes = describe_changes(inputs, attempt.changes)
    attempt.notices += attempt.input_changes
    paths = [*(change.path for change in attempt.changes), *(file.path for file in inputs)]
    if path := find_protected_path(context.settings.protected_patterns, paths):
        return Verdict("protected", f"{path} was changed, which run.protect forbids")
    return None


def run_final_checks(
    context: RunContext, attempt: Attempt, commands: Sequence[str], baseline: dict[str, CheckResult]
) -> Generator[Event, None, None]:
    """Run the checks on the files after the agent, unless this run has a result for them."""
    tree = attempt.after.tree if attempt.after else ""
    with attempt.files.open_file(run_folders.CHECKS_LOG) as log:
        for command in commands:
            # Only results of this run: an agent could forge what is on disk.
            result = context.check_runner.results.get((tree, command))
            if result is None:
                result = yield from _run_check(context, attempt, command, log, base=False)
            is_task_check = command in attempt.task_checks
            before = baseline.get(command)
            attempt.checks.append(compare_check(result, before, is_task_check=is_task_check))
            if context.stop.is_requested:
                return


def _run_check(
    context: RunContext, attempt: Attempt, command: str, log: BinaryIO, *, base: bool
) -> Generator[Event, None, CheckResult]:
    facts = {"task": attempt.task_id, "cmd": command, "base": base}
    yield context.make_event("check_start", **facts)
    mark = make_attempt_mark(context.folder, attempt.files, attempt.task_id)
    end_time_file = attempt.files.state / run_folders.CHECKS_END_FILE
    result = context.check_runner.run_check(command, log, end_time_file, mark)
    facts |= {"exit": result.exit, "n": len(result.items), "dur_s": round(result.seconds, 2)}
    yield context.make_event("check_end", **facts)
    return result


def _judge_unverified(
    context: RunContext, attempt: Attempt, verdict: Verdict, doubt: str
) -> Verdict:
    if context.settings.accept_unverified:
        attempt.notices.append(f"it is accepted, although nothing has judged it: {doubt}")
        return verdict._replace(doubt=doubt)
    return Verdict(UNVERIFIED, doubt, is_uncounted=not has_run_project_code(attempt.checks))
