"""Define the commands `cub run`, `cub run --dry-run` and `cub run status`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from cub.cli import output
from cub.cli.commands.run.event_lines import format_parked_tasks
from cub.cli.context_options import (
    ConfirmContextExec,
    Debug,
    Exec,
    NoContextExec,
    Profile,
    Trust,
    confirm_commands,
)
from cub.cli.options import require_option_values
from cub.cli.task_stores import open_task_stores
from cub.errors import CubError
from cub.text import append_hint

if TYPE_CHECKING:
    from cub.actions.run.agent_programs import MissingProgram
    from cub.actions.run.run_options import RunOptions, RunSettings
    from cub.actions.tasks.stores import Stores
    from cub.store.task_index import TaskIndex, TaskSummary

_MAX_SHOWN = 20  # tasks
app = typer.Typer(add_completion=False, invoke_without_command=True, no_args_is_help=False)

Once = Annotated[bool, typer.Option("--once", help="Stop after one attempt.")]
Task = Annotated[str, typer.Option("--task", metavar="ID", help="Work on this task only.")]
Epic = Annotated[str, typer.Option("--epic", metavar="ID", help="Work only on tasks of this epic.")]
Label = Annotated[
    str, typer.Option("--label", metavar="WORD", help="Work only on tasks with this label.")
]
Harness = Annotated[
    str,
    typer.Option(
        "--harness",
        metavar="NAME",
        help="Choose the agent: claude, codex, gemini, opencode, aider, pi, "
        "builtin, acp:COMMAND, or a name from `harnesses`. Separate fallbacks with commas. "
        "[default: the first one installed]",
    ),
]
Model = Annotated[str, typer.Option("--model", metavar="NAME", help="Choose the agent's model.")]
Iterations = Annotated[
    int | None, typer.Option("--max-iterations", min=1, metavar="N", help="Stop after N attempts.")
]
Dollars = Annotated[
    float | None,
    typer.Option(
        "--budget-usd", min=0, metavar="USD", help="Stop when the run has cost this much."
    ),
]
Tokens = Annotated[
    int | None,
    typer.Option(
        "--budget-tokens", min=1, metavar="N", help="Stop when the run has used N tokens."
    ),
]
Timeout = Annotated[
    str,
    typer.Option(
        "--timeout",
        metavar="DURATION",
        help="Stop an attempt or a check after DURATION, such as 90s or 30m. [default: 30m]",
    ),
]
Idle = Annotated[
    str,
    typer.Option(
        "--idle-timeout",
        metavar="DURATION",
        help="Stop an agent that prints nothing for DURATION. [default: 15m]",
    ),
]
Checks = Annotated[
    list[str] | None,
    typer.Option(
        "--check", metavar="CMD", help="Run this check instead of run.checks (repeatable)."
    ),
]
NoChecks = Annotated[bool, typer.Option("--no-checks", help="Skip all checks.")]
ExcuseKnownFailures = Annotated[
    bool,
    typer.Option(
        "--excuse-known-failures",
        help="Accept tasks that fix no known failure.",
    ),
]
AllowCheckChanges = Annotated[
    bool,
    typer.Option("--allow-check-changes", help="Accept changes to files that define a check."),
]
Branch = Annotated[
    str,
    typer.Option("--branch", metavar="TEMPLATE", help="Work on this branch, such as cub/{run}."),
]
Worktree = Annotated[bool, typer.Option("--worktree", help="Work in a separate worktree.")]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Show the next task and the settings, without writing anything."
    ),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Resume the last killed run with the same options.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON event per line.")]


@app.callback()
def run(
    context: typer.Context,
    once: Once = False,
    task: Task = "",
    epic: Epic = "",
    label: Label = "",
    harness: Harness = "",
    model: Model = "",
    max_iterations: Iterations = None,
    budget_usd: Dollars = None,
    budget_tokens: Tokens = None,
    timeout: Timeout = "",
    idle_timeout: Idle = "",
    check: Checks = None,
    no_checks: NoChecks = False,
    excuse_known_failures: ExcuseKnownFailures = False,
    allow_check_changes: AllowCheckChanges = False,
    branch: Branch = "",
    worktree: Worktree = False,
    exec_: Exec = None,
    no_context_exec: NoContextExec = False,
    confirm_context_exec: ConfirmContextExec = False,
    debug: Debug = False,
    trust: Trust = False,
    profile: Profile = None,
    dry_run: DryRun = False,
    resume: Resume = False,
    json: Json = False,
) -> None:
    """Run an agent on the ready tasks.

    For each task, cub runs the checks, the agent, and the checks again. If no check newly fails,
    cub commits. If one does, cub saves a patch, restores your files, and retries with the failure
    in the prompt.

    Ctrl-C stops the agent and finishes the records. A second Ctrl-C stops at once.

    Example: cub run --once
    """
    if context.invoked_subcommand:
        return
    from cub.actions.run.run_options import RunOptions, require_consistent

    options = RunOptions(
        once, task, epic, label, harness, model, max_iterations, budget_usd, budget_tokens,
        timeout, idle_timeout, tuple(check or ()), no_checks, excuse_known_failures,
        allow_check_changes, branch, worktree, trust, tuple(exec_ or ()), no_context_exec,
        confirm_context_exec, debug,
    )  # fmt: skip
    require_option_values(context)
    require_consistent(options)
    stores = open_task_stores(context, "cub run")
    options = _resume_options(stores, options) if resume else options
    if dry_run:
        raise typer.Exit(preview_run(stores, options, profile, json=json))
    _start_run(stores, options, profile, json=json)


def _start_run(stores: Stores, options: RunOptions, profile: str | None, *, json: bool) -> None:
    from cub.actions.context_settings import resolve_context_settings
    from cub.actions.tasks.current_attempt import find_current_attempt
    from cub.cli.commands.run.execute import execute_run
    from cub.project.config_layers import resolve_config

    if find_current_attempt(stores.root):
        raise CubError("a run cannot be started inside an attempt")
    if options.confirm_context_exec:  # before Ctrl-C only requests a stop
        values = resolve_config(stores.project, os.environ, profile).values
        confirm_commands(resolve_context_settings(values, options.context).commands)
    raise typer.Exit(execute_run(stores, options, profile, json=json))


@app.command()
def status(context: typer.Context, json: Json = False) -> None:
    """Show running runs, or the last run.

    Example: cub run status
    """
    from cub.cli.commands.run.live_view import show_run_status

    show_run_status(open_task_stores(context, "cub run").root, json=json)


def _resume_options(stores: Stores, options: RunOptions) -> RunOptions:
    """Return the killed run's options, replaced by those that are given now."""
    from cub.actions.run.run_options import merge_options
    from cub.actions.run.run_setup import read_last_options

    previous = read_last_options(stores.root)
    if previous is None:
        output.print_message("No run was killed, so this is a new run.")
        return options
    return merge_options(options, previous)


