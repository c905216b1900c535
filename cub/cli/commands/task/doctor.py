"""`cub task doctor`: what is wrong with the tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.task_stores import Json, open_task_stores
from cub.cli.terminal import add_style

if TYPE_CHECKING:
    from cub.actions.tasks.task_findings import Finding

Fix = Annotated[
    bool,
    typer.Option("--fix", help="Write doubled tasks as one, and give tasks of lapsed leases back."),
]


def register_doctor_command(app: typer.Typer) -> None:
    """The command of this module."""
    app.command()(doctor)


def doctor(context: typer.Context, fix: Fix = False, json: Json = False) -> None:
    """Look for circles, missing tasks, doubled and rejected lines, lapsed leases; exit 1 if any.

    Example: cub task doctor --fix
    """
    from cub.actions.tasks.doctor import fix_problems, list_findings

    stores = open_task_stores(context)
    if fix:
        mended = fix_problems(stores)
        output.print_warnings(mended.warnings)
        for record in mended.tasks:
            output.print_message(f"Gave {record['id']} back.")
    found = list_findings(stores)
    if json:
        output.print_json({"v": 1, "root": stores.root.as_posix(), "findings": _tree(found)})
    else:
        _tell(found)
    if found:
        raise typer.Exit(1)


def _tell(found: list[Finding]) -> None:
    for finding in found:
        line = f":{finding.line}" if finding.line else ""
        where = f"{add_style(finding.kind, fg='yellow')}{line}: "
        output.print_paragraph(where + finding.message)
        if finding.hint:
            output.print_paragraph(f"  {finding.hint}", "")
    if not found:
        output.print_message("Nothing is wrong.")


def _tree(found: list[Finding]) -> list[dict[str, object]]:
    return [finding._asdict() for finding in found]
