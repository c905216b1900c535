"""`cub task doctor`: what is wrong with the tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.colors import style
from cub.cli.task.opened import Json, opened

if TYPE_CHECKING:
    from cub.actions.tasks.findings import Finding

Fix = Annotated[
    bool,
    typer.Option("--fix", help="Write doubled tasks as one, and give tasks of lapsed leases back."),
]


def register(app: typer.Typer) -> None:
    """The command of this module."""
    app.command()(doctor)


def doctor(context: typer.Context, fix: Fix = False, json: Json = False) -> None:
    """Look for circles, missing tasks, doubled and rejected lines, lapsed leases; exit 1 if any.

    Example: cub task doctor --fix
    """
    from cub.actions.tasks.doctor import examine, mend

    stores = opened(context)
    if fix:
        mended = mend(stores)
        output.warn(mended.warnings)
        for record in mended.tasks:
            output.talk(f"Gave {record['id']} back.")
    found = examine(stores)
    if json:
        output.as_json({"v": 1, "root": stores.root.as_posix(), "findings": _tree(found)})
    else:
        _tell(found)
    if found:
        raise typer.Exit(1)


def _tell(found: list[Finding]) -> None:
    for finding in found:
        line = f":{finding.line}" if finding.line else ""
        where = f"{style(finding.kind, fg='yellow')}{line}: "
        output.paragraph(where + finding.message)
        if finding.hint:
            output.paragraph(f"  {finding.hint}", "")
    if not found:
        output.talk("Nothing is wrong.")


def _tree(found: list[Finding]) -> list[dict[str, object]]:
    return [finding._asdict() for finding in found]