def preview_run(stores: Stores, options: RunOptions, profile: str | None, *, json: bool) -> int:
    """Print the agents, the checks, and the queue in its order; return the exit code."""
    from cub.actions.run.run_options import resolve_settings
    from cub.actions.run.task_queue import list_runnable_tasks, require_label, require_startable
    from cub.masking import mask_text
    from cub.project.config_layers import resolve_config

    layers = resolve_config(stores.project, os.environ, profile)
    run = _find_obstacles(stores, resolve_settings(layers.values, options))
    tasks = stores.backend.read_tasks()
    require_startable(tasks, stores, options)
    require_label(tasks, options.label)
    queue = list_runnable_tasks(tasks, stores, options)
    checks = list(map(mask_text, run.settings.checks))
    if json:
        tree = {
            "v": 1,
            "root": stores.root.as_posix(),
            "harnesses": run.names,
            "versions": run.versions,
            "choice": run.choice,
            "model_choice": run.model_choice,
            "missing": [{"harness": one.harness, "why": one.why} for one in run.missing],
            "notices": run.warnings,
            "checks": checks,
            "context_commands": [
                {"name": one.name, "command": mask_text(one.command), "origin": one.origin}
                for one in run.settings.context.commands
            ],
            "trusted": run.is_trusted,
            "tasks": [task.id for task in queue],
        }
        output.print_json(tree)
        return 1 if run.refusals else 0
    agents = ", ".join(f"{name} {run.versions.get(name, '')}".strip() for name in run.names)
    choice = f" (auto: {run.choice})" if run.choice else ""
    output.print_paragraph(f"agent: {agents}{choice}")
    if run.model_choice:
        output.print_paragraph(f"model: {run.model_choice}")
    for check in checks:
        source = run.settings.proposed_checks.get(check)
        output.print_paragraph(f"check: {check}" + (f", from {source}" if source else ""))
    for command in run.settings.context.commands:
        text = f"{mask_text(command.command)} ({command.name}, {command.origin})"
        output.print_paragraph(f"context command: {text}")
    _print_queue(stores, queue, tasks, options)
    for program in run.missing if len(run.missing) < len(run.names) else ():
        output.print_message(f"{program.to_text()}.")
    for warning in run.warnings:
        output.print_message(f"{warning}.")
    for refusal in run.refusals:
        output.print_message(f"This run would be refused: {mask_text(refusal)}.")
    return 1 if run.refusals else 0


