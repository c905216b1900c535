"""Update what is cub's, or check that it is current: `cub update`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cub.cli import output
from cub.cli.json_output import plan_to_json
from cub.cli.many_projects import (
    ProjectResult,
    for_each_project,
    format_error_cell,
    projects_to_json,
)
from cub.cli.options import Edited, Prune, get_directory
from cub.cli.parameters import make_option, take_options
from cub.cli.plan_command import (
    PlanDisplay,
    ProgressBar,
    defer_cache_writes,
    run_plan_command,
)
from cub.edit.plan import Plan
from cub.errors import CubError, UsageError
from cub.project.project import find_project_root

app = typer.Typer(add_completion=False)

Projects = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="DIR",
        help="The project to update, by default the current one. With --check, any "
        "number of projects.",
    ),
]
Check = Annotated[
    bool, make_option("--check", "Exit 1 if anything would change, without writing anything.")
]


@app.command()
@take_options
def update(
    context: typer.Context,
    dirs: Projects = None,
    check: Check = False,
    edited: Edited = "refuse",
    prune: Prune = False,
    *,
    show: PlanDisplay,
) -> None:
    """Update the managed sections and cub's files.

    Example: cub update --check
    """
    from cub.actions.init_update import plan_update

    directory = get_directory(context)
    show = replace(show, check=check)

    make_plan = partial(plan_update, edited_policy=edited, prune=prune, check=check)
    if dirs and check and not show.diff:
        _check_many(for_each_project(directory, dirs, make_plan), json=show.json)
        return
    folder = directory / _require_single(dirs) if dirs else directory
    root = find_project_root(folder)
    with ProgressBar() as bar, defer_cache_writes(show) as schedule_write:
        timed = partial(make_plan, progress=bar, schedule_write=schedule_write)
        plan = run_plan_command(root, timed, show)
    if not (show.json or show.diff or show.dry_run):
        print_result(plan, show)
    if check and plan.shared_edits:
        raise typer.Exit(1)


def _require_single(dirs: list[Path]) -> Path:
    """Return the one project to update; several can only be checked."""
    if len(dirs) > 1:
        hint = "name one DIR, or use --check without --diff"
        raise UsageError("several projects need --check", hint=hint)
    return dirs[0]


def _check_many(results: list[ProjectResult[Plan]], *, json: bool) -> None:
    """Print a row for each project; exit code 1 if one would change or can't be checked."""
    if json:
        output.print_json(projects_to_json(results, plan_to_json))
    else:
        rows = [_make_row(result) for result in results]
        output.print_table(("project", "state", "files"), rows, prose=("state", "files"))
    if any(isinstance(one.value, CubError) or one.value.shared_edits for one in results):
        raise typer.Exit(1)


def _make_row(result: ProjectResult[Plan]) -> tuple[str, str, str]:
    if isinstance(result.value, CubError):
        return result.name, format_error_cell(result.value), ""
    paths = [edit.path for edit in result.value.shared_edits]
    count = f"{len(paths)} would change" if paths else "up to date"
    return result.name, count, ", ".join(paths)


def print_result(plan: Plan, show: PlanDisplay) -> None:
    """Print the last line: the result."""
    count = len(plan.shared_edits)
    files = f"{count} file" + ("" if count == 1 else "s")
    if not count:
        output.print_message("Nothing to update." if plan.warnings else "Already up to date.")
    elif show.is_read_only:
        output.print_message(f"{files} would change. Run `cub update`.")
    else:
        output.print_message(f"Updated {files}.")
