"""Run `cub task add`, `edit` and `dep`; `edit` without options opens an editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cub.actions.command_options import option
from cub.cli import output
from cub.cli.options import Json
from cub.cli.parameters import make_option, require_at_most_one, take_options
from cub.cli.task_stores import (
    Id,
    open_task_stores,
    print_created_files,
    print_task_result,
    read_file_argument,
)
from cub.errors import CubError, UsageError
from cub.syntax_errors import describe_quoting_error

if TYPE_CHECKING:
    from cub.actions.tasks.stores import Stores, TaskResult
    from cub.actions.tasks.task_fields import TaskFields

Others = Annotated[
    list[str], typer.Argument(metavar="OTHER...", help="The tasks that must be done first.")
]
dep = typer.Typer(add_completion=False, no_args_is_help=True)


@dep.callback()
def _describe_dep() -> None:
    """Add and remove dependencies between tasks.

    Example: cub task dep add k3f9a 7q2bx
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class _FieldOptions:
    """Hold the fields that `cub task add` and `cub task edit` set; None and () for none."""

    type: str | None = option(
        "--type -t", "Set the type: task, feature, bug, epic, or chore.", None
    )
    priority: str | None = option(
        "--priority -p N", "Set the priority, from 0 (highest) to 4.", None
    )
    label: tuple[str, ...] = option("--label -l WORD", "Add a label (repeatable).", ())
    accept: tuple[str, ...] = option(
        "--accept TEXT", "Add an acceptance criterion (repeatable).", ()
    )
    check: tuple[str, ...] = option(
        "--check COMMAND", "Add a check for this task only (repeatable).", ()
    )
    description: str | None = option(
        "--description -d TEXT", "Set the description; - reads stdin.", None
    )
    file: Path | None = option("--file -F FILE", "Read the description from a file.", None)

    def read_fields(self, context: typer.Context, **others: Any) -> TaskFields:
        """Return these fields of a task and others, with the text of a file or of stdin."""
        from cub.actions.tasks.task_fields import TaskFields

        return TaskFields(
            type=self.type,
            priority=self.priority,
            labels=self.label or None,
            accept=self.accept or None,
            description=_read_description(context, self.description, self.file),
            **{"checks": self.check or None, **others},
        )


@take_options
def add(
    context: typer.Context,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="The title, on one line.")],
    options: _FieldOptions,
    parent: Annotated[
        str | None, make_option("--parent ID", "Set the epic that the task belongs to.")
    ] = None,
    depends_on: Annotated[
        list[str] | None,
        make_option("--depends-on ID", "Add a task that must be done first (repeatable)."),
    ] = None,
    json: Json = False,
) -> None:
    """Add a task and print its ID.

    Example: cub task add "Bake the bread" -p 1 --label oven
    """
    from cub.actions.tasks.task_edits import add_task

    fields = options.read_fields(context, title=title, parent=parent, depends_on=depends_on)
    stores = open_task_stores(context)
    result = add_task(stores, fields)
    _trust_checks(stores, options.check)
    if json:
        print_task_result(stores, result, "", json=True)
        return
    output.print_warnings(result.warnings)
    output.print_line(result.tasks[0]["id"])
    for line in result.messages:
        output.print_message(line)
    print_created_files(result)


@take_options
def edit(
    context: typer.Context,
    key: Id,
    *,
    title: Annotated[str | None, make_option("--title TEXT", "Set the title.")] = None,
    options: _FieldOptions,
    parent: Annotated[
        str | None, make_option("--parent ID", 'Set the epic; "" removes it.')
    ] = None,
    unlabel: Annotated[
        list[str] | None, make_option("--unlabel WORD", "Remove a label (repeatable).")
    ] = None,
    no_checks: Annotated[bool, make_option("--no-checks", "Remove this task's checks.")] = False,
    note: Annotated[str | None, make_option("--note -m TEXT", "Add a note.")] = None,
    json: Json = False,
) -> None:
    """Edit a task; without options, in $EDITOR.

    --label adds to the labels; --accept and --check replace the earlier values.

    Example: cub task edit k3f9a --priority 0 --label oven
    """
    from cub.actions.tasks.task_edits import edit_task

    require_at_most_one({"--check": options.check, "--no-checks": no_checks})
    others: dict[str, Any] = {"checks": []} if no_checks else {}
    fields = options.read_fields(context, title=title, parent=parent, **others)
    stores = open_task_stores(context)
    _require_editable(stores, key, checks=fields.checks is not None)
    if all(value is None for value in (*asdict(fields).values(), unlabel, note)):
        result = edit_in_editor(stores, key)
    else:
        result = edit_task(stores, key, fields, unlabel=unlabel or (), note=note)
        _trust_checks(stores, options.check)
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
    _require_editable(stores, key)
    result = set_dependencies(stores, key, others, remove=remove)
    print_task_result(stores, result, "Changed", json=json)


def _require_editable(stores: Stores, key: str, *, checks: bool = False) -> None:
    from cub.actions.tasks.current_attempt import find_current_attempt

    if attempt := find_current_attempt(stores.root):
        attempt.require_editable(stores.backend.read_tasks(), key, checks=checks)


def _trust_checks(stores: Stores, checks: Sequence[str]) -> None:
    """Trust the checks that you write here yourself, so `cub run` does not ask about them."""
    from cub.actions.run.command_trust import trust_checks
    from cub.actions.tasks.current_attempt import find_current_attempt

    if checks and not find_current_attempt(stores.root):
        trust_checks(stores, checks)


def _read_description(
    context: typer.Context, description: str | None, file: Path | None
) -> str | None:
    require_at_most_one({"--description": description is not None, "--file": file is not None})
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
    with tempfile.NamedTemporaryFile(prefix="cub-task-", suffix=".yaml", delete=False) as file:
        file.write(before.encode("utf-8", "surrogateescape"))
    path = Path(file.name)
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
