"""Prepare a run: look at all that it needs first, so that none starts that can't go on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from cub.actions.build_prompt import read_system_prompt
from cub.actions.check_commands import find_check_commands
from cub.actions.context_settings import ContextSettings
from cub.actions.doctor.git_problems import (
    FIRST_COMMIT_FIX,
    IDENTITY_FIX,
    NO_COMMIT,
    list_uncommitted_paths,
)
from cub.actions.managed_files import GITIGNORE
from cub.actions.run.agent_process import RUN_MARK_VARIABLE
from cub.actions.run.agent_programs import (
    MissingProgram,
    find_unusable_agents,
    list_agent_warnings,
    read_agent_versions,
    require_available,
)
from cub.actions.run.check_proposals import describe_proposed_checks, resolve_checks
from cub.actions.run.check_runner import CheckRunner
from cub.actions.run.command_trust import (
    FILES_UNTRUSTED,
    TRUST_HINT,
    ApprovedChecks,
    require_trust,
)
from cub.actions.run.git_workspace import (
    GitWorkspace,
    list_committed_stores,
    open_git_workspace,
    remove_run_worktree,
)
from cub.actions.run.run_context import (
    Budget,
    Clock,
    RunContext,
    RunRefusedError,
    SystemClock,
)
from cub.actions.run.run_folders import (
    INDEX_FILE,
    RunFolder,
    create_run_folder,
    hold_run_locks,
    make_run_id,
    remove_run_folder,
)
from cub.actions.run.run_options import (
    RunOptions,
    RunSettings,
    render_branch_name,
    resolve_settings,
)
from cub.actions.run.run_recovery import RecoveryReport, recover_killed_runs
from cub.actions.run.task_queue import require_startable
from cub.actions.tasks.current_attempt import build_environment
from cub.actions.tasks.stores import Stores, finish_interrupted_change, install_git_files
from cub.actions.tasks.task_edits import make_text_tasks
from cub.actions.tasks.task_queries import find_epic
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.files import lock_project
from cub.files.signed_state import find_project_state
from cub.git import branches
from cub.git.commit import explain_missing_identity
from cub.git.restore_snapshot import release_snapshot
from cub.git.take_snapshot import take_snapshot
from cub.git.worktree import HeadState
from cub.harness.base import Harness
from cub.harness.harness_registry import load_harnesses
from cub.masking import mask_text
from cub.processes.command import StopRequest, TimeLimits
from cub.processes.orphans import adopt_orphans
from cub.project.config_layers import resolve_config
from cub.project.executable_config import find_agent_files
from cub.store.events import Event, mask_event
from cub.store.jsonl import Record
from cub.store.task_index import TaskIndex

_MAX_NAMED = 5  # changed files


@dataclass(slots=True)
class PreparedRun:
    """Hold a run that may start, and what to report before it does."""

    context: RunContext
    recovery_events: list[Event] = field(default_factory=list)
    warnings: list[PlanWarning] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RunEnvironment:
    """Hold what a run takes from outside of the project; `cwd` is where `cub run` was called.

    `confirmed` are the context commands that the user has seen and approved: no others run.
    """

    stop: StopRequest
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    profile: str | None = None
    clock: Clock = field(default_factory=SystemClock)
    cwd: Path = field(default_factory=Path.cwd)
    confirmed: ContextSettings | None = None


@contextmanager
def prepare_run(
    stores: Stores, options: RunOptions, environment: RunEnvironment
) -> Iterator[PreparedRun]:
    """Hold all that a run needs until it has ended.

    Raises CubError if the run can't start; nothing has been started then.
    """
    stores = finish_interrupted_change(stores)
    tasks = stores.backend.read_tasks()
    options, new_tasks = make_new_tasks(stores, tasks, options)
    layers = resolve_config(stores.project, environment.environ, environment.profile)
    settings = resolve_settings(layers.values, options)
    settings = replace(settings, context=environment.confirmed or settings.context)
    chosen = load_harnesses(
        settings.harnesses, settings.harness_configs, stores.root, environment.environ
    )
    require_startable(tasks, stores, options)
    settings = resolve_checks(stores, settings, environment.environ)
    approved_checks = require_trust(stores, settings)
    missing = find_unusable_agents(chosen.harnesses, settings, stores.project, environment.environ)
    harnesses = require_available(chosen.harnesses, missing)
    if not (stores.root / GITIGNORE).exists():
        with lock_project(stores.root) as lock:
            install_git_files(lock)
    folder = RunFolder(stores.root, make_run_id(environment.clock.now()))
    create_run_folder(folder)
    with ExitStack() as stack:
        checkout = None if options.worktree else stores.project.root
        stack.enter_context(hold_run_locks(folder, checkout))
        stack.enter_context(adopt_orphans())
        undo = stack.enter_context(_undo_if_refused(folder))
        context, report = _make_context(
            stores,
            settings,
            folder,
            environment,
            harnesses=harnesses,
            approved_checks=approved_checks,
            undo=undo,
        )
        context.choice, context.new_tasks = chosen.reason, new_tasks
        context.agent_versions = read_agent_versions(harnesses, stores.project, context.environ)
        _save_run_facts(context)
        events = _make_notices(context, missing)
        try:
            yield PreparedRun(context, [*report.events, *events], list(layers.warnings))
        except RunRefusedError:
            _clean_up_run(context)
            raise
        # Not after an error or a second Ctrl-C: the next run recovers what is unfinished.
        if not context.is_broken:
            _clean_up_run(context)
            if context.unrecorded_events:  # no attempt was started
                undo.close()
                remove_run_folder(folder)
            else:
                folder.mark_ended()


def _make_notices(context: RunContext, missing: Sequence[MissingProgram]) -> list[Event]:
    """Return events about agents that can't start, their settings, and proposed checks."""
    settings, project = context.settings, context.initial_stores.project
    texts = [program.to_text() for program in missing]
    texts += list_agent_warnings(
        context.harnesses, context.agent_versions, settings, project, context.environ
    )
    if settings.proposed_checks:
        texts.append(describe_proposed_checks(settings.proposed_checks))
    return [context.make_event("notice", text=text) for text in texts]


