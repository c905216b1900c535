"""Run `cub task`: assemble its commands."""

from __future__ import annotations

import typer

from cub.cli.commands.task import edit, import_export, list_tasks, transitions

app = typer.Typer(add_completion=False, no_args_is_help=True)


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
app.command()(list_tasks.doctor)
