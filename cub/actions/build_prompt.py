"""The prompt of a task: gathered from tasks, ledger, configuration and manifests."""

from __future__ import annotations

import os
from typing import NamedTuple

from cub.actions.managed_files import RUNLOOP
from cub.actions.tasks.current_attempt import find_current_attempt
from cub.actions.tasks.stores import Stores, warn_unreadable_tasks
from cub.edit.file_header import strip_file_header
from cub.edit.plan import PlanWarning
from cub.files import FileTree
from cub.project.config_layers import resolve_config
from cub.project.project import Project
from cub.prompt.previous_attempts import summarize_failures
from cub.prompt.task_prompt import (
    DEFAULT_TOKENS,
    MAX_DONE,
    MAX_REMAINING,
    EpicSiblings,
    PromptInputs,
    TaskPrompt,
    compose_prompt,
)
from cub.prompt.templates import TemplateSet, load_shipped_templates
from cub.repomap.stack.facts import CommandPurpose, ProjectCommand
from cub.store.jsonl import Record
from cub.store.task_index import TaskIndex, TaskSummary
from cub.store.timestamps import normalize_timestamp

_LOOPS: tuple[CommandPurpose, ...] = ("typecheck", "test", "lint")


class PromptOptions(NamedTuple):
    """What a run knows already: the tasks, its commands, and whether it commits."""

    tasks: TaskIndex
    check_commands: tuple[str, ...]
    message: str
    commits: bool
    is_in_run: bool = True


class BuiltPrompt(NamedTuple):
    """A prompt, what a person should know of the stores that it is made from, and the id of the
    task.
    """

    prompt: TaskPrompt
    warnings: list[PlanWarning]
    task: str


def build_task_prompt(
    stores: Stores, task_id: str, tokens: int = DEFAULT_TOKENS, options: PromptOptions | None = None
) -> BuiltPrompt:
    """The prompt of a task."""
    tasks = options.tasks if options else stores.backend.read_tasks()
    task_id = tasks.find_id(task_id)
    inputs = _inputs(stores, task_id, options or _read_configured_options(stores, tasks, task_id))
    return BuiltPrompt(
        compose_prompt(inputs, load_shipped_templates(), tokens),
        warn_unreadable_tasks(tasks),
        task_id,
    )


def find_check_commands(project: Project) -> tuple[ProjectCommand, ...]:
    """Find how the project checks itself: what its map names for that, and no further targets of
    the same manifest, which are mostly parts and variants of the first one.
    """
    from cub.actions.project_map import MapOptions as WantedMap
    from cub.actions.project_map import resolve_map_settings
    from cub.repomap.stack.read_stack import read_project_stack

    stack = read_project_stack(project.root, resolve_map_settings(project, WantedMap()).exclude)
    found: dict[tuple[str, str, str], ProjectCommand] = {}
    for command in (
        one for purpose in _LOOPS for one in stack.filter_commands(purpose) if one.shell_line
    ):
        is_target = command.origin == "target"
        key = (command.purpose, command.source, "" if is_target else command.shell_line)
        found.setdefault(key, command)
    return tuple(found.values())


def read_system_prompt(tree: FileTree, templates: TemplateSet | None = None) -> str:
    """The contract of an unattended run: the project's own text, or the one that ships."""
    data = tree.read(RUNLOOP.path)
    if data is None:
        return (templates or load_shipped_templates()).read_file(RUNLOOP.template)
    text = strip_file_header(data).decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n").lstrip("\n")


def _read_configured_options(stores: Stores, tasks: TaskIndex, task_id: str) -> PromptOptions:
    """The commands and the commits that the configuration asks for."""
    values = resolve_config(stores.project, os.environ).values
    own = tasks.read_record(task_id).get("checks") or ()
    checks = tuple(dict.fromkeys([*own, *values["run.checks"].value]))
    loops = checks or tuple(one.shell_line for one in find_check_commands(stores.project))
    message, commits = values["run.message"].value, values["run.commit"].value
    return PromptOptions(
        tasks, loops, message, commits, is_in_run=find_current_attempt(stores.root) is not None
    )


def _inputs(stores: Stores, task_id: str, options: PromptOptions) -> PromptInputs:
    tasks = options.tasks
    record, row = tasks.read_record(task_id), tasks[task_id]
    epic = _epic(tasks, row)
    siblings = [
        other for other in tasks if epic and other.parent == epic.id and other.id != task_id
    ]
    done = sorted(
        (tasks.read_raw_record(r.id) for r in siblings if r.is_done), key=_closed_at, reverse=True
    )
    left = sorted((other for other in siblings if not other.is_closed), key=_order)
    return PromptInputs(
        task=record,
        epic=tasks.read_record(epic.id) if epic else None,
        done=EpicSiblings(done[:MAX_DONE], len(done)),
        remaining=EpicSiblings(
            [tasks.read_raw_record(r.id) for r in left[:MAX_REMAINING]], len(left)
        ),
        previous_failures=summarize_failures(stores.ledger.iter_task_events(task_id)),
        close_commands=stores.backend.list_close_commands(task_id),
        check_commands=options.check_commands,
        message=options.message,
        commits=options.commits,
        is_in_run=options.is_in_run,
    )


def _epic(tasks: TaskIndex, summary: TaskSummary) -> TaskSummary | None:
    """The nearest epic that a task is a part of, or else what it is a part of."""
    if summary.parent == summary.id:
        return None
    seen = {summary.id}
    first = above = tasks.summaries.get(summary.parent)
    while above and above.id not in seen:
        if above.is_epic:
            return above
        seen.add(above.id)
        above = tasks.summaries.get(above.parent)
    return first


def _closed_at(record: Record) -> tuple[str, str]:
    return normalize_timestamp(record.get("closed_at")), str(record["id"])


def _order(summary: TaskSummary) -> tuple[object, ...]:
    return summary.priority, summary.created_at, summary.id
