"""Print what a run would do, for `cub run --dry-run`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from cub.actions.command_options import RunOptions
from cub.actions.doctor.run_problems import RunDiagnosis, diagnose_run
from cub.actions.run.agent_programs import RunAgents, read_agent_versions
from cub.actions.run.idle_run import suggest_tasks
from cub.actions.run.place_choice import choose_place
from cub.actions.run.run_options import RunSettings, resolve_settings
from cub.actions.run.run_setup import make_new_tasks
from cub.actions.run.run_summary import describe_parked_tasks
from cub.actions.run.task_queue import (
    list_parked_tasks,
    list_runnable_tasks,
    require_label,
    require_startable,
)
from cub.actions.tasks.current_attempt import build_environment
from cub.actions.tasks.stores import Stores
from cub.cli import output
from cub.cli.commands.run.event_lines import format_agents, format_parked_tasks
from cub.cli.json_output import JsonObject
from cub.errors import CubError
from cub.git.worktree import require_repository
from cub.harness.harness_registry import load_harnesses
from cub.masking import mask_text
from cub.project.config_layers import resolve_config
from cub.store.events import mask_event
from cub.store.task_index import TaskIndex, TaskSummary
from cub.text import append_hint

_MAX_SHOWN = 20  # tasks


def preview_run(stores: Stores, options: RunOptions, *, json: bool) -> int:
    """Print the agents, the checks, and the queue in its order; return the exit code."""
    layers = resolve_config(stores.project, os.environ, options.profile)
    tasks = stores.backend.read_tasks()
    require_startable(tasks, stores, options)
    options, new_tasks = make_new_tasks(stores, tasks, options)
    run = _find_obstacles(stores, tasks, resolve_settings(layers.values, options))
    require_label(tasks, options.label)
    queue = list_runnable_tasks(tasks, stores, options)
    if json:
        fresh = [mask_text(record["title"]) for record in new_tasks]
        known = [task.id for task in queue if task.id not in options.added]
        tree = {"v": 1, "root": stores.root.as_posix(), **_preview_to_json(run)}
        output.print_json({**tree, "new_tasks": fresh, "tasks": known})
        return 1 if run.refusals else 0
    _print_settings(run)
    _print_queue(stores, queue, tasks, options)
    missing = run.diagnosis.missing
    for program in missing if len(missing) < len(run.names) else ():
        output.print_message(f"{program.to_text()}.")
    for warning in run.warnings:
        output.print_message(f"{warning}.")
    for refusal in run.refusals:
        output.print_message(f"This run would be refused: {mask_text(refusal)}.")
    return 1 if run.refusals else 0


def _preview_to_json(run: _RunPreview) -> JsonObject:
    return {
        "harnesses": run.names,
        "versions": run.versions,
        "choice": run.diagnosis.choice,
        "model_choice": run.model_choice,
        "missing": [{"harness": one.harness, "why": one.why} for one in run.diagnosis.missing],
        "notices": run.warnings,
        "checks": list(map(mask_text, run.diagnosis.settings.checks)),
        "context_commands": [
            {"name": one.name, "command": mask_text(one.command), "origin": one.origin}
            for one in run.diagnosis.settings.context.commands
        ],
        "trusted": run.is_trusted,
    }


def _print_settings(run: _RunPreview) -> None:
    settings = run.diagnosis.settings
    agents = format_agents(run.names, run.versions, run.diagnosis.choice)
    output.print_paragraph(f"agent: {agents}")
    if run.model_choice:
        output.print_paragraph(f"model: {run.model_choice}")
    for check in settings.checks:
        source = settings.proposed_checks.get(check)
        output.print_paragraph(
            f"check: {mask_text(check)}" + (f", from {source}" if source else "")
        )
    for command in settings.context.commands:
        text = f"{mask_text(command.command)} ({command.name}, {command.origin})"
        output.print_paragraph(f"context command: {text}")


class _RunPreview(NamedTuple):
    """Hold the settings and the agents of a run, and why it would be refused."""

    diagnosis: RunDiagnosis
    versions: dict[str, str]
    model_choice: str
    warnings: list[str]
    refusals: list[str]

    @property
    def names(self) -> list[str]:
        """Return the names of the agents."""
        return [harness.name for harness in self.diagnosis.harnesses]

    @property
    def is_trusted(self) -> bool:
        """Return whether no command that is not trusted stops the run."""
        return not any(one.stops_run and one.code == "D304" for one in self.diagnosis.findings)


def _find_obstacles(stores: Stores, tasks: TaskIndex, settings: RunSettings) -> _RunPreview:
    chosen = load_harnesses(settings.harnesses, settings.harness_configs, stores.root, os.environ)
    require_repository(stores.project.root)
    diagnosis = diagnose_run(stores, tasks, settings, chosen, os.environ)
    settings = diagnosis.settings
    stopping = (finding for finding in diagnosis.findings if finding.stops_run)
    refusals = [append_hint(one.message, one.fix) for one in stopping]
    environ = build_environment(settings.hidden_variables, os.environ)
    try:
        choose_place(stores, settings, environ)
    except CubError as error:
        refusals.append(append_hint(error.message, error.hint))
    agents = RunAgents(diagnosis.harnesses, settings, stores.project, environ)
    versions = read_agent_versions(agents.harnesses, stores.project, environ)
    return _RunPreview(
        diagnosis,
        versions,
        agents.describe_model_choice(),
        agents.list_warnings(versions),
        list(dict.fromkeys(refusals)),
    )


def _print_queue(
    stores: Stores, queue: Sequence[TaskSummary], tasks: TaskIndex, options: RunOptions
) -> None:
    for task in queue[:_MAX_SHOWN]:
        title = str(tasks.read_record(task.id).get("title"))
        label = "would add" if task.id in options.added else f"task: {task.id}"
        output.print_paragraph(f"{label}: {mask_text(title)}")
    if len(queue) > _MAX_SHOWN:
        output.print_paragraph(f"and {len(queue) - _MAX_SHOWN} more")
    if not queue:
        output.print_paragraph("Nothing is ready.")
        parked = [task.id for task in list_parked_tasks(tasks, options)]
        if not parked:
            output.print_paragraph(f"hint: {suggest_tasks(tasks)}")
        else:
            left = mask_event(describe_parked_tasks(stores, tasks, parked))
            for line in format_parked_tasks(left["tasks"], left["n"]):
                output.print_paragraph(line)
