"""`cub task claim`, `close`, `reopen` and `park`: how a task stands."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.task.opened import Id, Ids, Json, opened, tell

if TYPE_CHECKING:
    from cub.actions.tasks.stores import Stores

Note = Annotated[str, typer.Option("--message", "-m", metavar="TEXT", help="A note: why.")]


class Reason(StrEnum):
    """Why a task is closed."""

    DONE = "done"
    NO_CHANGE = "no_change"
    WONTFIX = "wontfix"
    DUPLICATE = "duplicate"


def register(app: typer.Typer) -> None:
    """The commands of this module. What people type who know other tools works, too."""
    for command in (claim, close, reopen, park):
        app.command()(command)
    app.command(name="start", hidden=True)(claim)
    app.command(name="done", hidden=True)(close)


def claim(
    context: typer.Context,
    key: Id,
    name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Who takes it, in place of you.")
    ] = None,
    json: Json = False,
) -> None:
    """Take a task, so that nobody else does; after a day without a word it is free again.

    `cub task start` is the same.

    Example: cub task claim k3f9a --as codex
    """
    from cub.actions.tasks.inside import inside
    from cub.actions.tasks.status import claim as take

    stores = opened(context, name)
    if here := inside(stores.root):
        here.require_own(stores, [key], "claim")
        _answer(stores, here.task, f"{here.task} is yours already.", json=json)
        return
    tell(stores, take(stores, key), "Claimed", json=json)


def close(
    context: typer.Context,
    keys: Ids,
    reason: Annotated[
        Reason | None, typer.Option("--reason", "-r", help="Without it: done.")
    ] = None,
    message: Note = "",
    json: Json = False,
) -> None:
    """Close tasks. An epic closes with its last task, if all of them are done.

    What waits for a task goes on if it is done or needed no change. `cub task done` is the same.

    Example: cub task close k3f9a -m "The oven was cold"
    """
    from cub.actions.tasks.inside import inside
    from cub.actions.tasks.status import close as end

    stores = opened(context)
    if here := inside(stores.root):
        here.require_own(stores, keys, "close")
        _answer(stores, here.task, here.ask(reason.value if reason else "done", message), json=json)
        return
    outcome = end(stores, keys, reason.value if reason else None, message)
    tell(stores, outcome, "Closed", json=json)


def reopen(context: typer.Context, keys: Ids, json: Json = False) -> None:
    """Give tasks back to everybody: closed, parked, claimed or deleted ones.

    Example: cub task reopen k3f9a
    """
    from cub.actions.tasks.inside import inside
    from cub.actions.tasks.status import reopen as again

    stores = opened(context)
    if here := inside(stores.root):
        here.refuse(keys, "reopen")
    tell(stores, again(stores, keys), "Reopened", json=json)


def park(context: typer.Context, keys: Ids, message: Note = "", json: Json = False) -> None:
    """Set tasks aside until somebody reopens them.

    Example: cub task park k3f9a -m "Waits for the new oven"
    """
    from cub.actions.tasks.inside import inside
    from cub.actions.tasks.status import park as aside

    stores = opened(context)
    if here := inside(stores.root):
        here.refuse(keys, "park")
    tell(stores, aside(stores, keys, message), "Parked", json=json)


def _answer(stores: Stores, key: str, sentence: str, *, json: bool) -> None:
    """What an agent is told of its own task, which stays as it is until the run decides."""
    if not json:
        output.line(sentence)
        return
    from cub.actions.tasks.stores import told
    from cub.cli.task.shapes import print_tasks

    output.talk(sentence)
    tasks = stores.backend.read()
    print_tasks([tasks.record(key)], stores.root, told(tasks))
