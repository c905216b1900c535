"""Prepare a run: look at all that it needs first, so that none starts that can't go on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from cub.actions.build_prompt import read_system_prompt
from cub.actions.check_commands import find_check_commands
from cub.actions.command_options import RUN_OPTION_NAMES, RunOptions
from cub.actions.context_settings import ContextSettings
from cub.actions.managed_files import GITIGNORE
from cub.actions.run.agent_programs import (
    MissingProgram,
    RunAgents,
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
from cub.actions.run.place_setup import (
    commit_changes,
    describe_uncommitted,
    list_committed_stores,
    list_path_warnings,
    open_place,
    prepare_branch,
)
from cub.actions.run.run_context import (
    Budget,
    Clock,
    RunContext,
    RunRefusedError,
)
from cub.actions.run.run_folders import (
    RunFolder,
    create_run_folder,
    hold_run_locks,
    make_run_id,
    remove_run_folder,
)
from cub.actions.run.run_options import RunSettings, resolve_settings
from cub.actions.run.run_recovery import recover_killed_runs
from cub.actions.run.task_queue import require_startable
from cub.actions.tasks.current_attempt import RUN_VARIABLE, build_environment
from cub.actions.tasks.stores import Stores, finish_interrupted_change, install_git_files
from cub.actions.tasks.task_edits import make_text_tasks
from cub.actions.tasks.task_queries import find_epic
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.files.lock import lock_project
from cub.files.signed_state import find_project_state
from cub.harness.harness_registry import ChosenHarnesses, load_harnesses
from cub.processes.command import StopRequest, TimeLimits
from cub.processes.orphans import adopt_orphans
from cub.project.config_layers import resolve_config
from cub.project.executable_config import find_agent_files
from cub.store.events import Event, mask_event
from cub.store.jsonl import Record
from cub.store.task_index import TaskIndex


class PreparedRun(NamedTuple):
    """Hold a run that may start, and what to report before it does."""

    context: RunContext
    events: list[Event]
    warnings: list[PlanWarning]


@dataclass(frozen=True, slots=True)
class RunEnvironment:
    """Hold what a run takes from outside of the project; `cwd` is where `cub run` was called.

    `confirmed` are the context commands that the user has seen and approved: no others run.
    """

    stop: StopRequest
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    clock: Clock = field(default_factory=Clock)
    cwd: Path = field(default_factory=Path.cwd)
    confirmed: ContextSettings | None = None


class _RunPlan(NamedTuple):
    """Hold what a run found out before it writes anything; `missing` are agents that can't start.

    `new_tasks` are to be added with the first claim.
    """

    settings: RunSettings
    chosen: ChosenHarnesses
    missing: list[MissingProgram]
    approved_checks: ApprovedChecks
    new_tasks: list[Record]
    warnings: list[PlanWarning]


@contextmanager
def prepare_run(
    stores: Stores, options: RunOptions, environment: RunEnvironment
) -> Iterator[PreparedRun]:
    """Hold all that a run needs until it has ended.

    Raises CubError if the run can't start; nothing has been started then.
    """
    stores = finish_interrupted_change(stores)
    plan = _plan_run(stores, options, environment)
    if not (stores.root / GITIGNORE).exists():
        with lock_project(stores.root) as lock:
            install_git_files(lock)
    folder = RunFolder(stores.root, make_run_id(environment.clock.now()))
    create_run_folder(folder)
    with ExitStack() as stack:
        stack.enter_context(hold_run_locks(folder, stores.project.root))
        stack.enter_context(adopt_orphans())
        stack.enter_context(_undo_if_refused(folder))
        report = recover_killed_runs(stores, environment.clock, folder)
        with report.add_to_errors():
            context = _open_context(stores, plan, environment, folder, stack)
        _save_run_facts(context)
        notices = [mask_event(event) for event in _make_notices(context, plan.missing)]
        stack.enter_context(_close_places(context))
        yield PreparedRun(context, [*report.events, *notices], plan.warnings)


def _plan_run(stores: Stores, options: RunOptions, environment: RunEnvironment) -> _RunPlan:
    """Find out whether the run can start. Raises CubError if it can't."""
    environ, tasks = environment.environ, stores.backend.read_tasks()
    options, new_tasks = make_new_tasks(stores, tasks, options)
    layers = resolve_config(stores.project, environ, options.profile)
    settings = resolve_settings(layers.values, options)
    settings = replace(settings, context=environment.confirmed or settings.context)
    names, configs = settings.harnesses, settings.harness_configs
    chosen = load_harnesses(names, configs, stores.root, environ)
    require_startable(tasks, stores, options)
    settings = resolve_checks(stores, tasks, settings, environ)
    approved_checks = require_trust(stores, settings)
    missing = RunAgents(chosen.harnesses, settings, stores.project, environ).find_unusable()
    chosen = chosen._replace(harnesses=require_available(chosen.harnesses, missing))
    warnings = list(layers.warnings)
    return _RunPlan(settings, chosen, missing, approved_checks, new_tasks, warnings)


