"""Offer ways out of broken markers and merge conflicts, and apply one: `cub repair`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.json_output import repair_to_json
from cub.cli.options import find_root, get_directory, resolve_path_argument
from cub.cli.parameters import make_option
from cub.cli.plan_command import PlanDisplay, run_plan_command
from cub.errors import CubError
from cub.files.journal import warn_pending_change
from cub.project.project import Project

if TYPE_CHECKING:
    from cub.actions.repair import NumberedChoice, RepairReport

app = typer.Typer(add_completion=False)

Files = Annotated[list[str] | None, typer.Argument(metavar="FILE", help="Check only these files.")]
Apply = Annotated[int | None, make_option("--apply N", "Apply choice N.", min=1)]
Json = Annotated[
    bool,
    make_option(
        "--json", "Print the choices, or the plan of --apply, as JSON, without writing anything."
    ),
]


@app.command()
def repair(
    context: typer.Context, files: Files = None, apply: Apply = None, json: Json = False
) -> None:
    """List and apply repairs of damaged managed sections.

    Finds broken markers and merge conflicts. No repair loses any of your lines. Exits 1 while
    something is broken; --apply with --json only previews, and exits 0.

    Example: cub repair --apply 1
    """
    root, directory = find_root(context), get_directory(context)
    paths = tuple(resolve_path_argument(root, directory, path) for path in files or ())
    if apply is None:
        broken = show_choices(root, paths, json=json)
    else:
        broken = apply_choice(root, paths, apply, json=json)
    if broken:
        raise typer.Exit(1)


def show_choices(root: Path, paths: tuple[str, ...], *, json: bool) -> bool:
    """Show every choice with its diff; whether anything is broken."""
    report = _make_report(root, paths).filter_paths(paths)
    report = replace(report, warnings=(*warn_pending_change(root), *report.warnings))
    if json:
        output.print_json(repair_to_json(report, root))
        return bool(report.broken_files)
    output.print_warnings(report.warnings)
    for number, file in enumerate(report.broken_files):
        if number:
            output.print_line()
        _print_choices(file.fault, [choice for choice in report.choices if choice.file == file])
    if report.choices:
        output.print_message("Nothing was changed. Run `cub repair --apply N` to apply choice N.")
    if not report.broken_files:
        output.print_message("No broken sections.")
    return bool(report.broken_files)


def apply_choice(root: Path, paths: tuple[str, ...], number: int, *, json: bool) -> bool:
    """Carry out one choice and say what comes next; whether anything is still broken."""
    from cub.actions.repair import describe_repair_next_step, plan_repair

    plan = run_plan_command(
        root, lambda project: plan_repair(project, number, paths), PlanDisplay(json=json)
    )
    if json:
        return False
    report = _make_report(root, ())
    for file in report.broken_files:
        output.print_message(f"Still broken: {file.fault!s}")
    if report.broken_files:
        output.print_message("Run `cub repair` again: the remaining choices have new numbers.")
    else:
        output.print_warnings(report.warnings)
        next_step = describe_repair_next_step(Project.load(root), plan)
        output.print_message(f"No broken sections remain. {next_step}".rstrip())
    return bool(report.broken_files)


def _make_report(root: Path, paths: tuple[str, ...]) -> RepairReport:
    from cub.actions.repair import make_repair_report

    return make_repair_report(Project.load(root), paths)


def _print_choices(fault: CubError, choices: Sequence[NumberedChoice]) -> None:
    output.print_heading(str(fault))
    for place in fault.details:
        output.print_paragraph(f"  {place}")
    if not choices:
        output.print_paragraph(f"  {fault.hint}", "")
    for choice in choices:
        output.print_line()
        output.print_heading(f"{choice.n}. {choice.edit.reason}")
        output.print_paragraph(f"   {choice.why}", "")
        output.print_diff(choice.edit.format_diff())
