"""Run `cub task`: assemble its commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

from cub.cli.commands.task.edit import add, dep, edit
from cub.cli.commands.task.import_export import export, import_
from cub.cli.commands.task.list_tasks import list_, ready, stats
from cub.cli.commands.task.show import show
from cub.cli.commands.task.transitions import (
    claim_task,
    close_tasks,
    delete_tasks,
    park_tasks,
    reopen_tasks,
)
from cub.errors import UsageError

_COMMANDS: dict[str, Callable[..., None]] = {
    "add": add,
    "edit": edit,
    "list": list_,
    "ready": ready,
    "show": show,
    "stats": stats,
    "claim": claim_task,
    "close": close_tasks,
    "reopen": reopen_tasks,
    "park": park_tasks,
    "delete": delete_tasks,
    "import": import_,
    "export": export,
}
# Names that other tools have.
_HIDDEN_COMMANDS: dict[str, Callable[..., None]] = {"start": claim_task, "done": close_tasks}


class _TaskCommands(TyperGroup):
    """Name the command that replaces `cub task doctor`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name, the command and the other arguments."""
        if args[:1] == ["doctor"]:
            raise UsageError("unknown command 'doctor'", hint="run `cub doctor`")
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=_TaskCommands, add_completion=False, no_args_is_help=True)


@app.callback()
def task() -> None:
    """Manage the task list.

    Tasks are in .cub/tasks.jsonl, one per line. Any unique part of an ID works.

    Example: cub task ready
    """


app.add_typer(dep, name="dep")
for name, command in _COMMANDS.items():
    app.command(name=name)(command)
for name, command in _HIDDEN_COMMANDS.items():
    app.command(name=name, hidden=True)(command)
