"""`cub trust`: agree to the commands that a project brings along, as they are now."""

from __future__ import annotations

from typing import Annotated

import typer

from cub.cli import output
from cub.cli.task.opened import opened
from cub.cli.visible import visible
from cub.errors import CubError

app = typer.Typer(add_completion=False)

Show = Annotated[bool, typer.Option("--show", help="List the commands; agree to nothing.")]
Revoke = Annotated[bool, typer.Option("--revoke", help="Take it back.")]


@app.command()
def trust(context: typer.Context, show: Show = False, revoke: Revoke = False) -> None:
    """Agree to what this project has `cub run` execute: checks, clients, and their like.

    The commands are in .cub/config.yaml and in tasks. When they change, `cub run` asks again.

    Example: cub trust --show
    """
    from cub.actions.run.trust import agree, disagree, executed
    from cub.actions.tasks.inside import inside

    if not show and inside():
        raise CubError("an attempt can't agree for the person who started the run")
    stores = opened(context)
    if revoke:
        disagree(stores)
        output.line("Nothing that this project brings along is trusted now.")
        return
    found = executed(stores) if show else agree(stores)
    for line in found.lines():
        output.paragraph(visible(line))
    if not found.lines():
        output.line("This project brings nothing along that runs.")
    elif not show:
        output.talk("Trusted, until it changes.")
