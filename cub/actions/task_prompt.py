"""The prompt of a task: gathered from tasks, ledger, configuration and manifests."""

from __future__ import annotations

import os
from typing import NamedTuple

from cub.actions.own_files import RUNLOOP
from cub.actions.tasks.inside import inside
from cub.actions.tasks.stores import Stores, told
from cub.edit.owned import body_of
from cub.edit.plan import PlanWarning
from cub.files import Tree
from cub.project.effective import effective
from cub.project.project import Project
from cub.prompt.attempts import previous
from cub.prompt.inputs import DONE, REMAINING, Inputs, Siblings
from cub.prompt.task_prompt import TOKENS, TaskPrompt, compose
from cub.prompt.templates import TemplateSet, shipped
from cub.repomap.stack.facts import Command, Purpose
from cub.store.briefs import Brief
from cub.store.jsonl import Record
from cub.store.moments import moment
from cub.store.tasks import Tasks

_LOOPS: tuple[Purpose, ...] = ("typecheck", "test", "lint")


class Wanted(NamedTuple):
    """What a run knows already: the tasks, its commands, and whether it commits."""

    tasks: Tasks
    commands: tuple[str, ...]
    message: str
    commits: bool
    in_run: bool = True


class Composed(NamedTuple):
    """A prompt, what a person should know of the stores that it is made from, and the id of the
    task.
    """

    prompt: TaskPrompt
    warnings: list[PlanWarning]
    task: str


def task_prompt(
    stores: Stores, key: str, tokens: int = TOKENS, wanted: Wanted | None = None
) -> Composed:
    """The prompt of a task."""
    tasks = wanted.tasks if wanted else stores.backend.read()
    key = tasks.find(key)
    inputs = _inputs(stores, key, wanted or _configured(stores, tasks, key))
    return Composed(compose(inputs, shipped(), tokens), told(tasks), key)


def find_feedback_loops(project: Project) -> tuple[Command, ...]:
    """Find how the project checks itself: what its map names for that, and no further targets of
    the same manifest, which are mostly parts and variants of the first one.
    """
    from cub.actions.project_map import Wanted as WantedMap
    from cub.actions.project_map import settings_of
    from cub.repomap.project_stack import read_project_stack

    stack = read_project_stack(project.root, settings_of(project, WantedMap()).exclude)
    found: dict[tuple[str, str, str], Command] = {}
    for command in (one for purpose in _LOOPS for one in stack.commands_for(purpose) if one.line):
        is_target = command.origin == "target"
        key = (command.purpose, command.source, "" if is_target else command.line)
        found.setdefault(key, command)
    return tuple(found.values())


def system_prompt(tree: Tree, templates: TemplateSet | None = None) -> str:
    """The contract of an unattended run: the project's own text, or the one that ships."""
    data = tree.read(RUNLOOP.path)
    if data is None:
        return (templates or shipped()).file(RUNLOOP.template)
    text = body_of(data).decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n").lstrip("\n")


def _configured(stores: Stores, tasks: Tasks, key: str) -> Wanted:
    """The commands and the commits that the configuration asks for."""
    values = effective(stores.project, os.environ).values
    own = tasks.record(key).get("checks") or ()
    checks = tuple(dict.fromkeys([*own, *values["run.checks"].value]))
    loops = checks or tuple(one.line for one in find_feedback_loops(stores.project))
    message, commits = values["run.message"].value, values["run.commit"].value
    return Wanted(tasks, loops, message, commits, in_run=inside(stores.root) is not None)


def _inputs(stores: Stores, key: str, wanted: Wanted) -> Inputs:
    tasks = wanted.tasks
    record, row = tasks.record(key), tasks[key]
    epic = _epic(tasks, row)
    siblings = [other for other in tasks if epic and other.parent == epic.id and other.id != key]
    done = sorted((tasks.seen(r.id) for r in siblings if r.done), key=_closed_at, reverse=True)
    left = sorted((other for other in siblings if not other.closed), key=_order)
    return Inputs(
        task=record,
        epic=tasks.record(epic.id) if epic else None,
        done=Siblings(done[:DONE], len(done)),
        remaining=Siblings([tasks.seen(r.id) for r in left[:REMAINING]], len(left)),
        previous=previous(stores.ledger.newest(key)),
        closing=stores.backend.closing(key),
        commands=wanted.commands,
        message=wanted.message,
        commits=wanted.commits,
        in_run=wanted.in_run,
    )


def _epic(tasks: Tasks, row: Brief) -> Brief | None:
    """The nearest epic that a task is a part of, or else what it is a part of."""
    if row.parent == row.id:
        return None
    seen = {row.id}
    first = above = tasks.briefs.get(row.parent)
    while above and above.id not in seen:
        if above.is_epic:
            return above
        seen.add(above.id)
        above = tasks.briefs.get(above.parent)
    return first


def _closed_at(record: Record) -> tuple[str, str]:
    return moment(record.get("closed_at")), str(record["id"])


def _order(row: Brief) -> tuple[object, ...]:
    return row.priority, row.created_at, row.id
