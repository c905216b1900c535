"""`cub update`: refresh what is cub's, or check that it is fresh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.carry_out import Show, carry_out
from cub.cli.options import Diff, DryRun, Edited, EditedChoice, Json, Options

if TYPE_CHECKING:
    from cub.edit.plan import Plan
    from cub.project.project import Project

app = typer.Typer(add_completion=False)

Check = Annotated[
    bool, typer.Option("--check", help="Exit 1 if anything would change; write nothing.")
]


@app.command()
def update(
    context: typer.Context,
    check: Check = False,
    diff: Diff = False,
    dry_run: DryRun = False,
    edited: Edited = EditedChoice.REFUSE,
    json: Json = False,
) -> None:
    """Refresh the managed sections and cub's own files. It never asks.

    Example: cub update --check
    """
    from cub.project.project import find_root

    options: Options = context.obj
    show = Show(dry_run, diff, json, check)
    plan = carry_out(find_root(options.directory), lambda p: make_plan(p, edited), show)
    if not show.json and not show.diff:
        close(plan, show)
    if check and plan.shared:
        raise typer.Exit(1)


def make_plan(project: Project, edited: EditedChoice = EditedChoice.REFUSE) -> Plan:
    """The plan of `cub update`."""
    from cub.actions.sync import plan_update

    return plan_update(project, edited=edited.value)


def close(plan: Plan, show: Show) -> None:
    """The last line: how it stands."""
    count = len(plan.shared)
    files = f"{count} file" + ("" if count == 1 else "s")
    if not count:
        output.talk("Nothing to refresh." if plan.warnings else "Everything is up to date.")
    elif show.only:
        output.talk(f"{files} would change; run `cub update`.")
    else:
        output.talk(f"Updated {files}.")
