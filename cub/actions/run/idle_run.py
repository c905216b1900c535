"""Find out that a run has nothing to do, before it asks for an agent or writes a file."""

from __future__ import annotations

from cub.actions.command_options import RunOptions
from cub.actions.run.agent_programs import RunAgents, require_available
from cub.actions.run.run_context import Budget
from cub.actions.run.run_folders import RunFolder, make_run_id
from cub.actions.run.run_options import resolve_settings
from cub.actions.run.run_setup import RunEnvironment
from cub.actions.run.run_summary import NOTHING_READY, describe_parked_tasks
from cub.actions.run.task_queue import (
    list_parked_tasks,
    list_runnable_tasks,
    require_label,
    require_startable,
)
from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.files.journal import warn_pending_change
from cub.harness.harness_registry import load_harnesses
from cub.project.config_layers import resolve_config
from cub.store.events import RUN_END, Event, mask_event
from cub.store.task_index import TaskIndex
from cub.store.timestamps import format_timestamp
from cub.text import append_hint


def find_idle_end(stores: Stores, options: RunOptions, environment: RunEnvironment) -> Event | None:
    """Return the end of a run that has no task, also without an agent; None for another run.

    Nothing is written. A run that adds a task always has one.
    """
    if options.texts:
        return None
    runs = RunFolder.list_all(stores.root)
    if warn_pending_change(stores.root) or not all(folder.has_ended for folder in runs):
        return None
    tasks = stores.backend.read_tasks()
    require_startable(tasks, stores, options)
    if list_runnable_tasks(tasks, stores, options):
        return None
    require_label(tasks, options.label)
    now = environment.clock.now()
    end = _summarize_idle_run(stores, tasks, options, make_run_id(now), format_timestamp(now))
    if missing := _explain_missing_agent(stores, options, environment):
        end["no_agent"] = missing
    return mask_event(end)


def _explain_missing_agent(stores: Stores, options: RunOptions, environment: RunEnvironment) -> str:
    """Return why no agent could be started, and what to do; "" if one could."""
    environ = environment.environ
    layers = resolve_config(stores.project, environ, options.profile)
    settings = resolve_settings(layers.values, options)
    chosen = load_harnesses(settings.harnesses, settings.harness_configs, stores.root, environ)
    agents = RunAgents(chosen.harnesses, settings, stores.project, environ)
    try:
        require_available(chosen.harnesses, agents.find_unusable())
    except CubError as error:
        return append_hint(error.message, error.hint)
    return ""


def _summarize_idle_run(
    stores: Stores, tasks: TaskIndex, options: RunOptions, run: str, timestamp: str
) -> Event:
    """Return run_end of a run that finds no ready task: it never starts, and records nothing."""
    parked = [task.id for task in list_parked_tasks(tasks, options)]
    hint = "" if parked else suggest_tasks(tasks)
    return {
        "ev": RUN_END,
        "ts": timestamp,
        "run": run,
        "end": NOTHING_READY,
        "ok": True,
        "ready": 0,
        "tasks": {},
        **({"left_parked": describe_parked_tasks(stores, tasks, parked)} if parked else {}),
        **Budget().to_json(),
        **({"hint": hint} if hint else {}),
    }


def suggest_tasks(tasks: TaskIndex) -> str:
    """Return what to do if no task is ready: add one, or look what the open ones wait for."""
    if any(not task.is_closed and not task.is_epic for task in tasks):
        return "run `cub task list` to see what the open tasks wait for"
    return 'to add a task, run `cub task add "…"`'
