"""Before a run: what it needs is looked at first, so that nothing is begun that can't go on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any

from cub.actions.own_files import GITIGNORE
from cub.actions.run.budget import Budget
from cub.actions.run.checking import Checker
from cub.actions.run.choose_ground import ground_of, remove_worktree
from cub.actions.run.client import RUN_MARK, environment
from cub.actions.run.folders import (
    RunFolder,
    new_run,
    open_folder,
)
from cub.actions.run.ground import GitGround
from cub.actions.run.locks import at_work, is_alive
from cub.actions.run.plain_ground import PlainGround
from cub.actions.run.programs import find_missing, require_one
from cub.actions.run.queue import queue, require_startable
from cub.actions.run.recovery import recover
from cub.actions.run.run import Clock, RealClock, Run
from cub.actions.run.settings import Asked, run_settings
from cub.actions.run.trust import require_trust
from cub.actions.task_prompt import find_feedback_loops, system_prompt
from cub.actions.tasks.stores import Stores, end_interrupted, install_git_files
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.files import exclusive
from cub.files.signed import project_state
from cub.harness.choose import harnesses
from cub.layout.words import written
from cub.masking import masked
from cub.processes.command import Limits
from cub.processes.orphans import adopt_orphans
from cub.processes.stop import Stop
from cub.project.effective import effective
from cub.repomap.stack.facts import Command, Purpose
from cub.store.events import Event, masked_event

_LOOKED_AT = 20  # tasks
_PROPOSED: tuple[Purpose, ...] = ("test", "typecheck", "lint")
_MOST_PROPOSED = 3


@dataclass(slots=True)
class Opened:
    """A run that may begin, and what there is to tell before."""

    run: Run
    events: list[Event] = field(default_factory=list)
    warnings: list[PlanWarning] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a run takes from around it: the environment, a profile, time, how it is stopped, and
    the folder where the person stands.
    """

    stop: Stop
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    profile: str | None = None
    clock: Clock = field(default_factory=RealClock)
    cwd: Path = field(default_factory=Path.cwd)


@contextmanager
def opened(stores: Stores, asked: Asked, around: Surroundings) -> Iterator[Opened]:
    """Everything that a run needs, held until it has ended.

    CubError, with nothing begun, for what keeps it from that.
    """
    stores = end_interrupted(stores)
    layers = effective(stores.project, around.environ, around.profile)
    settings = run_settings(layers.values, asked)
    agreed = require_trust(stores, settings)
    named = harnesses(settings.harnesses, settings.configured, stores.root)
    missing = find_missing(named, settings, stores.project, around.environ)
    clients = require_one(named, missing)
    tasks = stores.backend.read()
    require_startable(tasks, stores, asked)
    if not (stores.root / GITIGNORE).exists():
        with exclusive(stores.root) as held:
            install_git_files(held)
    folder = RunFolder(stores.root, new_run(around.clock.now()))
    open_folder(folder)
    # What is left of a run that is killed is known by this.
    environ = {**environment(settings.hide_env, around.environ), RUN_MARK: folder.id}
    with ExitStack() as stack:
        here = None if asked.worktree else stores.project.root
        stack.enter_context(at_work(folder, here))
        stack.enter_context(adopt_orphans())
        stack.enter_context(_swept(folder))
        found = recover(stores, environ, around.clock)
        found.events = [masked_event(event, masked) for event in found.events]
        try:
            if here:
                found.require_concluded(here)
            ground = ground_of(stores, settings, folder, environ)
        except CubError as error:  # what was recovered before is told all the same
            error.details += tuple(str(event.get("text", "")) for event in found.events)
            raise
        limits = Limits(settings.timeout, None)
        run = Run(
            opened=stores,
            settings=settings,
            folder=folder,
            ground=ground,
            checker=Checker(_check_cache(stores.root), ground.folder, environ, limits, around.stop),
            clock=around.clock,
            stop=around.stop,
            budget=Budget(settings.usd, settings.tokens, settings.iterations),
            loops=() if settings.checks else find_feedback_loops(stores.project),
            environ=environ,
            system=system_prompt(stores.project.tree),
            harnesses=clients,
            agreed=agreed,
            cwd=around.cwd,
            has_recovered=bool(found.events),
        )
        _keep(run)
        left_out = [run.event("notice", text=one.told()) for one in missing]
        yield Opened(run, [*found.events, *left_out], [*layers.warnings, *_hints(run)])
        # Not so after an error or a second Ctrl-C: the next run recovers what is half done.
        if run.is_broken:
            return
        leave(run)
        folder.end()


@contextmanager
def _swept(folder: RunFolder) -> Iterator[None]:
    """A run that is refused leaves nothing behind."""
    try:
        yield
    except CubError:
        if not folder.read():
            shutil.rmtree(folder.path, ignore_errors=True)
            shutil.rmtree(folder.state, ignore_errors=True)
        raise


def leave(run: Run) -> None:
    """Let go what only a run at work needs, and its own work tree if all of it is committed."""
    if not isinstance(run.ground, GitGround):
        return
    run.ground.checkout.release()
    if run.settings.asked.worktree:
        remove_worktree(run.opened.root, run.ground.checkout.top)


def _check_cache(root: Path) -> Path:
    """What checks said of files: an agent that could write there would excuse its own failures."""
    return project_state(root) / "checks"


def _keep(run: Run) -> None:
    """What others want to know of a run, from its start."""
    facts = {
        "run": run.folder.id,
        "pid": os.getpid(),
        "started": run.now,
        "folder": run.ground.folder.as_posix(),
        "harnesses": [harness.name for harness in run.harnesses],
        "asked": asked_json(run.settings.asked),
        "ended": False,
    }
    run.folder.write(facts)


def asked_json(asked: Asked) -> dict[str, object]:
    """What the command line asked for, for `--resume`."""
    return {name: getattr(asked, name) for name in asked.__slots__ if name not in ("trust", "once")}


def _hints(run: Run) -> Iterator[PlanWarning]:
    settings = run.settings
    if not settings.checks and settings.own_checks and _lacks_checks(run):
        hint = f"{_proposal(run.loops)}, or use --check; --no-checks is silent about it"
        yield PlanWarning("no check decides whether a task is done", hint=hint)
    if isinstance(run.ground, PlainGround):
        hint = "`git init` gives a run the means to do so"
        yield PlanWarning(
            "there is no git here: what a failed attempt changes stays, and nothing is committed",
            hint=hint,
        )


def _proposal(loops: Sequence[Command]) -> str:
    """How to configure the best of the commands that are known: tests tell most of a change."""
    best = sorted(loops, key=lambda one: _PROPOSED.index(one.purpose))[:_MOST_PROPOSED]
    if not best:
        return "set run.checks"
    return f"`cub config set run.checks {quote(written([one.line for one in best]))}`"


def _lacks_checks(run: Run) -> bool:
    """Whether one of the next tasks brings no check along."""
    found = queue(run.opened.backend.read(), run.stores, run.settings.asked)
    return any(not found.tasks.record(row.id).get("checks") for row in found.rows[:_LOOKED_AT])


def last_asked(root: Path) -> Asked | None:
    """What the last run was asked for that was killed, and that nobody has taken up since."""
    for folder in reversed(RunFolder.all(root)):
        facts = folder.read()
        if facts.get("ended") or is_alive(folder):
            continue
        if isinstance(facts.get("asked"), dict):
            known = {k: v for k, v in facts["asked"].items() if k in Asked.__slots__}
            given: dict[str, Any] = {k: tuple(v) if k == "checks" else v for k, v in known.items()}
            return Asked(**given)
    return None
