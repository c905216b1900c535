"""One attempt at a task: what is there before, the client, what came of it, the checks.

The checks around an attempt: what they say of the files before it, and after.

An attempt, and what is known of it so far.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from cub.actions.build_prompt import PromptOptions, build_task_prompt
from cub.actions.run.agent_process import (
    RUN_MARK_VARIABLE,
    AgentResult,
    AgentRunSpec,
    build_attempt_environment,
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
from cub.actions.run.run_folders import (
    AGENT_HEAD_FILE,
    AGENT_START_FILE,
    BASELINE_LOG,
    CHECKS_END_FILE,
    CHECKS_LOG,
    GIT_SETTINGS_FILE,
    PROMPT_FILE,
    REPLACED_SETTINGS_FOLDER,
    START_FILE,
    SYSTEM_FILE,
    AttemptFolder,
)
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
from cub.actions.run.workspace import FolderWorkspace
from cub.actions.tasks.current_attempt import read_request
from cub.git.snapshot import FileChange
from cub.harness.base import Harness, LaunchRequest, Transcript
from cub.processes.command import ProcessResult, TimeLimits
from cub.processes.orphans import kill_by_environment
from cub.store.events import Event
from cub.store.jsonl import Record
from cub.store.task_index import TaskIndex

AttemptEvents = Generator[Event, None, Verdict]


def run_attempt(
    context: RunContext, attempt: Attempt, tasks: TaskIndex, backup: CubFolderBackup
) -> AttemptEvents:
    """From the claim to the verdict; nothing is committed or put back yet."""
    attempt.settings = (
        context.workspace.read_git_settings()
    )  # before checks, which run what agents wrote
    save_git_settings(context, attempt)
    attempt.before = context.workspace.take_snapshot()
    save_start(context, attempt)
    commands = tuple(dict.fromkeys((*attempt.own_checks, *context.settings.checks)))
    base = yield from run_baseline_checks(context, attempt, commands)
    if verdict := _judge_before_start(context, attempt, base):
        attempt.after = attempt.before
        return verdict
    for text in describe_undecided_checks(base, attempt.own_checks):
        yield context.make_event("notice", task=attempt.key, text=text)
    attempt.inputs = record_inputs(context.workspace.folder, commands, context.environ.get("PATH"))
    attempt.observed += context.workspace.back_up(
        attempt.before, context.settings.ignored_backup_limit
    )
    prompt = _write_prompt(context, attempt, tasks, commands)
    attempt.began = time.time()
    attempt.worked = yield from _run_agent(context, attempt, prompt)
    restore_surroundings(context, attempt, backup)
    attempt.request = read_request(attempt.files.state, attempt.files.path)
    known = _collect_evidence(context, attempt)
    if attempt.replaced:
        return Verdict("unknown", "; ".join(attempt.replaced))
    if verdict := judge_before_checks(known) or _judge_inputs(context, attempt):
        return verdict
    yield from run_final_checks(context, attempt, commands, base)
    doubt = explain_unverified(attempt.checks)
    if broken := check_syntax(context.workspace, attempt.before, attempt.changed):
        attempt.checks.append(broken)
    verdict = judge_by_checks(attempt.checks, known)
    return (
        _judge_unverified(context, attempt, verdict, doubt) if verdict.is_ok and doubt else verdict
    )


def _judge_inputs(context: RunContext, attempt: Attempt) -> Verdict | None:
    """Tell what was changed that the checks go by; the verdict if it is protected."""
    inputs = find_changed_inputs(context.workspace.folder, attempt.inputs)
    attempt.doubts = describe_changes(inputs, attempt.changed)
    attempt.observed += attempt.doubts
    paths = [*(one.path for one in attempt.changed), *(one.path for one in inputs)]
    if path := find_protected_path(context.settings.protected_patterns, paths):
        return Verdict("protected", f"{path} was changed, which run.protect forbids")
    return None


def _judge_before_start(
    context: RunContext, attempt: Attempt, baseline: dict[str, CheckResult]
) -> Verdict | None:
    """Why the client need not be started."""
    if context.stop.is_requested:
        return Verdict("interrupted", "the run was stopped")
    if obstacle := find_check_obstacle(baseline, attempt.own_checks):
        if not context.settings.accept_unverified:
            return Verdict(UNVERIFIED, obstacle, is_uncounted=True)
        attempt.observed.append(f"no check can decide: {obstacle}")
    return None


def _judge_unverified(
    context: RunContext, attempt: Attempt, verdict: Verdict, doubt: str
) -> Verdict:
    """What becomes of work that nothing stands against and that nothing has judged."""
    if context.settings.accept_unverified:
        attempt.observed.append(f"it is accepted, although nothing has judged it: {doubt}")
        return verdict._replace(doubt=doubt)
    return Verdict(UNVERIFIED, doubt, is_uncounted=not has_run_project_code(attempt.checks))


def _write_prompt(
    context: RunContext, attempt: Attempt, tasks: TaskIndex, commands: tuple[str, ...]
) -> str:
    """What the client is sent, kept in the attempt's folder, too."""
    loops, settings = (
        commands or tuple(one.shell_line for one in context.check_commands),
        context.settings,
    )
    commits = settings.commits and not isinstance(context.workspace, FolderWorkspace)
    wanted = PromptOptions(tasks, loops, settings.message_template, commits)
    prompt = build_task_prompt(context.current_stores, attempt.key, options=wanted).prompt.text
    attempt.files.save_text(SYSTEM_FILE, context.system_prompt)
    attempt.files.save_text(PROMPT_FILE, prompt)
    return prompt


