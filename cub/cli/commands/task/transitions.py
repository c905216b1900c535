"""Run `cub task claim`, `close`, `reopen`, `park` and `delete`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cub.cli import output
from cub.cli.options import Json
from cub.cli.parameters import make_option
from cub.cli.task_stores import Id, Ids, open_task_stores, print_task_result

if TYPE_CHECKING:
    from cub.actions.tasks.stores import Stores


Note = Annotated[str, make_option("--message -m TEXT", "Add a note with the reason.")]
Reason = Annotated[
    Literal["done", "no_change", "wontfix", "duplicate"] | None,
    make_option("--reason -r", "Set the reason. [default: done]"),
]
Recursive = Annotated[bool, make_option("--recursive -r", "Also delete the tasks of an epic.")]
Force = Annotated[
    bool,
    make_option(
        "--force -f", "Also delete tasks that others depend on, and remove the dependencies."
    ),
]


def claim(
    context: typer.Context,
    key: Id,
    name: Annotated[
        str | None, make_option("--as NAME", "Claim the task for NAME instead of you.")
    ] = None,
    json: Json = False,
) -> None:
    """Claim a task for 24 hours.

    If a claimed task isn't updated for 24 hours, the claim expires. `cub task start` is the same
    command.

    Example: cub task claim k3f9a --as codex
    """
    from cub.actions.tasks.current_attempt import find_current_attempt
    from cub.actions.tasks.transitions import claim_task

    stores = open_task_stores(context, name)
    if attempt := find_current_attempt(stores.root):
        attempt.require_own_task(stores.backend.read_tasks(), [key], "claim")
        _answer(stores, attempt.task_id, f"{attempt.task_id} is already yours.", json=json)
        return
    print_task_result(stores, claim_task(stores, key), "Claimed", json=json)


def close(
    context: typer.Context,
    keys: Ids,
    reason: Reason = None,
    message: Note = "",
    json: Json = False,
) -> None:
    """Close tasks.

    Closing as done or no_change unblocks dependent tasks. An epic closes with its last task, if
    all its tasks are done. `cub task done` is the same command.

    Example: cub task close k3f9a -m "The oven was cold"
    """
    from cub.actions.tasks.current_attempt import find_current_attempt
    from cub.actions.tasks.transitions import close_tasks

    stores = open_task_stores(context)
    if attempt := find_current_attempt(stores.root):
        attempt.require_own_task(stores.backend.read_tasks(), keys, "close")
        name = reason or "done"
        if not attempt.request_close(name, message):
            close_tasks(stores, keys, name, message)
        _answer(stores, attempt.task_id, attempt.describe_request(name), json=json)
        return
    print_task_result(stores, close_tasks(stores, keys, reason, message), "Closed", json=json)


def reopen(context: typer.Context, keys: Ids, json: Json = False) -> None:
    """Reopen closed, parked, claimed, or deleted tasks.

    Example: cub task reopen k3f9a
    """
    from cub.actions.tasks.transitions import reopen_tasks

    stores = open_task_stores(context)
    _refuse_in_attempt(stores, keys, "reopen")
    print_task_result(stores, reopen_tasks(stores, keys), "Reopened", json=json)


def park(context: typer.Context, keys: Ids, message: Note = "", json: Json = False) -> None:
    """Park tasks until you reopen them.

    Example: cub task park k3f9a -m "Waits for the new oven"
    """
    from cub.actions.tasks.transitions import park_tasks

    stores = open_task_stores(context)
    _refuse_in_attempt(stores, keys, "park")
    print_task_result(stores, park_tasks(stores, keys, message), "Parked", json=json)


def delete(
    context: typer.Context,
    keys: Ids,
    recursive: Recursive = False,
    force: Force = False,
    message: Note = "",
    yes: Annotated[bool, make_option("--yes -y", "Don't ask before deleting.")] = False,
    json: Json = False,
) -> None:
    """Delete tasks created by mistake.

    Deleted tasks are hidden everywhere, and cub never reuses their IDs. A merge does not restore
    them, but `cub task reopen` does. To drop a task that won't be done, close it as wontfix.

    Example: cub task delete k3f9a --yes
    """
    from cub.actions.tasks.task_edits import delete_tasks

    stores = open_task_stores(context)
    _refuse_in_attempt(stores, keys, "delete")
    if not yes:
        keys, recursive = _confirm_deletion(stores, keys, recursive, force), False
    result = delete_tasks(stores, keys, message, recursive=recursive, force=force)
    print_task_result(stores, result, "Deleted", json=json)
    if stores.backend.can_restore_deleted and not json:
        output.print_message("Run `cub task reopen ID` to restore a deleted task.")


def _confirm_deletion(stores: Stores, keys: list[str], recursive: bool, force: bool) -> list[str]:
    """Return the ids of the tasks to delete, after you have seen and confirmed them."""
    from cub.actions.tasks.task_edits import select_deletable_tasks

    tasks = stores.backend.read_tasks()
    chosen = select_deletable_tasks(tasks, keys, recursive=recursive, force=force)
    if sys.stdin.isatty():
        for key in chosen:
            output.print_message(f"{key}: {tasks.read_record(key).get('title', '')}")
    which = "this task" if len(chosen) == 1 else f"these {len(chosen):,} tasks"
    good = "" if stores.backend.can_restore_deleted else " permanently"
    output.require_confirmation(f"deleting {', '.join(chosen)}", f"Delete {which}{good}?")
    return chosen


def _refuse_in_attempt(stores: Stores, keys: list[str], verb: str) -> None:
    from cub.actions.tasks.current_attempt import find_current_attempt

    if attempt := find_current_attempt(stores.root):
        attempt.refuse(keys, verb)


def _answer(stores: Stores, key: str, sentence: str, *, json: bool) -> None:
    """Print an answer about an agent's own task, which stays as it is until the run decides."""
    if not json:
        output.print_line(sentence)
        return
    from cub.actions.tasks.stores import warn_unreadable_tasks
    from cub.cli.json_output import print_tasks_json

    output.print_message(sentence)
    tasks = stores.backend.read_tasks()
    print_tasks_json([tasks.read_record(key)], stores.root, warn_unreadable_tasks(tasks))
