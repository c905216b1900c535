"""`cub repair`: the ways out of broken markers and merge conflicts, and one of them on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.carry_out import Show, carry_out
from cub.cli.options import Options, inside
from cub.cli.shapes import repair_tree
from cub.errors import CubError

if TYPE_CHECKING:
    from cub.actions.repair.repair import Findings, Numbered

app = typer.Typer(add_completion=False)

Files = Annotated[
    list[str] | None, typer.Argument(metavar="FILE", help="Show only what concerns these files.")
]
Apply = Annotated[
    int | None, typer.Option("--apply", metavar="N", min=1, help="Carry out choice N.")
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print the choices, or the plan of --apply, as JSON; write nothing."
    ),
]


@app.command()
def repair(
    context: typer.Context, files: Files = None, apply: Apply = None, json: Json = False
) -> None:
    """Offer ways to repair broken markers, and merge conflicts in a section.

    None of them loses a line of yours. It exits with 1 as long as something is broken; with
    --apply and --json, which only show a plan, with 0.

    Example: cub repair --apply 1
    """
    from cub.project.project import find_root

    options: Options = context.obj
    root = find_root(options.directory)
    paths = tuple(inside(root, options.directory, path) for path in files or ())
    if apply is None:
        broken = offer(root, paths, json=json)
    else:
        broken = carry_out_choice(root, paths, apply, json=json)
    if broken:
        raise typer.Exit(1)


def offer(root: Path, paths: tuple[str, ...], *, json: bool) -> bool:
    """Show every choice with its diff; whether anything is broken."""
    from cub.files import pending

    found = _look(root, paths).of(paths)
    found = replace(found, warnings=(*pending(root), *found.warnings))
    if json:
        output.as_json(repair_tree(found, root))
        return bool(found.broken)
    output.warn(found.warnings)
    for number, file in enumerate(found.broken):
        if number:
            output.line()
        _show(file.fault, [choice for choice in found.choices if choice.file == file])
    if found.choices:
        output.talk("Nothing is changed yet: `cub repair --apply N` carries out choice N.")
    if not found.broken:
        output.talk("Nothing is broken.")
    return bool(found.broken)


def carry_out_choice(root: Path, paths: tuple[str, ...], number: int, *, json: bool) -> bool:
    """Carry out one choice and say what comes next; whether anything is still broken."""
    from cub.actions.repair.repair import next_step, plan_repair
    from cub.project.project import Project

    plan = carry_out(root, lambda project: plan_repair(project, number, paths), Show(json=json))
    if json:
        return False
    found = _look(root, ())
    for file in found.broken:
        output.talk(f"Still broken: {file.fault!s}")
    if found.broken:
        output.talk("Run `cub repair` again: what is left is numbered anew.")
    else:
        output.warn(found.warnings)
        then = next_step(Project.load(root), plan)
        output.talk(f"Nothing is broken any more. {then}".rstrip())
    return bool(found.broken)


def _look(root: Path, paths: tuple[str, ...]) -> Findings:
    from cub.actions.repair.repair import find_broken
    from cub.project.project import Project

    return find_broken(Project.load(root), paths)


def _show(fault: CubError, choices: Sequence[Numbered]) -> None:
    """What is wrong with a file, every marker's place, and its choices."""
    output.heading(str(fault))
    for place in fault.details:
        output.paragraph(f"  {place}")
    if not choices:
        output.paragraph(f"  {fault.hint}", "")
    for choice in choices:
        output.line()
        output.heading(f"{choice.n}. {choice.title}")
        output.paragraph(f"   {choice.why}", "")
        output.diff(choice.edit.diff())