def _run_agent(
    context: RunContext, attempt: Attempt, prompt: str
) -> Generator[Event, None, AgentResult]:
    settings, files = context.settings, attempt.files
    launch = LaunchRequest(
        prompt,
        context.system_prompt,
        files.path,
        attempt.key,
        attempt.number,
        settings.model,
        settings.permissions,
    )
    session = AgentRunSpec(
        attempt.harness,
        launch,
        context.workspace.folder,
        build_attempt_environment(
            context.folder, files, attempt.key, attempt.harness.name, context.environ
        ),
        make_attempt_mark(context.folder, files, attempt.key),
        settings.wrapper,
        TimeLimits(settings.timeout, settings.idle_timeout),
        context.stop,
        context.budget,
    )
    files.write_state(AGENT_START_FILE, {"at": context.timestamp})
    listening = run_agent(session, files)
    while True:
        try:
            told = next(listening)
        except StopIteration as end:
            worked: AgentResult = end.value
            return worked
        if told is None:
            yield context.make_event("tick", task=attempt.key)
        else:
            yield context.make_event("client", task=attempt.key, n=attempt.number, **told.to_dict())


def _collect_evidence(context: RunContext, attempt: Attempt) -> AttemptEvidence:
    """What the files say, with commits that the agent made taken over."""
    if attempt.worked.process.signal == signal.SIGKILL and not attempt.worked.process.cause:
        kill_by_environment(
            (RUN_MARK_VARIABLE, context.folder.id)
        )  # who was killed so may have lost its keeper, too
    context.workspace.remove_stale_locks(attempt.began)
    aside = attempt.files.remove_links()
    back = context.workspace.restore_private_files(
        attempt.before, aside, context.uncommitted_files, restores_modes=True
    )
    attempt.observed += back.messages
    attempt.after = context.workspace.take_snapshot(attempt.before)
    attempt.files.write_state(AGENT_HEAD_FILE, {"head": attempt.after.head})
    attempt.moved = moved = context.workspace.classify_head_move(attempt.before, attempt.after)
    attempt.changed = context.workspace.list_changes(attempt.before, attempt.after)
    if moved == "forward" and attempt.before.head != attempt.after.head:
        attempt.observed.append("there are commits that the run did not make")
    told = attempt.worked.transcript
    return AttemptEvidence(
        process=attempt.worked.process,
        transcript=told,
        stderr=attempt.worked.stderr,
        is_success=attempt.harness.is_success(told, attempt.worked.process.exit_code)
        and not attempt.worked.process.cause,
        has_changes=bool(attempt.changed),
        restored_files=back.files,
        conflicts=attempt.after.conflicts,
        oversized_files=attempt.after.oversized_files,
        head_move=moved,
        uncommittable=context.workspace.list_uncommittable(attempt.before, attempt.after),
        request=attempt.request,
        is_over_budget=attempt.worked.process.cause == "ended",
        time=context.clock.now(),
    )


