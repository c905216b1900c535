"""Open the stores for commands about tasks, and print what the commands did."""

from __future__ import annotations

import getpass
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.options import get_directory, load_project
from cub.errors import UsageError
from cub.files.single_file import read_single_file

if TYPE_CHECKING:
    from cub.actions.tasks.stores import Stores, TaskResult

Id = Annotated[str, typer.Argument(metavar="ID", help="The task, or any unique part of its ID.")]
Ids = Annotated[
    list[str], typer.Argument(metavar="ID...", help="Tasks, or any unique parts of their IDs.")
]
_AGENT_VARIABLE = "CUB_AGENT"


def open_task_stores(context: typer.Context, who: str | None = None) -> Stores:
    """Open the stores of the project here, for `who` or the caller."""
    from cub.actions.tasks.stores import open_stores

    project = load_project(context)
    output.print_warnings(project.config.warnings)
    return open_stores(project, who or os.environ.get(_AGENT_VARIABLE) or _get_user_name())


def read_file_argument(context: typer.Context, file: Path) -> bytes:
    """Return the bytes of FILE, relative to the directory that the command runs in."""
    data = read_single_file(get_directory(context) / file, file.as_posix())
    if data is None:
        raise UsageError("no such file", where=file.as_posix())
    return data


def print_task_result(stores: Stores, result: TaskResult, verb: str, *, json: bool) -> None:
    """Print the tasks that a command has changed, its messages and warnings."""
    from cub.cli.json_output import print_tasks_json

    tasks = {record["id"]: record for record in result.tasks}
    if json:
        print_tasks_json(tasks.values(), stores.root, result.warnings)
        return
    output.print_warnings(result.warnings)
    for task_id, record in tasks.items():
        if task_id not in result.silent_ids:
            output.print_paragraph(f"{verb} {task_id}: {record.get('title', '')!s}")
    for line in result.messages:
        output.print_paragraph(line)


def print_created_files(result: TaskResult) -> None:
    """Print the files of a command that has created `.cub/`, and what else a project needs."""
    if names := result.created_files:
        listed = ", ".join(names[:-1]) + f", and {names[-1]}" if names[1:] else names[0]
        hint = "run `cub init` to add cub to this project's instruction files"
        output.print_message(f"Created {listed}.")
        output.print_hint(hint)


def _get_user_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container's user may have no name
        return "somebody"
