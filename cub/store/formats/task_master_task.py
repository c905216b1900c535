"""One task of task-master as a task of cub's, and back; what it inherits, and its subtasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cub.store.briefs import EPIC
from cub.store.formats import task_master_ids as ids
from cub.store.formats.document import Place
from cub.store.formats.picking import (
    as_text,
    criteria,
    extras,
    first_line,
    others,
    priority,
    texts,
    written_extras,
    written_others,
)
from cub.store.jsonl import Record
from cub.store.spelling import CLOSED, IN_PROGRESS, PARKED, UNDONE, normal

_STATUSES = {"review": IN_PROGRESS, "blocked": PARKED}
_WRITTEN = {IN_PROGRESS: "in-progress", PARKED: "deferred", CLOSED: "done"}
_PRIORITIES = ("critical", "high", "medium", "low", "low")
_USED = (
    "id", "title", "description", "status", "dependencies", "priority", "details",
    "acceptanceCriteria", "updatedAt", "subtasks",
)  # fmt: skip


class Entry(NamedTuple):
    """A task or subtask as it stands in a document."""

    raw: Record
    id: str
    parent: str
    place: Place
    at: int


def subtasks_of(raw: Record) -> list[Record]:
    """The subtasks of a task as they stand in it."""
    found = raw.get("subtasks")
    fit = isinstance(found, list) and all(isinstance(one, dict) for one in found)
    return found if fit and found else []


def task_of(entry: Entry, raw: Record, tasks: Mapping[str, Record]) -> Record:
    """A task in cub's spelling. One with subtasks is an epic, and what it waits for, they do."""
    tag = ids.prefix(entry.place)
    said = raw.get("dependencies")
    said = said if isinstance(said, list) else []
    needs = [ids.target(one, entry.parent, tag, tasks) for one in said]
    needs += tasks[entry.parent]["depends_on"] if entry.parent else []
    status = raw.get("status")
    plain = {"details": "notes", "description": "description", "updatedAt": "updated_at"}
    found = texts(raw, plain)
    made: Record = {
        **extras(raw),
        "id": entry.id,
        "title": _title(raw) or entry.id,
        **({"status": _STATUSES.get(status, status)} if isinstance(status, str) else {}),
        **{plain[key]: value for key, value in found.items() if value},
        **priority(raw.get("priority")),
        "acceptance_criteria": criteria(raw.get("acceptanceCriteria")),
        "depends_on": list(dict.fromkeys(need for need in needs if need)),
        **({"issue_type": EPIC} if subtasks_of(raw) else {}),
        **({"parent": entry.parent} if entry.parent else {}),
        **others(raw, _USED),
    }
    return normal(made)


def item_of(record: Record, tasks: Mapping[str, Record], place: Place) -> Record:
    """A task as task-master has it, without its subtasks, which say that it is an epic."""
    get, tag = record.get, ids.prefix(place)
    parent = record["parent"] if ids.is_nested(record, tasks) else ""
    inherited = tasks[parent].get("depends_on", ()) if parent else ()
    needs = [other for other in get("depends_on", ()) if other not in inherited]
    level = get("priority")
    longer = {
        "details": get("notes"),
        "acceptanceCriteria": as_text(get("acceptance_criteria")),
        "updatedAt": get("updated_at"),
    }
    apart = {"parent"} if parent else set()
    apart |= {"issue_type"} if get("issue_type") == EPIC else set()
    return {
        "id": ids.within(record["id"], parent, tag),
        "title": get("title", ""),
        "description": get("description", ""),
        "status": _status(record),
        "dependencies": [ids.named(other, parent, tag) for other in needs],
        **({"priority": _PRIORITIES[level]} if type(level) is int and 0 <= level <= 4 else {}),
        **{key: value for key, value in longer.items() if value},
        **{k: v for k, v in written_extras(record).items() if k not in apart},
        **written_others(record, _USED),
    }


def _status(record: Record) -> str:
    if record["status"] == CLOSED and record.get("close_reason") in UNDONE:
        return "cancelled"
    return _WRITTEN.get(record["status"], "pending")


def _title(raw: Record) -> str:
    found = texts(raw, ("title", "description"))
    return found.get("title", "").strip() or first_line(found.get("description", ""))
