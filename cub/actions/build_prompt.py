"""Gather the prompt of a task from tasks, ledger, configuration and manifests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cub.actions.check_commands import find_check_commands
from cub.actions.managed_files import RUNLOOP
from cub.actions.previous_attempts import summarize_failures
from cub.actions.tasks.current_attempt import find_current_attempt
from cub.actions.tasks.stores import Stores, warn_unreadable_tasks
from cub.context.output_blocks import OutputBlock
from cub.edit.file_header import strip_file_header
from cub.edit.plan import PlanWarning
from cub.files.file_tree import FileTree
from cub.project.config_layers import ConfigValue
from cub.prompt.task_prompt import (
    DEFAULT_TOKENS,
    MAX_DONE,
    MAX_REMAINING,
    EpicSiblings,
    PromptInputs,
    TaskPrompt,
    compose_prompt,
)
from cub.prompt.templates import load_shipped_templates
from cub.store.task_index import TaskIndex, TaskSummary
from cub.store.timestamps import normalize_timestamp


class PromptOptions(NamedTuple):
    """Hold what a prompt is made of beside the stores: the checks, whether the run or the agent
    commits, and the output of context commands.
    """

    tasks: TaskIndex
    check_commands: tuple[str, ...]
    message: str
    commits: bool
    is_in_run: bool = True
    blocks: tuple[OutputBlock, ...] = ()


class BuiltPrompt(NamedTuple):
    """Hold a prompt, warnings about the stores that it comes from, and the id of the task."""

    prompt: TaskPrompt
    warnings: list[PlanWarning]
    task: str


def build_task_prompt(
    stores: Stores, task_id: str, options: PromptOptions, tokens: int = DEFAULT_TOKENS
) -> BuiltPrompt:
    """Build the prompt of a task."""
    task_id = options.tasks.find_id(task_id)
    inputs = _gather_inputs(stores, task_id, options)
    prompt = compose_prompt(inputs, load_shipped_templates(), tokens)
    return BuiltPrompt(prompt, warn_unreadable_tasks(options.tasks), task_id)


def read_system_prompt(tree: FileTree) -> str:
    """Return the contract of an unattended run: the project's own text, or the one that ships."""
    data = tree.read(RUNLOOP.path)
    if data is None:
        return load_shipped_templates().read_file(RUNLOOP.template)
    text = strip_file_header(data).decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n").lstrip("\n")


def read_prompt_options(
    stores: Stores, task_id: str, values: Mapping[str, ConfigValue]
) -> PromptOptions:
    """Return what the configuration says of a prompt outside of a run."""
    tasks = stores.backend.read_tasks()
    own_checks = tasks.read_record(tasks.find_id(task_id)).get("checks") or ()
    commands = tuple(dict.fromkeys([*own_checks, *values["run.checks"].value]))
    if not commands:
        commands = tuple(command.shell_line for command in find_check_commands(stores.project))
    message, commits = values["run.message"].value, values["run.commit"].value
    is_in_run = find_current_attempt(stores.root) is not None
    return PromptOptions(tasks, commands, message, commits, is_in_run)


def _gather_inputs(stores: Stores, task_id: str, options: PromptOptions) -> PromptInputs:
    tasks = options.tasks
    record, epic = tasks.read_record(task_id), _find_epic(tasks, tasks[task_id])
    siblings = [task for task in tasks if epic and task.parent == epic.id and task.id != task_id]
    done = sorted(
        (tasks.read_raw_record(task.id) for task in siblings if task.is_done),
        key=lambda task: (normalize_timestamp(task.get("closed_at")), str(task["id"])),
        reverse=True,
    )
    remaining = sorted(
        (task for task in siblings if not task.is_closed),
        key=lambda task: (task.priority, task.created_at, task.id),
    )
    named = [tasks.read_raw_record(task.id) for task in remaining[:MAX_REMAINING]]
    return PromptInputs(
        task=record,
        epic=tasks.read_record(epic.id) if epic else None,
        done=EpicSiblings(done[:MAX_DONE], len(done)),
        remaining=EpicSiblings(named, len(remaining)),
        previous_failures=summarize_failures(stores.ledger.iter_task_events(task_id)),
        close_commands=stores.backend.list_close_commands(task_id),
        check_commands=options.check_commands,
        message=options.message,
        commits=options.commits,
        is_in_run=options.is_in_run,
        blocks=options.blocks,
    )


def _find_epic(tasks: TaskIndex, summary: TaskSummary) -> TaskSummary | None:
    """Return the nearest epic that a task is a part of, or else its parent."""
    if summary.parent == summary.id:
        return None
    visited = {summary.id}
    parent = ancestor = tasks.summaries.get(summary.parent)
    while ancestor and ancestor.id not in visited:
        if ancestor.is_epic:
            return ancestor
        visited.add(ancestor.id)
        ancestor = tasks.summaries.get(ancestor.parent)
    return parent
