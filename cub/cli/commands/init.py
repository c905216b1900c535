"""Put managed sections and cub's own files into a project: `cub init`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    from cub.project.project import Project

app = typer.Typer(add_completion=False)

Paths = Annotated[
    list[str] | None,
    typer.Argument(metavar="PATH", help="Nested instruction files or folders to manage too."),
]
Targets = Annotated[
    str | None, typer.Option("--targets", metavar="FILE,…", help="The instruction files to manage.")
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
    from cub.project.project import find_project_root

    options: GlobalOptions = context.obj
    root = find_project_root(options.directory)
    directory = options.directory
    nested_paths = tuple(resolve_path_argument(root, directory, path) for path in paths or ())
    target_paths = _parse_targets(targets) if targets is not None else None
    show = PlanDisplay(dry_run, diff, json)
    agent_names = _require_agents(agents or ())
    with ProgressBar() as bar, defer_cache_writes() as schedule_write:

        def make_plan(project: Project) -> Plan:
            return make_init_plan(
                project,
                edited,
                paths=nested_paths,
                targets=target_paths,
                agents=agent_names,
                prune=prune,
                progress=bar,
                schedule_write=schedule_write,
            )

        plan = run_plan_command(root, make_plan, show)
    if not show.is_read_only:
        print_result(plan, root)


def make_init_plan(
    project: Project, edited_policy: EditedPolicyChoice = EditedPolicyChoice.REFUSE, **options: Any
) -> Plan:
    """Make the plan of `cub init`; `options` are those of `plan_init`."""
    from cub.actions.init_update import plan_init

    return plan_init(project, edited_policy=edited_policy.value, **options)


def print_result(plan: Plan, root: Path) -> None:
    """Print the last line: what to do next; git is named only if it is available."""
    from cub.git import is_git_usable

    if plan.is_empty:
        output.print_message("Nothing to do: everything is in place.")
    elif is_git_usable(root):
        output.print_message(
            "Done. Review it with git, then commit; `cub update` refreshes what is cub's."
        )
    else:
        output.print_message("Done. `cub update` refreshes what is cub's.")


def _require_agents(agents: Iterable[str]) -> tuple[str, ...]:
    from cub.project.agent_settings import find_agent_settings

    return tuple(find_agent_settings(name).name for name in agents)


def _parse_targets(targets: str) -> tuple[str, ...]:
    from cub.errors import UsageError
    from cub.project.targets import find_target_problem, normalize_target

    names_given = (name.strip() for name in targets.split(","))
    names = tuple(dict.fromkeys(normalize_target(name) for name in names_given if name))
    if not names:
        raise UsageError("--targets names no file")
    for name in names:
        if problem := find_target_problem(name):
            raise UsageError(f"--targets: {name} {problem}")
    return names
