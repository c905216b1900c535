"""Run `cub task add`, `edit` and `dep`; `edit` without options opens an editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.parameters import make_option
from cub.cli.task_stores import (
    Id,
    Json,
    open_task_stores,
    print_created_files,
    print_task_result,
    read_file_argument,
)
from cub.errors import CubError, UsageError
from cub.syntax_errors import describe_quoting_error

if TYPE_CHECKING:
    from cub.actions.tasks.stores import Stores, TaskResult

Type = Annotated[
    str | None,
    make_option("--type -t", "Set the type: task, feature, bug, epic, or chore."),
]
Priority = Annotated[
    str | None,
    make_option("--priority -p N", "Set the priority, from 0 (highest) to 4."),
]
Parent = Annotated[
    str | None,
    make_option("--parent ID", "Set the epic that the task belongs to."),
]
DependsOn = Annotated[
    list[str] | None,
    make_option("--depends-on ID", "Add a task that must be done first (repeatable)."),
]
Labels = Annotated[
    list[str] | None,
    make_option("--label -l WORD", "Add a label (repeatable)."),
]
Accept = Annotated[
    list[str] | None,
    make_option("--accept TEXT", "Add an acceptance criterion (repeatable)."),
]
Checks = Annotated[
    list[str] | None,
    make_option("--check COMMAND", "Add a check for this task only (repeatable)."),
]
Description = Annotated[
    str | None,
    make_option("--description -d TEXT", "Set the description; - reads stdin."),
]
File = Annotated[
    Path | None,
    make_option("--file -F FILE", "Read the description from a file."),
]
Others = Annotated[
    list[str], typer.Argument(metavar="OTHER...", help="The tasks that must be done first.")
]
dep = typer.Typer(add_completion=False, no_args_is_help=True)


@dep.callback()
def _describe_dep() -> None:
    """Add and remove dependencies between tasks.

    Example: cub task dep add k3f9a 7q2bx
    """


def register_edit_commands(app: typer.Typer) -> None:
    """Register the commands, and the group `dep`."""
    app.command()(add)
    app.command()(edit)
    app.add_typer(dep, name="dep")


def add(
    context: typer.Context,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="The title, on one line.")],
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
    """Add a task and print its ID.

    Example: cub task add "Bake the bread" -p 1 --label oven
    """
    from cub.actions.tasks.task_edits import add_task as put
    from cub.actions.tasks.task_fields import TaskFields

    text = _read_description(context, description, file)
    fields = (type, priority, parent, depends_on, label, accept, check, text)
    stores = open_task_stores(context)
    result = put(stores, TaskFields(title, *fields))
    _trust_checks(stores, check)
    if json:
        print_task_result(stores, result, "", json=True)
        return
    output.print_warnings(result.warnings)
    output.print_line(result.tasks[0]["id"])
    for line in result.messages:
        output.print_message(line)
    print_created_files(result)


def edit(
    context: typer.Context,
    key: Id,
    title: Annotated[str | None, make_option("--title TEXT", "Set the title.")] = None,
    type: Type = None,  # noqa: A002 - as the option is called
    priority: Priority = None,
    parent: Annotated[
        str | None, make_option("--parent ID", 'Set the epic; "" removes it.')
    ] = None,
    label: Labels = None,
    unlabel: Annotated[
        list[str] | None,
        make_option("--unlabel WORD", "Remove a label (repeatable)."),
    ] = None,
    accept: Accept = None,
    check: Checks = None,
    no_checks: Annotated[bool, make_option("--no-checks", "Remove this task's checks.")] = False,
    description: Description = None,
    file: File = None,
    note: Annotated[str | None, make_option("--note -m TEXT", "Add a note.")] = None,
    json: Json = False,
) -> None:
    """Edit a task; without options, in $EDITOR.

    --label adds to the labels; --accept and --check replace the earlier values.

    Example: cub task edit k3f9a --priority 0 --label oven
    """
    from cub.actions.tasks.task_edits import edit_task as change
    from cub.actions.tasks.task_fields import TaskFields

    if check and no_checks:
        raise UsageError("--check cannot be used with --no-checks", hint="pass one of them")
    text = _read_description(context, description, file)
    checks = [] if no_checks else check
    fields = (title, type, priority, parent, None, label, accept, checks, text)
    stores = open_task_stores(context)
    if all(field is None for field in (*fields, unlabel, note)):
        result = edit_in_editor(stores, key)
    else:
        result = change(stores, key, TaskFields(*fields), unlabel=unlabel or (), note=note)
        _trust_checks(stores, check)
    print_task_result(stores, result, "Changed", json=json)


@dep.command(name="add")
def dep_add(context: typer.Context, key: Id, others: Others, json: Json = False) -> None:
    """Make a task depend on others; cycles are refused.

    Example: cub task dep add k3f9a 7q2bx
    """
    _set_dependencies(context, key, others, remove=False, json=json)


@dep.command(name="remove")
def dep_remove(context: typer.Context, key: Id, others: Others, json: Json = False) -> None:
    """Remove dependencies of a task.

    Example: cub task dep remove k3f9a 7q2bx
    """
    _set_dependencies(context, key, others, remove=True, json=json)


def _set_dependencies(
    context: typer.Context, key: str, others: list[str], *, remove: bool, json: bool
) -> None:
    from cub.actions.tasks.task_edits import set_dependencies

    stores = open_task_stores(context)
    result = set_dependencies(stores, key, others, remove=remove)
    print_task_result(stores, result, "Changed", json=json)


def _trust_checks(stores: Stores, checks: list[str] | None) -> None:
    """Trust the checks that you write here yourself, so `cub run` does not ask about them."""
    from cub.actions.run.command_trust import trust_checks
    from cub.actions.tasks.current_attempt import find_current_attempt

    if checks and not find_current_attempt(stores.root):
        trust_checks(stores, checks)


def _read_description(
    context: typer.Context, description: str | None, file: Path | None
) -> str | None:
    if description is not None and file is not None:
        raise UsageError("--description cannot be used with --file", hint="pass one of them")
    if description == "-":
        return sys.stdin.buffer.read().decode("utf-8", "surrogateescape").rstrip("\n")
    if file is None:
        return description
    return read_file_argument(context, file).decode("utf-8", "surrogateescape").rstrip("\n")


def edit_in_editor(stores: Stores, key: str) -> TaskResult:
    """Open the form of a task, and change the task as it says when the editor ends.

    A form that can't be applied is kept, so nothing that you wrote is lost.
    """
    from cub.actions.tasks.task_form import apply_form, render_form

    command = _find_editor()
    tasks = stores.backend.read_tasks()
    key = tasks.find_id(key)
    before = render_form(tasks.read_record(key))
    path = _create_form_file(before)
    try:
        _run_editor([*command, str(path)])
        result = apply_form(stores, key, before, _read_form(path), path.as_posix())
    except CubError as error:
        if path.exists() and _read_form(path) != before:
            error.details = (*error.details, f"your text is saved in {path.as_posix()}")
        else:
            path.unlink(missing_ok=True)
        raise
    path.unlink()
    return result


def _find_editor() -> list[str]:
    command = (os.environ.get("VISUAL") or os.environ.get("EDITOR") or "").strip()
    if not command and not sys.stdin.isatty():
        raise UsageError("nothing to change", hint="pass an option, such as --title, or set EDITOR")
    try:
        return shlex.split(command or "vi")
    except ValueError as error:
        what = f"EDITOR is not a command: {describe_quoting_error(str(error))}"
        raise CubError(what, where=command, hint="set EDITOR") from None


def _create_form_file(text: str) -> Path:
    handle, name = tempfile.mkstemp(prefix="cub-task-", suffix=".yaml")
    with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    return Path(name)


def _read_form(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        raise CubError("the editor left no file, so nothing was changed") from None


def _run_editor(command: list[str]) -> None:
    try:
        process = subprocess.run(command, check=False)  # noqa: S603 - the user's own editor
    except OSError as error:
        raise CubError(f"cannot start the editor: {command[0]}", hint="set EDITOR") from error
    if process.returncode:
        raise CubError(f"the editor exited with code {process.returncode}, so nothing was changed")
