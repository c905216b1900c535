"""Remove cub from a project, byte for byte: `cub remove`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cub.cli import output
from cub.cli.options import Edited, find_root
from cub.cli.parameters import make_option, take_options
from cub.cli.plan_command import PlanDisplay, run_plan_command

app = typer.Typer(add_completion=False)

Purge = Annotated[
    bool, make_option("--purge", "Also delete all of .cub/, with constitution, config, and tasks.")
]
Yes = Annotated[bool, make_option("--yes -y", "Don't ask before --purge deletes files.")]


@app.command()
@take_options
def remove(
    context: typer.Context,
    show: PlanDisplay,
    purge: Purge = False,
    yes: Yes = False,
    edited: Edited = "refuse",
) -> None:
    """Remove the managed sections and cub's unedited files.

    Constitution, config, tasks, and ledger stay, unless you pass --purge.

    Example: cub remove --dry-run
    """
    from cub.actions.remove import plan_remove
    from cub.actions.tasks.current_attempt import require_no_run

    root = find_root(context)
    if purge and not show.is_read_only:  # a run needs the stores
        require_no_run(root)
    question = "Delete these files permanently?"
    confirm = partial(output.require_confirmation, "--purge", question)
    plan = run_plan_command(
        root,
        partial(plan_remove, purge=purge, edited_policy=edited),
        show,
        confirm=confirm if purge and not yes else None,
    )
    if plan.is_empty and not show.json:
        output.print_message("Nothing to remove: cub has no files here.")
    elif not show.is_read_only:
        print_result(root)


def print_result(root: Path) -> None:
    """Print the last line: what remains."""
    remainder = (
        "the files that remain in .cub/ are yours"
        if (root / ".cub").exists()
        else "no files of cub remain"
    )
    output.print_message(f"Done: {remainder}.")
