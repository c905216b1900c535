"""`cub task delete`: tasks that should not be there."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.task.opened import Ids, Json, opened, tell
from cub.cli.task.status import Note
from cub.errors import CubError, UsageError

if TYPE_CHECKING:
    from cub.actions.tasks.stores import Stores

Recursive = Annotated[bool, typer.Option("--recursive", "-r", help="Their parts, too.")]
Force = Annotated[
    bool, typer.Option("--force", "-f", help="Although tasks wait for them: they no longer do.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")]


def register(app: typer.Typer) -> None:
    """The command of this module."""
    app.command()(delete)


def delete(
    context: typer.Context,
    keys: Ids,
    recursive: Recursive = False,
    force: Force = False,
    message: Note = "",
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Delete tasks that should never have been there; close as wontfix what won't be done.

    They are hidden everywhere, their ids are not given again, and no merge brings them back;
    `cub task reopen` does.

    Example: cub task delete k3f9a --yes
    """
    from cub.actions.tasks.delete import delete as hide
    from cub.actions.tasks.inside import inside

    stores = opened(context)
    if here := inside(stores.root):
        here.refuse(keys, "delete")
    if not yes:
        keys, recursive = _confirmed(stores, keys, recursive, force), False
    outcome = hide(stores, keys, message, recursive=recursive, force=force)
    tell(stores, outcome, "Deleted", json=json)
    if stores.backend.keeps_deleted and not json:
        output.talk("`cub task reopen ID` brings a deleted task back.")


def _confirmed(stores: Stores, keys: list[str], recursive: bool, force: bool) -> list[str]:
    """The ids of what is to go, if the person, who has seen them, says so."""
    from cub.actions.tasks.delete import deletable

    tasks = stores.backend.read()
    chosen = deletable(tasks, keys, recursive=recursive, force=force)
    if not sys.stdin.isatty():
        what = "nobody is there to ask whether to delete " + ", ".join(chosen)
        raise UsageError(what, hint="add --yes")
    for key in chosen:
        output.talk(f"{key}: {tasks.record(key).get('title', '')}")
    which = "this task" if len(chosen) == 1 else f"these {len(chosen):,} tasks"
    good = "" if stores.backend.keeps_deleted else " for good"
    if not output.confirm(f"Delete {which}{good}?"):
        raise CubError("nothing was deleted")
    return chosen
