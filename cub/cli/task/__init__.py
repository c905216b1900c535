"""`cub task`: what there is to do, who does it, and how it ends."""

from __future__ import annotations

import typer

from cub.cli.task import add, delete, doctor, exchange, show, status

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def task() -> None:
    """Keep tasks: add and list them, claim and close them, let them wait for each other.

    Tasks are in .cub/tasks.jsonl, one a line. An ID may be cut to what is unique of it.

    Example: cub task ready
    """


for part in (add, show, status, delete, exchange, doctor):
    part.register(app)
app.add_typer(add.dep, name="dep")
