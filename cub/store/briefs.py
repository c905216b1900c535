"""The brief of a task: the few facts by which tasks are found and ordered, kept for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from sys import intern
from typing import Any, NamedTuple

from cub.store.jsonl import Record, Rejected, decode, lines
from cub.store.moments import moment
from cub.store.spelling import (
    CLOSED,
    IN_PROGRESS,
    MIDDLE,
    OPEN,
    UNDONE,
    is_plain,
    normal,
    priority_of,
    texts_of,
)

EPIC = "epic"


class Brief(NamedTuple):
    """What the store keeps of each task; the rest is read when it is asked for.

    `status` is a word of cub's, or what another tool wrote; `created_at` is a moment, "" for none;
    `at` and `size` are where its line is, in bytes; `brings_checks` says whether it has commands.
    """

    id: str
    status: str
    priority: int
    type: str
    parent: str
    depends_on: tuple[str, ...]
    created_at: str
    reason: str
    lease: Record | None
    deleted: bool
    at: int
    size: int
    brings_checks: bool = False

    @property
    def closed(self) -> bool:
        """Whether nothing is left to do."""
        return self.status == CLOSED

    @property
    def done(self) -> bool:
        """Whether what waits for it may begin: closed, and not because it will never be done."""
        return self.closed and self.reason not in UNDONE

    @property
    def is_epic(self) -> bool:
        """Whether it is done by its children."""
        return self.type == EPIC


class Read(NamedTuple):
    """A file's tasks by id; further lines of the same ids; and what is no task."""

    briefs: dict[str, Brief]
    doubled: dict[str, list[Brief]]
    rejected: list[Rejected]


def read_briefs(file: Iterable[bytes]) -> Read:
    """The brief of every line, each parsed on its own and let go again."""
    found = Read({}, {}, [])
    for line in lines(file):
        try:
            row = brief(task_of(decode(line.text)), line.offset, len(line.text))
        except ValueError as error:
            found.rejected.append(Rejected(line, str(error)))
            continue
        if row.id in found.briefs:
            found.doubled.setdefault(row.id, [found.briefs[row.id]]).append(row)
        else:
            found.briefs[row.id] = row
    return found


def task_of(raw: Record) -> Record:
    """A line's object as a task; ValueError for one without an id."""
    if is_plain(raw) and raw["id"]:
        return raw
    if type(raw.get("id")) not in (str, int) or raw["id"] == "":
        raise ValueError("this is no task: it has no id")
    return normal(raw)


def brief(task: Record, at: int = 0, size: int = 0) -> Brief:
    """The brief of a task; texts that many tasks have in common are kept once."""
    get = task.get
    status = intern(_text(get("status"), OPEN))
    priority = get("priority")
    if type(priority) is not int:
        priority = priority_of(priority)
    depends_on, parent = get("depends_on"), get("parent")
    lease = get("lease") if status == IN_PROGRESS else None
    return Brief(
        get("id", ""),
        status,
        priority if type(priority) is int and 0 <= priority <= 4 else MIDDLE,
        intern(_text(get("issue_type"), "task")),
        parent if type(parent) is str else str(parent) if type(parent) is int else "",
        tuple(texts_of(depends_on)) if depends_on else (),
        moment(get("created_at")),
        intern(_text(get("close_reason"), "")) if status == CLOSED else "",
        lease if isinstance(lease, dict) else None,
        is_deleted(task),
        at,
        size,
        # As `normal` reads it: anything but nothing is a command.
        get("checks") not in (None, "", []),
    )


def is_deleted(task: Record) -> bool:
    """Whether somebody deleted a task: its line stays, so that a merge can't bring it back."""
    return bool(task.get("deleted_at"))


def _text(value: Any, default: str) -> str:
    return value if type(value) is str else default if value is None else str(value)
