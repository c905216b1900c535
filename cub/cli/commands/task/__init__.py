"""Run `cub task`: assemble its commands."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from cub.cli.commands.task import edit, import_export, list_tasks, transitions
from cub.errors import UsageError


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


edit.register_edit_commands(app)
list_tasks.register_list_commands(app)
transitions.register_transition_commands(app)
import_export.register_import_export_commands(app)