def run_baseline_checks(
    context: RunContext, attempt: Attempt, commands: Sequence[str]
) -> Generator[Event, None, dict[str, CheckResult]]:
    """What the checks say of the files as they are, asked only where nobody knows."""
    found = {
        command: context.check_runner.find_result(attempt.before.tree, command)
        for command in commands
    }
    missing = [command for command, check in found.items() if check is None]
    if missing:
        with attempt.files.open_file(BASELINE_LOG) as log:
            for command in missing:
                found[command] = yield from _check(context, attempt, command, log, base=True)
        fresh = context.workspace.take_snapshot()
        if (
            fresh.tree != attempt.before.tree
        ):  # what a check leaves behind is no work of the agent's
            attempt.before = fresh
            save_start(context, attempt)
        for known in filter(None, found.values()):
            context.check_runner.store_result(attempt.before.tree, known)
    return {command: check for command, check in found.items() if check}


def run_final_checks(
    context: RunContext, attempt: Attempt, commands: Sequence[str], baseline: dict[str, CheckResult]
) -> Generator[Event, None, None]:
    """Run the checks; one that the files were asked already is not asked again."""
    with attempt.files.open_file(CHECKS_LOG) as log:
        for command in commands:
            # Only what this very run has seen: who works here could forge what is on disk.
            check = context.check_runner.results.get((attempt.after.tree, command))
            if check is None:
                check = yield from _check(context, attempt, command, log, base=False)
            own = command in attempt.own_checks
            attempt.checks.append(compare_check(check, baseline.get(command), own=own))
            if context.stop.is_requested:
                return


def _check(
    context: RunContext, attempt: Attempt, command: str, log: BinaryIO, *, base: bool
) -> Generator[Event, None, CheckResult]:
    yield context.make_event("check_start", task=attempt.key, cmd=command, base=base)
    mark = make_attempt_mark(context.folder, attempt.files, attempt.key)
    check = context.check_runner.run_check(
        command, log, attempt.files.state / CHECKS_END_FILE, mark
    )
    facts = {"exit": check.exit, "n": len(check.items), "dur_s": round(check.seconds, 2)}
    yield context.make_event("check_end", task=attempt.key, cmd=command, base=base, **facts)
    return check


_NOT_STARTED = ProcessResult(None, None, "stopped", "", 0.0)


@dataclass(slots=True)
class Attempt:
    """`before` and `after` are the ground's snapshots; `observed` is for the next attempt; `inputs`
    is what the checks go by, `doubts` tells what of it was changed; `replaced` says what stood in
    the place of `.cub` or of git's folder.
    """

    task: Record
    own_checks: tuple[str, ...]
    number: int
    harness: Harness
    files: AttemptFolder
    history: AttemptHistory
    before: Any = None
    after: Any = None
    worked: AgentResult = field(default_factory=lambda: AgentResult(_NOT_STARTED, Transcript(), ""))
    changed: list[FileChange] = field(default_factory=list)
    checks: list[CheckComparison] = field(default_factory=list)
    request: dict[str, Any] = field(default_factory=dict)
    observed: list[str] = field(default_factory=list)
    settings: Any = None
    replaced: list[str] = field(default_factory=list)
    inputs: CheckInputs = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    moved: str = ""
    began: float = 0.0

    @property
    def key(self) -> str:
        """The task's id."""
        return str(self.task["id"])


def restore_surroundings(context: RunContext, attempt: Attempt, backup: CubFolderBackup) -> None:
    """Put back what an attempt changed around its files: in `.cub/`, and in git's own folder."""
    attempt.replaced += backup.restore_file_types()
    if damage := context.workspace.repair_repository(attempt.files.remove_links()):
        attempt.replaced.append(damage)
    back = backup.restore_files()
    if attempt.settings is not None:
        back += context.workspace.restore_git_settings(
            attempt.settings, attempt.files.prepare_folder(REPLACED_SETTINGS_FOLDER)
        )
    attempt.observed += [f"{name} was changed by the attempt, and is back" for name in back]


def save_git_settings(context: RunContext, attempt: Attempt) -> None:
    """Write down git's settings for recovery, where they are not those that are written down."""
    if attempt.settings is None:
        return
    tree = {"settings": attempt.settings.to_json()}
    if context.folder.read_state(GIT_SETTINGS_FILE) != tree:
        context.folder.write_state(GIT_SETTINGS_FILE, tree)


def save_start(context: RunContext, attempt: Attempt) -> None:
    """Write down what recovery needs, before anything is started."""
    start = {
        "task": attempt.key,
        "n": attempt.number,
        "harness": attempt.harness.name,
        "at": context.timestamp,
        "charged": attempt.history.counted_attempts,
        "folder": context.workspace.folder.as_posix(),
        "top": context.workspace.toplevel.as_posix(),
        "before": attempt.before.to_json(),
    }
    attempt.files.write_state(START_FILE, start)
