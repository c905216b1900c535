"""`cub status`: one table of what is whose, and how it stands."""

from __future__ import annotations

from typing import Annotated

import typer

from cub.cli import output
from cub.cli.options import Options
from cub.cli.shapes import status_tree

app = typer.Typer(add_completion=False)

Json = Annotated[bool, typer.Option("--json", help="Print the table as JSON.")]
_HEADER = ("file", "owner", "state", "tokens", "read by")


@app.command()
def status(context: typer.Context, json: Json = False) -> None:
    """Show every file: whose it is, how it stands, what it costs, who reads it.

    Example: cub status --json
    """
    from cub.actions.report import status as rows_of
    from cub.actions.view import view
    from cub.files import pending
    from cub.project.project import Project, find_root

    options: Options = context.obj
    project = Project.load(find_root(options.directory))
    seen = view(project)
    rows = rows_of(seen)
    warnings = (*pending(project.root), *project.config.warnings)
    if json:
        output.as_json(status_tree(rows, warnings, project.root))
        return
    output.warn(warnings)
    output.table(
        _HEADER,
        [
            (
                row.path,
                row.owner,
                row.state,
                "" if row.tokens is None else f"{row.tokens:,}",
                ", ".join(row.clients),
            )
            for row in rows
        ],
    )
    if not seen.initialized:
        output.talk("There is no cub in this project yet: run `cub init`.")
