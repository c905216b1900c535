"""Define `cub run logs`, `cub run show` and `cub run apply`: what attempts said and left."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cub.cli import output
from cub.cli.options import Json
from cub.cli.parameters import make_option, require_at_most_one, take_options
from cub.cli.plan_command import PlanDisplay, run_plan_command
from cub.cli.task_stores import Id, open_task_stores
from cub.edit.plan import Plan
from cub.errors import CubError, UsageError
from cub.project.project import Project

if TYPE_CHECKING:
    from cub.actions.run.past_attempts import PastAttempt, TaskAttempts
    from cub.actions.tasks.stores import Stores
    from cub.cli.commands.run.agent_log import AgentLogPrinter

_POLL_SECONDS = 0.3

Which = Annotated[
    str, typer.Argument(metavar="[RUN|TASK]", help="A run or a task. [default: the last attempt]")
]
Number = Annotated[int | None, make_option("--attempt N", "Choose attempt N of the task.", min=1)]
Patch = Annotated[bool, make_option("--patch", "Print its newest patch as a diff.")]


def logs(
    context: typer.Context,
    which: Which = "",
    number: Number = None,
    follow: Annotated[bool, make_option("--follow -f", "Continue until the run ends.")] = False,
    json: Annotated[bool, make_option("--json", "Print one JSON event per line.")] = False,
) -> None:
    """Print an agent's output.

    For a task, cub prints its last attempt, or the one of --attempt. For a run, it prints all
    attempts.

    Example: cub run logs -f
    """
    from cub.actions.run.past_attempts import open_log
    from cub.cli.commands.run.agent_log import AgentLogPrinter

    stores = open_task_stores(context, "cub run")
    shown = AgentLogPrinter(json=json)
    if follow:
        _follow(stores, which, number, shown)
        return
    for attempt in _choose_attempts(stores, which, number):
        shown.start_attempt(attempt)
        log = open_log(stores, attempt, os.environ)
        if log is None:
            output.print_message(f"{attempt.folder} is not in this checkout, or has no output.")
            continue
        for event in log.finish():
            shown.print_event(event)
        shown.finish()


def show(context: typer.Context, key: Id, patch: Patch = False, json: Json = False) -> None:
    """Show each attempt at a task.

    For each attempt, cub shows what the agent reported, what failed, the usage, and the patch.

    Example: cub run show k3f9a --patch
    """
    from cub.actions.run.past_attempts import list_task_attempts
    from cub.actions.run.patch_plan import read_patch
    from cub.masking import mask_text

    require_at_most_one({"--patch": patch, "--json": json})
    stores = open_task_stores(context)
    task = list_task_attempts(stores, key)
    if patch:
        text = read_patch(task.choose_patched()).decode("utf-8", "surrogateescape")
        output.print_diff(mask_text(text).removesuffix("\n").split("\n"))
    elif json:
        tree = {"v": 1, "root": stores.root.as_posix(), "task": task.task_id, "attempts": []}
        output.print_json_rows(tree, "attempts", map(_attempt_to_json, task.attempts))
    else:
        _print_attempts(task)


@take_options
def apply(context: typer.Context, key: Id, number: Number = None, *, display: PlanDisplay) -> None:
    """Apply a failed attempt's patch to your files.

    The patch is the one of the newest attempt that has one. Either all its files change, or none.
    cub never overwrites a file that differs from the last commit.

    Example: cub run apply k3f9a --diff
    """
    from cub.actions.run.past_attempts import list_task_attempts
    from cub.actions.run.patch_plan import plan_patch

    stores = open_task_stores(context)
    chosen: list[PastAttempt] = []

    def make_plan(project: Project) -> Plan:
        task = list_task_attempts(stores, key)
        chosen.append(task.choose_patched() if number is None else task.choose(number))
        return plan_patch(project, chosen[-1])

    run_plan_command(stores.root, make_plan, display)
    if not display.is_read_only:
        what = f"attempt {chosen[-1].event['n']} at {chosen[-1].event['task']}"
        output.print_message(f"Applied {what}. Review it with git, then commit.")


def _choose_attempts(stores: Stores, which: str, number: int | None) -> list[PastAttempt]:
    from cub.actions.run.past_attempts import (
        find_newest_attempt,
        is_run_here,
        list_run_attempts,
        list_task_attempts,
    )

    if not which:
        if number is not None:
            raise UsageError("--attempt needs a task", hint="run `cub task list` to list tasks")
        newest = find_newest_attempt(stores)
        if newest is None:
            raise CubError("no attempts here yet", hint="run `cub run` to start one")
        return [newest]
    if number is None and is_run_here(stores, which):
        return list_run_attempts(stores, which)
    return [list_task_attempts(stores, which).choose(number)]


def _follow(stores: Stores, which: str, number: int | None, shown: AgentLogPrinter) -> None:
    from cub.actions.run.past_attempts import (
        PastAttempt,
        find_alive_run,
        follow_run,
        is_run_here,
    )

    require_at_most_one({"--attempt": number is not None, "--follow": True})
    is_whole = bool(which) and is_run_here(stores, which)
    run, task = which if is_whole else "" if which else find_alive_run(stores), ""
    if not run:
        (attempt,) = _choose_attempts(stores, which, None)
        run, task = str(attempt.event["run"]), str(attempt.event["task"])
    for item in follow_run(stores, run, task, os.environ, is_whole=is_whole):
        if item is None:
            time.sleep(_POLL_SECONDS)
        elif isinstance(item, PastAttempt):
            shown.finish()
            shown.start_attempt(item)
        else:
            shown.print_event(item)
    shown.finish()


def _print_attempts(task: TaskAttempts) -> None:
    from cub.cli.event_format import format_attempt_details, format_event
    from cub.store.events import get_mapping

    output.print_heading(f"{task.task_id}  {task.title}".rstrip())
    for attempt in task.attempts:
        event = {**attempt.event}
        event["git"] = {**get_mapping(event, "git"), "patch": attempt.patch}  # if it is here
        event["resume"] = attempt.resume_command
        event["log"] = f"`cub run logs {task.task_id} --attempt {event['n']}`"
        output.print_paragraph(format_event(event, of_task=False))
        for line in format_attempt_details(event):
            output.print_paragraph(f"    {line}")
    if not task.attempts:
        output.print_line("No attempts yet.")
    elif any(attempt.patch for attempt in task.attempts):
        what = f"`cub run apply {task.task_id}` writes the newest patch into your files"
        output.print_message(f"{what}, with --diff it shows what would change.")


def _attempt_to_json(attempt: PastAttempt) -> dict[str, Any]:
    folder = attempt.folder if (attempt.root / attempt.folder).is_dir() else None
    resume = {"command": attempt.resume_command, "directory": attempt.root.as_posix()}
    return {
        "folder": folder,
        "patch": attempt.patch or None,
        "resume": resume if resume["command"] else None,
        "event": attempt.event,
    }
