"""`cub help`: the same as `--help` of a command."""

from __future__ import annotations

from typing import Annotated

import typer
from typer.core import TyperGroup

from cub.cli import output
from cub.errors import UsageError

app = typer.Typer(add_completion=False)

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="COMMAND", help="The command, such as `task add`.", show_default=False),
]


@app.command(name="help")
def help_(context: typer.Context, names: Names = None) -> None:
    """Show how a command is used; without COMMAND, what commands there are.

    Example: cub help task add
    """
    found = context.find_root()
    for name in names or ():
        if not isinstance(found.command, TyperGroup):
            path = found.command_path
            raise UsageError(f"`{path}` has no commands", hint=f"`{path} --help` shows its options")
        _, command, _ = found.command.resolve_command(found, [name])
        assert command is not None
        settings = command.context_settings
        found = command.context_class(command, info_name=name, parent=found, **settings)
    output.line(found.get_help())
