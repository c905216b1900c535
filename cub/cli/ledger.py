"""`cub ledger`: what happened, told for people and for programs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.streams import flush
from cub.cli.task.opened import Id, Json, opened

if TYPE_CHECKING:
    from cub.store.events import Event

app = typer.Typer(add_completion=False, no_args_is_help=True)

_EVERY = 0.3  # seconds between two looks at the file

Limit = Annotated[int, typer.Option("--limit", "-n", min=1, metavar="N", help="At most N of them.")]


@app.callback()
def ledger() -> None:
    """Tell what happened: every attempt at a task, and what became of it.

    The ledger is .cub/ledger.jsonl, one event a line, and only ever added to.

    Example: cub ledger show k3f9a
    """


@app.command()
def show(context: typer.Context, key: Id, json: Json = False) -> None:
    """Tell the story of a task: when, who, how long, what it cost, how it ended.

    Example: cub ledger show k3f9a
    """
    from cub.actions.history import story
    from cub.cli.ledger_lines import story_lines

    stores = opened(context)
    found = story(stores, key)
    if json:
        tree = {"v": 1, "root": stores.root.as_posix(), "task": found.id, "events": []}
        output.as_json_rows(tree, "events", found.events)
        return
    first, *rest = story_lines(found)
    output.heading(first)
    for line in rest:
        output.paragraph(line)


@app.command(name="list")
def list_(context: typer.Context, limit: Limit = 20, json: Json = False) -> None:
    """List the last attempts at all tasks, the newest first.

    Example: cub ledger list --limit 5
    """
    from cub.actions.history import newest
    from cub.cli.ledger_lines import ATTEMPT_COLUMNS, PROSE, attempt_cells

    stores = opened(context)
    found = newest(stores, limit)
    if json:
        tree = {"v": 1, "root": stores.root.as_posix(), "events": []}
        output.as_json_rows(tree, "events", found)
    elif found:
        output.table(ATTEMPT_COLUMNS, [attempt_cells(event) for event in found], prose=PROSE)
    else:
        output.talk("There was no attempt yet.")


@app.command()
def stats(context: typer.Context, json: Json = False) -> None:
    """Count all attempts: how many succeeded, what they cost, how the others failed.

    Example: cub ledger stats --json
    """
    from cub.actions.history import stats as counted
    from cub.cli.ledger_lines import PROSE, STATS_COLUMNS, stats_cells, stats_tree

    stores = opened(context)
    found = counted(stores.ledger.events())
    if json:
        output.as_json({"v": 1, "root": stores.root.as_posix(), **stats_tree(found)})
        return
    output.table(STATS_COLUMNS, stats_cells(found), prose=PROSE)
    rows = [(name, f"{count:,}") for name, count in sorted(found.outcomes.items())]
    if rows:
        output.line()
        output.table(("outcome", "attempts"), rows)


@app.command()
def tail(
    context: typer.Context,
    count: Annotated[
        int, typer.Option("--lines", "-n", min=0, metavar="N", help="Begin with the last N.")
    ] = 10,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with each event as it comes.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print an event a line, as JSON.")] = False,
) -> None:
    """Print the last events, and with -f the next ones as they come.

    Example: cub ledger tail -f
    """
    stores = opened(context)
    for event in stores.ledger.follow(count):
        if event is not None:
            _print(event, json=json)
        elif not follow:
            return
        else:
            flush()
            time.sleep(_EVERY)


@app.command()
def archive(
    context: typer.Context,
    before: Annotated[
        str, typer.Option("--before", metavar="DATE", help="For example 2026-01-31.")
    ],
) -> None:
    """Move older events to .cub/ledger-archive.jsonl; what open tasks need stays.

    Example: cub ledger archive --before 2026-01-31
    """
    from cub.actions.history import archive as move

    moved, kept = move(opened(context), before)
    output.line(f"Moved {moved:,} event{'' if moved == 1 else 's'} to the archive.")
    if kept:
        few = (
            "1 older event stays: its task is"
            if kept == 1
            else f"{kept:,} older events stay: their tasks are"
        )
        output.talk(f"{few} not closed.")


def _print(event: Event, *, json: bool) -> None:
    from cub.cli.ledger_lines import event_line

    if json:
        output.as_json_line(event)
    else:
        output.paragraph(event_line(event))