class _RunPreview(NamedTuple):
    """Hold the settings of a run, its agents, and why it would be refused."""

    settings: RunSettings
    names: list[str]
    versions: dict[str, str]
    choice: str
    model_choice: str
    warnings: list[str]
    missing: Sequence[MissingProgram]
    refusals: list[str]
    is_trusted: bool


def _find_obstacles(stores: Stores, settings: RunSettings) -> _RunPreview:
    from cub.actions.doctor.run_problems import diagnose_run
    from cub.actions.run.agent_programs import (
        describe_model_choice,
        list_agent_warnings,
        read_agent_versions,
    )
    from cub.actions.run.checkout_links import require_separate_checkout
    from cub.actions.tasks.current_attempt import build_environment
    from cub.git.worktree import require_repository
    from cub.harness.harness_registry import load_harnesses

    chosen = load_harnesses(settings.harnesses, settings.harness_configs, stores.root, os.environ)
    require_repository(stores.project.root)
    diagnosis = diagnose_run(stores, settings, chosen, os.environ)
    settings = diagnosis.settings
    stopping = [finding for finding in diagnosis.findings if finding.stops_run]
    refusals = [append_hint(one.message, one.fix) for one in stopping]
    environ = build_environment(settings.hidden_variables, os.environ)
    if settings.options.worktree:
        refusals.append(_find_refusal(lambda: require_separate_checkout(stores, settings, environ)))
    harnesses = diagnosis.harnesses
    versions = read_agent_versions(harnesses, stores.project, environ)
    return _RunPreview(
        settings,
        [harness.name for harness in harnesses],
        versions,
        diagnosis.choice,
        describe_model_choice(harnesses, settings, stores.project, os.environ),
        list_agent_warnings(harnesses, versions, settings, stores.project, environ),
        diagnosis.missing,
        list(filter(None, refusals)),
        is_trusted=all(one.code != "D304" for one in stopping),
    )


def _print_queue(
    stores: Stores, queue: Sequence[TaskSummary], tasks: TaskIndex, options: RunOptions
) -> None:
    from cub.actions.run.idle_run import suggest_tasks
    from cub.actions.run.run_summary import describe_parked_tasks
    from cub.actions.run.task_queue import list_parked_tasks
    from cub.masking import mask_text
    from cub.store.events import mask_event

    for task in queue[:_MAX_SHOWN]:
        title = str(tasks.read_record(task.id).get("title"))
        output.print_paragraph(f"task: {task.id}: {mask_text(title)}")
    if len(queue) > _MAX_SHOWN:
        output.print_paragraph(f"and {len(queue) - _MAX_SHOWN} more")
    if not queue:
        output.print_paragraph("Nothing is ready.")
        parked = [task.id for task in list_parked_tasks(tasks, options)]
        if not parked:
            output.print_paragraph(f"hint: {suggest_tasks(tasks)}")
        else:
            left = mask_event(describe_parked_tasks(stores, tasks, parked), mask_text)
            for line in format_parked_tasks(left["tasks"], left["n"]):
                output.print_paragraph(line)


def _find_refusal(require: Callable[[], object]) -> str:
    """Return why a run would be refused, and what to do; "" if it would not."""
    try:
        require()
    except CubError as error:
        return append_hint(error.message, error.hint)
    return ""
