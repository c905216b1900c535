"""What a run would send for a task: gathered from tasks, ledger, configuration and manifests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from cub.actions.own_files import RUNLOOP
from cub.actions.tasks.stores import Stores, told
from cub.edit.owned import body_of
from cub.edit.plan import PlanWarning
from cub.files import Tree
from cub.project.effective import effective
from cub.prompt.attempts import previous
from cub.prompt.inputs import DONE, REMAINING, Inputs, Siblings
from cub.prompt.task_prompt import TOKENS, TaskPrompt, compose
from cub.prompt.templates import TemplateSet, shipped
from cub.repomap.stack.facts import Purpose
from cub.store.briefs import Brief
from cub.store.ids import find
from cub.store.jsonl import Record
from cub.store.moments import moment
from cub.store.tasks import Tasks

_LOOPS: tuple[Purpose, ...] = ("typecheck", "test", "lint")


class Composed(NamedTuple):
    """A prompt, and what a person should know of the stores that it is made from."""

    prompt: TaskPrompt
    warnings: list[PlanWarning]


def task_prompt(stores: Stores, key: str, tokens: int = TOKENS) -> Composed:
    """The prompt of a task."""
    tasks = stores.backend.read()
    inputs = _inputs(stores, tasks, find(key, tasks.briefs))
    return Composed(compose(inputs, shipped(), tokens), told(tasks))


def system_prompt(tree: Tree, templates: TemplateSet | None = None) -> str:
    """The contract of an unattended run: the project's own text, or the one that ships."""
    data = tree.read(RUNLOOP.path)
    if data is None:
        return (templates or shipped()).file(RUNLOOP.template)
    text = body_of(data).decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n").lstrip("\n")


def _inputs(stores: Stores, tasks: Tasks, key: str) -> Inputs:
    record, row = tasks.record(key), tasks[key]
    epic = _epic(tasks, row)
    siblings = [other for other in tasks if epic and other.parent == epic.id and other.id != key]
    done = sorted((tasks.seen(r.id) for r in siblings if r.done), key=_closed_at, reverse=True)
    left = sorted((other for other in siblings if not other.closed), key=_order)
    values = effective(stores.project, os.environ).values
    checks = dict.fromkeys([*(record.get("checks") or ()), *values["run.checks"].value])
    return Inputs(
        task=record,
        epic=tasks.record(epic.id) if epic else None,
        done=Siblings(done[:DONE], len(done)),
        remaining=Siblings([tasks.seen(r.id) for r in left[:REMAINING]], len(left)),
        previous=previous(stores.ledger.newest(key)),
        closing=stores.backend.closing(key),
        commands=[*checks] or [*_commands(stores.project.tree)],
        message=values["run.message"].value,
        commits=values["run.commit"].value,
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


def _commands(tree: Tree) -> Iterator[str]:
    """How the project checks itself, by the manifests at its root."""
    from cub.repomap.stack.reading import read_stack

    stack = read_stack(sorted(tree.names("")), lambda path: tree.read(path) or b"")
    for purpose in _LOOPS:
        yield from (command.text for command in stack.commands_for(purpose)[:1])


def _closed_at(record: Record) -> tuple[str, str]:
    return moment(record.get("closed_at")), str(record["id"])


def _order(row: Brief) -> tuple[object, ...]:
    return row.priority, row.created_at, row.id