def make_new_tasks(
    stores: Stores, tasks: TaskIndex, options: RunOptions
) -> tuple[RunOptions, list[Record]]:
    """Put the tasks that a run is to add into `tasks`; return them, and options that name them."""
    if not options.texts:
        return options, []
    epic = find_epic(tasks, options.epic) if options.epic else ""
    new_tasks = make_text_tasks(stores, tasks, options.texts, epic=epic, label=options.label)
    return replace(options, added=tuple(record["id"] for record in new_tasks)), new_tasks


def _make_context(
    stores: Stores,
    settings: RunSettings,
    folder: RunFolder,
    environment: RunEnvironment,
    *,
    harnesses: list[Harness],
    approved_checks: ApprovedChecks,
    undo: ExitStack,
) -> tuple[RunContext, RecoveryReport]:
    environ = build_environment(settings.hidden_variables, environment.environ)
    environ[RUN_MARK_VARIABLE] = folder.id  # identifies what is left if the run is killed
    report = recover_killed_runs(stores, environ, environment.clock)
    report.events = [mask_event(event, mask_text) for event in report.events]
    try:
        if not settings.options.worktree:
            report.require_finished(stores.project.root)
        workspace = _open_workspace(stores, settings, folder, environ, undo)
    except CubError as error:  # report in any case what was recovered before
        error.details += tuple(str(event.get("text", "")) for event in report.events)
        raise
    if settings.options.trust:
        files = find_agent_files(workspace.folder)
        approved_checks.pinned_files = {file.path: file.digest for file in files}
    elif lines := approved_checks.list_untrusted_files(workspace.folder):  # of another commit
        raise CubError(FILES_UNTRUSTED, hint=TRUST_HINT, details=lines)
    limits = TimeLimits(settings.timeout, None)
    # An agent that could write into this folder would excuse its own failures.
    cache_folder = find_project_state(stores.root) / "checks"
    runner = CheckRunner(cache_folder, workspace.folder, environ, limits, environment.stop)
    context = RunContext(
        initial_stores=stores,
        settings=settings,
        folder=folder,
        workspace=workspace,
        check_runner=runner,
        clock=environment.clock,
        stop=environment.stop,
        budget=Budget(settings.usd, settings.tokens, settings.iterations),
        check_commands=() if settings.checks else find_check_commands(stores.project),
        environ=environ,
        system_prompt=read_system_prompt(stores.project.tree),
        harnesses=harnesses,
        approved_checks=approved_checks,
        cwd=environment.cwd,
    )
    return context, report


@contextmanager
def _undo_if_refused(folder: RunFolder) -> Iterator[ExitStack]:
    """Remove what a run that does not start has made; `undo` takes what else is to be undone."""
    undo = ExitStack()
    try:
        yield undo
    except CubError as error:
        if isinstance(error, RunRefusedError) or not folder.read_state():
            undo.close()
            remove_run_folder(folder)
        raise


