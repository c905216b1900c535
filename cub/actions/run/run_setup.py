"""Before a run: what it needs is looked at first, so that nothing is begun that can't go on.

Where a run works: a clean checkout, a work tree of its own, or a folder without git.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any

from cub.actions.build_prompt import find_check_commands, read_system_prompt
from cub.actions.managed_files import GITIGNORE, map_local_files
from cub.actions.run.agent_process import (
    RUN_MARK_VARIABLE,
    build_environment,
    find_missing_programs,
    require_available,
)
from cub.actions.run.check_runner import CheckRunner
from cub.actions.run.command_trust import require_trust
from cub.actions.run.git_workspace import (
    STORE_FILES,
    GitWorkspace,
    open_git_workspace,
    remove_run_worktree,
)
from cub.actions.run.run_context import Budget, Clock, RunContext, SystemClock
from cub.actions.run.run_folders import (
    INDEX_FILE,
    RunFolder,
    create_run_folder,
    hold_run_locks,
    is_alive,
    make_run_id,
)
from cub.actions.run.run_options import (
    RunOptions,
    RunSettings,
    render_branch_name,
    resolve_settings,
)
from cub.actions.run.run_recovery import recover_killed_runs
from cub.actions.run.task_queue import list_runnable_tasks, require_startable
from cub.actions.run.workspace import FolderWorkspace, Workspace
from cub.actions.tasks.stores import Stores, finish_interrupted_change, install_git_files
from cub.config_edit.yaml_text import format_yaml
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.files import lock_project
from cub.files.signed_state import find_project_state
from cub.git import branches
from cub.git.commit import explain_missing_identity
from cub.git.restore_snapshot import release_snapshot
from cub.git.worktree_status import list_dirty_paths
from cub.harness.harness_registry import load_harnesses
from cub.masking import mask_text
from cub.processes.command import StopRequest, TimeLimits
from cub.processes.orphans import adopt_orphans
from cub.project.config_layers import resolve_config
from cub.repomap.stack.facts import CommandPurpose, ProjectCommand
from cub.store.events import Event, mask_event

_LOOKED_AT = 20  # tasks
_PROPOSED: tuple[CommandPurpose, ...] = ("test", "typecheck", "lint")
_MOST_PROPOSED = 3


@dataclass(slots=True)
class PreparedRun:
    """A run that may begin, and what there is to tell before."""

    context: RunContext
    recovery_events: list[Event] = field(default_factory=list)
    warnings: list[PlanWarning] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RunEnvironment:
    """What a run takes from around it: the environment, a profile, time, how it is stopped, and
    the folder where the person stands.
    """

    stop: StopRequest
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    profile: str | None = None
    clock: Clock = field(default_factory=SystemClock)
    cwd: Path = field(default_factory=Path.cwd)


@contextmanager
def prepare_run(
    stores: Stores, options: RunOptions, around: RunEnvironment
) -> Iterator[PreparedRun]:
    """Everything that a run needs, held until it has ended.

    CubError, with nothing begun, for what keeps it from that.
    """
    stores = finish_interrupted_change(stores)
    layers = resolve_config(stores.project, around.environ, around.profile)
    settings = resolve_settings(layers.values, options)
    agreed = require_trust(stores, settings)
    named = load_harnesses(settings.harnesses, settings.harness_configs, stores.root)
    missing = find_missing_programs(named, settings, stores.project, around.environ)
    clients = require_available(named, missing)
    tasks = stores.backend.read_tasks()
    require_startable(tasks, stores, options)
    if not (stores.root / GITIGNORE).exists():
        with lock_project(stores.root) as held:
            install_git_files(held)
    folder = RunFolder(stores.root, make_run_id(around.clock.now()))
    create_run_folder(folder)
    # What is left of a run that is killed is known by this.
    environ = {
        **build_environment(settings.hidden_variables, around.environ),
        RUN_MARK_VARIABLE: folder.id,
    }
    with ExitStack() as stack:
        here = None if options.worktree else stores.project.root
        stack.enter_context(hold_run_locks(folder, here))
        stack.enter_context(adopt_orphans())
        stack.enter_context(_remove_if_refused(folder))
        found = recover_killed_runs(stores, environ, around.clock)
        found.events = [mask_event(event, mask_text) for event in found.events]
        try:
            if here:
                found.require_finished(here)
            ground = choose_workspace(stores, settings, folder, environ)
        except CubError as error:  # what was recovered before is told all the same
            error.details += tuple(str(event.get("text", "")) for event in found.events)
            raise
        limits = TimeLimits(settings.timeout, None)
        run = RunContext(
            initial_stores=stores,
            settings=settings,
            folder=folder,
            workspace=ground,
            check_runner=CheckRunner(
                _check_cache(stores.root), ground.folder, environ, limits, around.stop
            ),
            clock=around.clock,
            stop=around.stop,
            budget=Budget(settings.usd, settings.tokens, settings.iterations),
            check_commands=() if settings.checks else find_check_commands(stores.project),
            environ=environ,
            system_prompt=read_system_prompt(stores.project.tree),
            harnesses=clients,
            approved_checks=agreed,
            cwd=around.cwd,
            has_recovered=bool(found.events),
        )
        _save_run_facts(run)
        left_out = [run.make_event("notice", text=one.to_text()) for one in missing]
        yield PreparedRun(
            run, [*found.events, *left_out], [*layers.warnings, *_warn_missing_checks(run)]
        )
        # Not so after an error or a second Ctrl-C: the next run recovers what is half done.
        if run.is_broken:
            return
        clean_up_run(run)
        folder.mark_ended()


@contextmanager
def _remove_if_refused(folder: RunFolder) -> Iterator[None]:
    """A run that is refused leaves nothing behind."""
    try:
        yield
    except CubError:
        if not folder.read_state():
            shutil.rmtree(folder.path, ignore_errors=True)
            shutil.rmtree(folder.state, ignore_errors=True)
        raise


def clean_up_run(context: RunContext) -> None:
    """Let go what only a run at work needs, and its own work tree if all of it is committed."""
    if not isinstance(context.workspace, GitWorkspace):
        return
    release_snapshot(context.workspace.worktree)
    if context.settings.options.worktree:
        remove_run_worktree(context.initial_stores.root, context.workspace.worktree.toplevel)


def _check_cache(root: Path) -> Path:
    """What checks said of files: an agent that could write there would excuse its own failures."""
    return find_project_state(root) / "checks"


def _save_run_facts(context: RunContext) -> None:
    """What others want to know of a run, from its start."""
    facts = {
        "run": context.folder.id,
        "pid": os.getpid(),
        "started": context.timestamp,
        "folder": context.workspace.folder.as_posix(),
        "harnesses": [harness.name for harness in context.harnesses],
        "asked": options_to_json(context.settings.options),
        "ended": False,
    }
    context.folder.write_run_facts(facts)


def options_to_json(options: RunOptions) -> dict[str, object]:
    """What the command line asked for, for `--resume`."""
    return {
        name: getattr(options, name) for name in options.__slots__ if name not in ("trust", "once")
    }


def _warn_missing_checks(context: RunContext) -> Iterator[PlanWarning]:
    settings = context.settings
    if not settings.checks and settings.uses_task_checks and _lacks_checks(context):
        suggestion = _suggest_checks(context.check_commands)
        hint = f"{suggestion}, or use --check; --no-checks is silent about it"
        yield PlanWarning("no check decides whether a task is done", hint=hint)
    if isinstance(context.workspace, FolderWorkspace):
        hint = "`git init` gives a run the means to do so"
        yield PlanWarning(
            "there is no git here: what a failed attempt changes stays, and nothing is committed",
            hint=hint,
        )


def _suggest_checks(loops: Sequence[ProjectCommand]) -> str:
    """How to configure the best of the commands that are known: tests tell most of a change."""
    best = sorted(loops, key=lambda one: _PROPOSED.index(one.purpose))[:_MOST_PROPOSED]
    if not best:
        return "set run.checks"
    return f"`cub config set run.checks {quote(format_yaml([one.shell_line for one in best]))}`"


def _lacks_checks(context: RunContext) -> bool:
    """Whether one of the next tasks brings no check along."""
    found = list_runnable_tasks(
        context.initial_stores.backend.read_tasks(),
        context.current_stores,
        context.settings.options,
    )
    return any(
        not found.tasks.read_record(row.id).get("checks") for row in found.summaries[:_LOOKED_AT]
    )


def read_last_options(root: Path) -> RunOptions | None:
    """What the last run was asked for that was killed, and that nobody has taken up since."""
    for folder in reversed(RunFolder.list_all(root)):
        facts = folder.read_state()
        if facts.get("ended") or is_alive(folder):
            continue
        if isinstance(facts.get("asked"), dict):
            known = {k: v for k, v in facts["asked"].items() if k in RunOptions.__slots__}
            given: dict[str, Any] = {k: tuple(v) if k == "checks" else v for k, v in known.items()}
            return RunOptions(**given)
    return None


_MANY = 5  # files that are named


def choose_workspace(
    stores: Stores, settings: RunSettings, folder: RunFolder, environ: Mapping[str, str]
) -> Workspace:
    """The ground that the settings ask for; CubError if a run can't begin there.

    `environ` is what git's hooks get.
    """
    root = stores.project.root
    index, largest = folder.state / INDEX_FILE, settings.max_file_size
    here = open_git_workspace(
        root, index, environ, stores=_list_committed_stores(stores), largest=largest
    )
    if here is None:
        if settings.options.worktree or settings.branch_template:
            what = "--worktree" if settings.options.worktree else "a branch"
            raise CubError(f"{what} needs git, and there is no repository here")
        return FolderWorkspace(root)
    if not settings.options.worktree:
        _require_clean(here)
    if settings.commits and (who := explain_missing_identity(here.worktree, environ)):
        hint = 'git config user.name "Your Name"; git config user.email you@example.com'
        raise CubError(f"git does not know who commits: {who.splitlines()[-1]}", hint=hint)
    words = {"run": folder.id, "date": folder.id[:8], "epic": settings.options.epic}
    branch = render_branch_name(settings.branch_template, words) if settings.branch_template else ""
    if settings.options.worktree:
        return _open_own_worktree(here, folder, branch or f"cub/{folder.id}", environ, largest)
    now = here.take_snapshot()  # what can't be looked at is refused
    if branch:
        branches.switch_branch(here.worktree.toplevel, branch)
    elif settings.commits and not now.branch:
        raise CubError(
            "HEAD is detached: what is committed here would be on no branch",
            hint="`git switch -c NAME`, or `cub run --branch NAME`",
        )
    return here


def _list_committed_stores(stores: Stores) -> list[str]:
    """The files of tasks and ledger that commits of the project take along, as far as git lets."""
    local = map_local_files(stores.project.config)
    here = stores.root == stores.project.root
    return [name for name in STORE_FILES if here and name not in local]


def _open_own_worktree(
    here: GitWorkspace, folder: RunFolder, branch: str, environ: Mapping[str, str], largest: int
) -> GitWorkspace:
    """A work tree of the run's own, on a branch of its own."""
    top = here.worktree.toplevel
    if not branches.read_head_commit(top):
        hint = "commit something first: `git commit --allow-empty -m start`"
        raise CubError("a work tree needs a commit to begin with", hint=hint)
    place = folder.root / ".cub" / "worktrees" / folder.id
    branches.add_worktree(top, place, branch)
    inner = place / here.folder.relative_to(top).as_posix()
    inner.mkdir(parents=True, exist_ok=True)
    ground = open_git_workspace(inner, folder.state / INDEX_FILE, environ, largest=largest)
    assert ground is not None
    return ground


def _require_clean(ground: GitWorkspace) -> None:
    own = f"{ground.folder.relative_to(ground.worktree.toplevel).as_posix()}/.cub/".removeprefix(
        "./"
    )
    if dirty := [path for path in list_dirty_paths(ground.worktree) if not path.startswith(own)]:
        more = [f"and {len(dirty) - _MANY} more"] if len(dirty) > _MANY else []
        raise CubError(
            "there are changes that are not committed",
            hint="commit or stash them, or work beside them with `cub run --worktree`",
            details=[*dirty[:_MANY], *more],
        )