@contextmanager
def _close_places(context: RunContext) -> Iterator[None]:
    """Drop the places of a run that has ended, and write that it has."""
    try:
        yield
    except RunRefusedError:
        context.close_places()
        raise
    # Not after an error or a second Ctrl-C: the next run recovers what is unfinished.
    if not context.is_broken:
        context.close_places()
        if context.unrecorded_events:  # no attempt was started
            remove_run_folder(context.folder)
        else:
            context.folder.mark_ended()


def _make_notices(context: RunContext, missing: Sequence[MissingProgram]) -> list[Event]:
    """Return events about agents that can't start, their settings, and proposed checks."""
    settings = context.settings
    texts = [program.to_text() for program in missing]
    if (ignored := describe_uncommitted(context)) and not settings.options.with_changes:
        texts.append(ignored)
    texts += list_path_warnings(context)
    texts += context.agents.list_warnings(context.agent_versions)
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


def _open_context(
    stores: Stores,
    plan: _RunPlan,
    environment: RunEnvironment,
    folder: RunFolder,
    stack: ExitStack,
) -> RunContext:
    """Open the place and the branch of a run. Raises CubError if there can be none."""
    settings, harnesses = plan.settings, plan.chosen.harnesses
    environ = build_environment(settings.hidden_variables, environment.environ)
    environ[RUN_VARIABLE] = folder.id  # identifies what is left if the run is killed
    place = open_place(stores, settings, folder, environ, harnesses)
    checkout = place.settings.checkout
    branch = stack.enter_context(prepare_branch(checkout, settings, folder, environ))
    # An agent that could write into this folder would excuse its own failures.
    cache_folder = find_project_state(stores.root) / "checks"
    limits = TimeLimits(settings.timeout, None)
    context = RunContext(
        initial_stores=stores,
        settings=settings,
        folder=folder,
        place=place,
        branch=branch,
        committed_stores=list_committed_stores(stores, checkout, branch),
        check_runner=CheckRunner(cache_folder, stores.root, environ, limits, environment.stop),
        clock=environment.clock,
        stop=environment.stop,
        budget=Budget(settings.usd, settings.tokens, settings.iterations),
        check_commands=() if settings.checks else find_check_commands(stores.project),
        environ=environ,
        system_prompt=read_system_prompt(stores.project.tree),
        harnesses=harnesses,
        approved_checks=plan.approved_checks,
        cwd=environment.cwd,
        choice=plan.chosen.reason,
        new_tasks=plan.new_tasks,
    )
    _require_trusted_files(context)
    context.agent_versions = read_agent_versions(harnesses, stores.project, environ)
    return context


def _require_trusted_files(context: RunContext) -> None:
    """Raise CubError if agents would execute files of the base that nobody has approved."""
    place, approved = context.place, context.approved_checks
    if context.settings.options.with_changes:
        context.uncommitted_base = commit_changes(
            place, context.branch, context.committed_stores, is_merged=context.settings.commits
        )
    base = context.find_base()
    place.set_base(base)
    place.begin({})
    if context.settings.options.trust:
        approved.pinned_files = {file.path: file.digest for file in find_agent_files(place.root)}
    elif lines := approved.list_untrusted_files(place.root):  # of another commit
        raise CubError(FILES_UNTRUSTED, hint=TRUST_HINT, details=lines)


@contextmanager
def _undo_if_refused(folder: RunFolder) -> Iterator[None]:
    """Remove what a run that does not start has made."""
    try:
        yield
    except CubError as error:
        if isinstance(error, RunRefusedError) or not folder.read_state():
            remove_run_folder(folder)
        raise


def _save_run_facts(context: RunContext) -> None:
    options = context.settings.options
    names = [name for name in RUN_OPTION_NAMES if name not in ("trust", "once", "texts")]
    facts = {
        "run": context.folder.id,
        "pid": os.getpid(),
        "started": context.timestamp,
        "harnesses": [harness.name for harness in context.harnesses],
        "place": context.place.settings.kind.name,
        "asked": {name: getattr(options, name) for name in names},
        "ended": False,
    }
    context.folder.write_run_facts(facts)
