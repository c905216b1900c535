"""What the prompt of a task is made of, as others have to find it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cub.prompt.attempts import Previous
from cub.store.jsonl import Record

DONE, REMAINING = 20, 30  # how many tasks of an epic are named


class Siblings(NamedTuple):
    """Tasks of one epic: those to be named, and how many there are in all."""

    named: Sequence[Record]
    total: int


NONE = Siblings((), 0)


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that a prompt is made of. `done` are the epic's tasks that are done, the last one first,
    `remaining` those that are not closed; `closing` and `commands` are command lines. `commits`
    says whether finished work is committed: by the run, or outside of one by the agent.
    """

    task: Record
    epic: Record | None = None
    done: Siblings = NONE
    remaining: Siblings = NONE
    previous: Previous | None = None
    closing: Sequence[str] = ()
    commands: Sequence[str] = ()
    message: str = "{type}({id}): {title}"
    commits: bool = True
    in_run: bool = True