def _open_workspace(
    stores: Stores,
    settings: RunSettings,
    folder: RunFolder,
    environ: Mapping[str, str],
    undo: ExitStack,
) -> GitWorkspace:
    """Open the checkout, or a new worktree; git's hooks get `environ`.

    `undo` gets what removes a new branch and worktree. Raises CubError if a run can't start there.
    """
    root, options = stores.project.root, settings.options
    index, size_limit = folder.state / INDEX_FILE, settings.max_file_size
    workspace = open_git_workspace(
        root, index, environ, stores=list_committed_stores(stores), size_limit=size_limit
    )
    if not options.worktree:
        _require_clean(workspace)
    if settings.commits and (answer := explain_missing_identity(workspace.worktree, environ)):
        what = f"git has no author name and email: {answer.splitlines()[-1]}"
        raise CubError(what, hint=IDENTITY_FIX)
    _require_first_commit(workspace.toplevel, settings)
    words = {"run": folder.id, "date": folder.id[:8], "epic": options.epic}
    branch = render_branch_name(settings.branch_template, words) if settings.branch_template else ""
    if options.worktree:
        inner = _add_worktree(workspace, folder, branch or f"cub/{folder.id}", undo)
        return open_git_workspace(inner, index, environ, size_limit=size_limit)
    current = take_snapshot(workspace.worktree)  # refuse now what no snapshot can hold
    if branch:
        head = HeadState(current.head, current.branch)
        _plan_deletion(workspace, branch, undo)
        undo.callback(branches.switch_back, workspace.toplevel, head)
        branches.switch_branch(workspace.toplevel, branch)
    elif settings.commits and not current.branch:
        raise CubError(
            "HEAD is detached: what is committed here would be on no branch",
            hint="`git switch -c NAME`, or `cub run --branch NAME`",
        )
    return workspace


def _add_worktree(workspace: GitWorkspace, folder: RunFolder, branch: str, undo: ExitStack) -> Path:
    """Add a linked worktree for the run, on its own branch; return the project's folder in it."""
    linked = folder.root / ".cub" / "worktrees" / folder.id
    _plan_deletion(workspace, branch, undo)
    undo.callback(branches.remove_worktree, workspace.toplevel, linked, force=True)
    branches.add_worktree(workspace.toplevel, linked, branch)
    inner = linked / workspace.folder.relative_to(workspace.toplevel).as_posix()
    inner.mkdir(parents=True, exist_ok=True)
    return inner


def _require_first_commit(toplevel: Path, settings: RunSettings) -> None:
    """Raise CubError if a run would make the first commit of a repository, or starts from none."""
    is_needed = settings.commits or settings.options.worktree
    if is_needed and not branches.read_head_commit(toplevel):
        raise CubError(NO_COMMIT, hint=FIRST_COMMIT_FIX)


def _plan_deletion(workspace: GitWorkspace, branch: str, undo: ExitStack) -> None:
    """Have `undo` delete a branch that is not there yet."""
    if not branches.has_branch(workspace.toplevel, branch):
        undo.callback(branches.delete_merged_branch, workspace.toplevel, branch)


def _require_clean(workspace: GitWorkspace) -> None:
    if dirty := list_uncommitted_paths(workspace.worktree, workspace.folder):
        more = [f"and {len(dirty) - _MAX_NAMED} more"] if len(dirty) > _MAX_NAMED else []
        raise CubError(
            "there are changes that are not committed",
            hint="commit or stash them, or work beside them with `cub run --worktree`",
            details=[*dirty[:_MAX_NAMED], *more],
        )


def _save_run_facts(context: RunContext) -> None:
    options = context.settings.options
    names = [name for name in options.__slots__ if name not in ("trust", "once", "texts")]
    facts = {
        "run": context.folder.id,
        "pid": os.getpid(),
        "started": context.timestamp,
        "folder": context.workspace.folder.as_posix(),
        "harnesses": [harness.name for harness in context.harnesses],
        "asked": {name: getattr(options, name) for name in names},
        "ended": False,
    }
    context.folder.write_run_facts(facts)


def _clean_up_run(context: RunContext) -> None:
    release_snapshot(context.workspace.worktree)
    if context.settings.options.worktree:
        remove_run_worktree(context.initial_stores.root, context.workspace.toplevel)
