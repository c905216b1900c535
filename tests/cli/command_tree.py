"""Every command of the command line, with the context in which its help is made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperGroup

from cub.cli.app import build_root_command


def walk_commands() -> Iterator[tuple[str, typer.Context]]:
    """Yield the words behind `cub` of each command and group, and its context; "" comes first."""
    yield from _walk(build_root_command(), ("cub",), None)


def _walk(
    command: Any, path: tuple[str, ...], parent: typer.Context | None
) -> Iterator[tuple[str, typer.Context]]:
    settings = command.context_settings
    context = command.context_class(command, info_name=path[-1], parent=parent, **settings)
    yield " ".join(path[1:]), context
    for name in command.list_commands(context) if isinstance(command, TyperGroup) else ():
        yield from _walk(command.get_command(context, name), (*path, name), context)
