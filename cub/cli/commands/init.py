"""Run `cub init`: add managed sections and cub's own files to a project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.options import (
    Diff,
    DryRun,
    Edited,
    EditedPolicyChoice,
    GlobalOptions,
    Json,
    Prune,
    resolve_path_argument,
)
from cub.cli.plan_command import PlanDisplay, defer_cache_writes, run_plan_command
from cub.cli.progress import ProgressBar

if TYPE_CHECKING:
    from cub.edit.plan import Plan

app = typer.Typer(add_completion=False)

Paths = Annotated[
    list[str] | None,
    typer.Argument(metavar="PATH", help="Nested instruction files or folders to manage too."),
]
Targets = Annotated[
    str | None,
    typer.Option("--targets", metavar="FILE,…", help="The instruction files to manage."),
]
Agents = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        metavar="NAME",
        help="Also let this agent read the instructions, through its settings file: "
        "gemini, aider, opencode. Repeatable.",
    ),
]


@app.command()
def init(
    context: typer.Context,
    paths: Paths = None,
    targets: Targets = None,
    agents: Agents = None,
    edited: Edited = EditedPolicyChoice.REFUSE,
    prune: Prune = False,
    dry_run: DryRun = False,
    diff: Diff = False,
    json: Json = False,
) -> None:
    """Add cub to this project: managed sections, constitution, run loop.

    Your own text in AGENTS.md and CLAUDE.md keeps every byte. Run it again at any time.

    Example: cub init packages/api --diff
    """
    from cub.actions.init_update import InitOptions, plan_init
    from cub.project.agent_settings import find_agent_settings
    from cub.project.project import find_project_root

    global_options: GlobalOptions = context.obj
    folder = global_options.directory
    root, show = find_project_root(folder), PlanDisplay(dry_run, diff, json)
    with ProgressBar() as bar, defer_cache_writes() as schedule_write:
        options = InitOptions(
            paths=[resolve_path_argument(root, folder, path) for path in paths or ()],
            targets=None if targets is None else _split_targets(targets),
            agents=[find_agent_settings(name).name for name in agents or ()],
            edited_policy=edited.value,
            prune=prune,
            progress=bar,
            schedule_write=schedule_write,
        )
        plan = run_plan_command(root, lambda project: plan_init(project, options), show)
    if not show.is_read_only:
        print_result(plan, root)


def print_result(plan: Plan, root: Path) -> None:
    """Print what to do next; mention git only where it is usable."""
    from cub.git import is_git_usable

    if plan.is_empty:
        output.print_message("Nothing to do: everything is in place.")
    elif is_git_usable(root):
        output.print_message(
            "Done. Review it with git, then commit; `cub update` refreshes what is cub's."
        )
    else:
        output.print_message("Done. `cub update` refreshes what is cub's.")


def _split_targets(targets: str) -> tuple[str, ...]:
    from cub.errors import UsageError
    from cub.project.targets import find_target_problem, normalize_target

    parts = (part.strip() for part in targets.split(","))
    names = tuple(dict.fromkeys(normalize_target(part) for part in parts if part))
    if not names:
        raise UsageError("--targets names no file")
    for name in names:
        if problem := find_target_problem(name):
            raise UsageError(f"--targets: {name} {problem}")
    return names
