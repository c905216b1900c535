"""Run `cub task`: assemble its commands."""

from __future__ import annotations

from collections.abc import Callable

import typer

from cub.cli.commands.task.edit import add, dep, edit
from cub.cli.commands.task.import_export import export, import_
from cub.cli.commands.task.list_tasks import list_, ready, stats
from cub.cli.commands.task.show import show
from cub.cli.commands.task.transitions import claim, close, delete, park, reopen

_COMMANDS: tuple[Callable[..., None], ...] = (
    add,
    edit,
    list_,
    ready,
    show,
    stats,
    claim,
    close,
    reopen,
    park,
    delete,
    import_,
    export,
)
# Names that other tools have.
_HIDDEN_COMMANDS: dict[str, Callable[..., None]] = {"start": claim, "done": close}


app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def task() -> None:
    """Manage the task list.

    Tasks are in .cub/tasks.jsonl, one per line. Any unique part of an ID works.

    Example: cub task ready
    """


app.add_typer(dep, name="dep")
for command in _COMMANDS:
    app.command(name=command.__name__.rstrip("_"))(command)
for name, command in _HIDDEN_COMMANDS.items():
    app.command(name=name, hidden=True)(command)
