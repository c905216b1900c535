"""`cub task add`, `edit` and `dep`: what a task says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.task.opened import Id, Json, file_bytes, opened, tell
from cub.errors import UsageError

if TYPE_CHECKING:
    from cub.actions.tasks.stores import Stores

Type = Annotated[
    str | None, typer.Option("--type", "-t", help="task, feature, bug, epic or chore.")
]
Priority = Annotated[
    str | None, typer.Option("--priority", "-p", metavar="N", help="0 to 4; 0 comes first.")
]
Parent = Annotated[
    str | None, typer.Option("--parent", metavar="ID", help="The epic that it is a part of.")
]
DependsOn = Annotated[
    list[str] | None,
    typer.Option("--depends-on", metavar="ID", help="What must be done before it; repeatable."),
]
Labels = Annotated[
    list[str] | None, typer.Option("--label", "-l", metavar="WORD", help="A label; repeatable.")
]
Accept = Annotated[
    list[str] | None,
    typer.Option("--accept", metavar="TEXT", help="An acceptance criterion; repeatable."),
]
Checks = Annotated[
    list[str] | None,
    typer.Option("--check", metavar="COMMAND", help="A check of this task alone; repeatable."),
]
Description = Annotated[
    str | None,
    typer.Option("--description", "-d", metavar="TEXT", help="What it is about; - reads stdin."),
]
File = Annotated[
    Path | None, typer.Option("--file", "-F", metavar="FILE", help="The description from a file.")
]

dep = typer.Typer(add_completion=False, no_args_is_help=True)


@dep.callback()
def _dep() -> None:
    """Let a task wait for others, or no longer.

    Example: cub task dep add k3f9a 7q2bx
    """


def register(app: typer.Typer) -> None:
    """The commands of this module."""
    app.command()(add)
    app.command()(edit)


def add(
    context: typer.Context,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="One line.")],
    type: Type = None,  # noqa: A002 - as the option is called
    priority: Priority = None,
    parent: Parent = None,
    depends_on: DependsOn = None,
    label: Labels = None,
    accept: Accept = None,
    check: Checks = None,
    description: Description = None,
    file: File = None,
    json: Json = False,
) -> None:
    """Add a task and print its id.

    Example: cub task add "Bake the bread" -p 1 --label oven
    """
    from cub.actions.tasks.add import add as put
    from cub.actions.tasks.draft import Draft

    text = _text(context, description, file)
    fields = (type, priority, parent, depends_on, label, accept, check, text)
    stores = opened(context)
    outcome = put(stores, Draft(title, *fields))
    _agree(stores, check)
    if json:
        tell(stores, outcome, "", json=True)
        return
    output.warn(outcome.warnings)
    output.line(outcome.tasks[0]["id"])
    for line in outcome.said:
        output.talk(line)


def edit(
    context: typer.Context,
    key: Id,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="Its new title.")
    ] = None,
    type: Type = None,  # noqa: A002 - as the option is called
    priority: Priority = None,
    parent: Annotated[
        str | None, typer.Option("--parent", metavar="ID", help='Its epic; "" for none.')
    ] = None,
    label: Labels = None,
    unlabel: Annotated[
        list[str] | None, typer.Option("--unlabel", metavar="WORD", help="Take a label away.")
    ] = None,
    accept: Accept = None,
    check: Checks = None,
    description: Description = None,
    file: File = None,
    note: Annotated[
        str | None, typer.Option("--note", "-m", metavar="TEXT", help="Add to its notes.")
    ] = None,
    json: Json = False,
) -> None:
    """Change what is given; without an option, open the task in $EDITOR.

    Labels are added; acceptance criteria and checks take the place of the old ones.

    Example: cub task edit k3f9a --priority 0 --label oven
    """
    from cub.actions.tasks.add import edit as change
    from cub.actions.tasks.draft import Draft

    text = _text(context, description, file)
    fields = (title, type, priority, parent, None, label, accept, check, text)
    stores = opened(context)
    if all(field is None for field in (*fields, unlabel, note)):
        from cub.cli.task.editor import edit_in_editor

        outcome = edit_in_editor(stores, key)
    else:
        outcome = change(stores, key, Draft(*fields), unlabel=unlabel or (), note=note)
        _agree(stores, check)
    tell(stores, outcome, "Changed", json=json)


Others = Annotated[list[str], typer.Argument(metavar="OTHER...", help="What it waits for.")]


@dep.command(name="add")
def dep_add(context: typer.Context, key: Id, others: Others, json: Json = False) -> None:
    """Let a task wait for others; a circle is refused.

    Example: cub task dep add k3f9a 7q2bx
    """
    _depend(context, key, others, remove=False, json=json)


@dep.command(name="remove")
def dep_remove(context: typer.Context, key: Id, others: Others, json: Json = False) -> None:
    """Let a task wait for others no longer.

    Example: cub task dep remove k3f9a 7q2bx
    """
    _depend(context, key, others, remove=True, json=json)


def _depend(
    context: typer.Context, key: str, others: list[str], *, remove: bool, json: bool
) -> None:
    from cub.actions.tasks.add import depend

    stores = opened(context)
    tell(stores, depend(stores, key, others, remove=remove), "Changed", json=json)


def _agree(stores: Stores, checks: list[str] | None) -> None:
    """What a person writes here themselves, `cub run` need not ask them about."""
    from cub.actions.run.trust import agree_to
    from cub.actions.tasks.inside import inside

    if checks and not inside(stores.root):
        agree_to(stores, checks)


def _text(context: typer.Context, description: str | None, file: Path | None) -> str | None:
    """What the description is to be, from where it was said to be."""
    if description is not None and file is not None:
        raise UsageError("--description and --file exclude each other")
    if description == "-":
        return sys.stdin.buffer.read().decode("utf-8", "surrogateescape").rstrip("\n")
    if file is None:
        return description
    return file_bytes(context, file).decode("utf-8", "surrogateescape").rstrip("\n")
