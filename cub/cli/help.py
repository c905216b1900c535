"""`cub help`: the same as `--help` of a command."""

from __future__ import annotations

from typing import Annotated, cast

import typer
from typer.core import TyperGroup

from cub.cli import output
from cub.cli.help_text import help_lines
from cub.cli.streams import help_width
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
    print_help(cast("typer.Context", found))


def print_help(context: typer.Context) -> None:
    """Print the help of a command, as wide as the terminal."""
    for line in help_lines(context.command, context, help_width()):
        output.line(line)
