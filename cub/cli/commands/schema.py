"""Print the JSON Schema of what `--json` prints: `cub schema`."""

from __future__ import annotations

from typing import Annotated

import typer

from cub.cli import output

app = typer.Typer(add_completion=False)

Name = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME", help="A schema, or a command with --json, such as `task list`."),
]


@app.command()
def schema(name: Name = None) -> None:
    """Print the JSON Schema of a command's --json output.

    Without NAME, cub lists all schemas. Each schema is self-contained.

    Example: cub schema task list
    """
    from cub.actions.schemas import bundle_schema, find_schema, list_schemas

    if name:
        output.print_json(bundle_schema(find_schema(" ".join(name))))
        return
    rows = [(one.name, one.title) for one in list_schemas()]
    output.print_table(("schema", "describes"), rows)
