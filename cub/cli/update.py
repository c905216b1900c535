"""`cub update`: refresh what is cub's, or check that it is fresh."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.carry_out import Show, afterwards, carry_out
from cub.cli.many import Outcome, each, many_tree, told
from cub.cli.options import Diff, DryRun, Edited, EditedChoice, Json, Options, Prune
from cub.cli.progress import Bar
from cub.cli.shapes import plan_tree
from cub.errors import UsageError

if TYPE_CHECKING:
    from cub.edit.plan import Plan
    from cub.files.private import Keep
    from cub.project.project import Project
    from cub.repomap.progress import Progress

app = typer.Typer(add_completion=False)

Projects = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="DIR",
        help="The project to refresh, this one by default; with --check any number of them, in one "
        "table.",
        show_default=False,
        readable=False,  # one that may not be read is a row, too
    ),
]
Check = Annotated[
    bool, typer.Option("--check", help="Exit 1 if anything would change; write nothing.")
]


@app.command()
def update(
    context: typer.Context,
    dirs: Projects = None,
    check: Check = False,
    diff: Diff = False,
    dry_run: DryRun = False,
    edited: Edited = EditedChoice.REFUSE,
    prune: Prune = False,
    json: Json = False,
) -> None:
    """Refresh the managed sections and cub's own files. It never asks.

    Example: cub update --check
    """
    from cub.project.project import find_root

    options: Options = context.obj
    show = Show(dry_run, diff, json, check)
    if dirs and check and not diff:
        found = each(options.directory, dirs, lambda p: make_plan(p, edited, prune, check=True))
        _check_many(found, json=json)
        return
    here = options.directory / _only(dirs) if dirs else options.directory
    with Bar() as bar, afterwards() as keep:
        plan = carry_out(
            find_root(here),
            lambda p: make_plan(p, edited, prune, check=check, progress=bar, keep=keep),
            show,
        )
    if not show.json and not show.diff:
        close(plan, show)
    if check and plan.shared:
        raise typer.Exit(1)


def _only(dirs: list[Path]) -> Path:
    """One project; several are only checked: each is updated where its diff can be reviewed."""
    if len(dirs) > 1:
        hint = "name one DIR, or use --check without --diff"
        raise UsageError("several projects are only checked, in one table", hint=hint)
    return dirs[0]


def _check_many(outcomes: list[Outcome[Plan]], *, json: bool) -> None:
    """One table, a row for each project; exit code 1 if one would change or can't be checked."""
    if json:
        output.as_json(many_tree(outcomes, plan_tree))
    else:
        output.table(
            ("project", "state", "files"),
            [_row(found) for found in outcomes],
            prose=("state", "files"),
        )
    if any(found.error or (found.value and found.value.shared) for found in outcomes):
        raise typer.Exit(1)


def _row(found: Outcome[Plan]) -> tuple[str, str, str]:
    if found.value is None:
        return found.name, told(found.error) if found.error else "", ""
    paths = [edit.path for edit in found.value.shared]
    count = f"{len(paths)} would change" if paths else "up to date"
    return found.name, count, ", ".join(paths)


def make_plan(
    project: Project,
    edited: EditedChoice = EditedChoice.REFUSE,
    prune: bool = False,
    *,
    check: bool = False,
    progress: Progress | None = None,
    keep: Keep | None = None,
) -> Plan:
    """The plan of `cub update`."""
    from cub.actions.sync import plan_update
    from cub.files.private import at_once
    from cub.repomap.progress import no_progress

    return plan_update(
        project,
        edited=edited.value,
        prune=prune,
        check=check,
        progress=progress or no_progress,
        keep=keep or at_once,
    )


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
