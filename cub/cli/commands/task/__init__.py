"""Run `cub task`: assemble its commands."""

from __future__ import annotations

import typer

from cub.cli.commands.task import edit, import_export, list_tasks, transitions

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def task() -> None:
    """Keep tasks: add and list them, claim and close them, let them wait for each other.

    Tasks are in .cub/tasks.jsonl, one a line. An ID may be cut to what is unique of it.

    Example: cub task ready
    """


edit.register_edit_commands(app)
list_tasks.register_list_commands(app)
transitions.register_transition_commands(app)
import_export.register_import_export_commands(app)
app.command()(list_tasks.doctor)
