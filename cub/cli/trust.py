"""`cub trust`: agree to the commands that a project brings along, as they are now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.shapes import Tree
from cub.cli.task.opened import opened
from cub.errors import CubError

if TYPE_CHECKING:
    from cub.actions.run.trust import Executed
    from cub.actions.tasks.stores import Stores

app = typer.Typer(add_completion=False)

Show = Annotated[bool, typer.Option("--show", help="List the commands; agree to nothing.")]
Revoke = Annotated[bool, typer.Option("--revoke", help="Take it back.")]
Json = Annotated[
    bool, typer.Option("--json", help="Print the commands as JSON, each with whether you agree.")
]


@app.command()
def trust(
    context: typer.Context, show: Show = False, revoke: Revoke = False, json: Json = False
) -> None:
    """Agree to what this project has `cub run` execute: checks, clients, and their like.

    The commands are in .cub/config.yaml and in tasks. When they change, `cub run` asks again.

    Example: cub trust --show
    """
    from cub.actions.run.trust import agree, disagree, executed
    from cub.actions.tasks.inside import inside

    stores = opened(context)
    if not show and inside(stores.root):
        raise CubError("an attempt can't agree for the person who started the run")
    if revoke:
        disagree(stores)
        found = None
    else:
        found = executed(stores) if show else agree(stores)
    if json:
        output.as_json(_tree(stores))
    elif found is None:
        output.line("Nothing that this project brings along is trusted now.")
    else:
        _tell(found, show=show)


def _tell(found: Executed, *, show: bool) -> None:
    for line in found.lines():
        output.paragraph(line)
    if not found.lines():
        output.line("This project brings nothing along that runs.")
    elif not show:
        output.talk("Trusted, until it changes.")


def _tree(stores: Stores) -> Tree:
    """The commands as they are now, and what the person has agreed to."""
    from json import loads

    from cub.actions.run.trust import report_trust

    found = report_trust(stores)
    config = [
        {"key": key, "value": loads(value), "trusted": found.is_config_trusted}
        for key, value in found.config.items()
    ]
    return {
        "v": 1,
        "root": stores.root.as_posix(),
        "trusted": found.trusted,
        "config": config,
        "checks": [check._asdict() for check in found.checks],
    }
