"""Define how a task is spelled, and read other tools' keys and values as cub's."""

from __future__ import annotations

import re
from typing import Any

from cub.store.jsonl import Record, dump_canonical

# The keys of a task, in the order in which they are written.
TASK_KEYS = (
    "id", "rev", "title", "status", "priority", "issue_type", "description",
    "acceptance_criteria", "depends_on", "parent", "labels", "checks", "assignee", "lease",
    "close_reason", "created_at", "updated_at", "closed_at", "reopened_at", "deleted_at", "notes",
    "stamps",
)  # fmt: skip
OPEN, IN_PROGRESS, RETRY, PARKED, CLOSED = "open", "in_progress", "retry", "parked", "closed"
STATUSES = (OPEN, IN_PROGRESS, RETRY, PARKED, CLOSED)
LAST_IMPORT = "last_import"  # what an import remembers, for the next one in this project
DELETED = "deleted"  # not a status: lists and events show it instead of one
NO_CHANGE = "no_change"  # why a task is closed that needed none
UNDONE_REASONS = ("wontfix", "duplicate")  # closed, and tasks that depend on it still wait
TASK_TYPES = ("task", "feature", "bug", "epic", "chore")
LIST_KEYS = ("acceptance_criteria", "depends_on", "labels", "checks")
SET_KEYS = ("depends_on", "labels")
DEFAULT_PRIORITY = 2  # of a task without one

KEYS_OF_OTHERS = {
    "dependsOn": "depends_on", "blockedBy": "depends_on", "blocked_by": "depends_on",
    "dependencies": "depends_on", "acceptanceCriteria": "acceptance_criteria",
    "issueType": "issue_type", "type": "issue_type", "closeReason": "close_reason",
    "createdAt": "created_at", "updatedAt": "updated_at", "closedAt": "closed_at",
    "parentId": "parent", "parent_id": "parent", "epicId": "parent", "epic_id": "parent",
    "epic": "parent", "tags": "labels",
}  # fmt: skip
_OTHERS = frozenset(KEYS_OF_OTHERS)
KNOWN_KEYS = frozenset((*TASK_KEYS, *KEYS_OF_OTHERS))  # that are read as cub's
_STATUSES_OF_OTHERS = {
    "todo": OPEN, "to_do": OPEN, "pending": OPEN, "new": OPEN, "backlog": OPEN, "ready": OPEN,
    "not_started": OPEN, "doing": IN_PROGRESS, "started": IN_PROGRESS, "active": IN_PROGRESS,
    "wip": IN_PROGRESS, "inprogress": IN_PROGRESS, "deferred": PARKED, "on_hold": PARKED,
    "paused": PARKED, "failed": RETRY, "done": CLOSED, "complete": CLOSED, "completed": CLOSED,
    "resolved": CLOSED, "fixed": CLOSED, "finished": CLOSED, "cancelled": CLOSED,
    "canceled": CLOSED, "wontfix": CLOSED, "won't_fix": CLOSED, "duplicate": CLOSED,
}  # fmt: skip
_REASONS_OF_OTHERS = {
    "cancelled": "wontfix", "canceled": "wontfix", "wontfix": "wontfix", "won't_fix": "wontfix",
    "duplicate": "duplicate",
}  # fmt: skip
_PRIORITIES = {
    "critical": 0, "urgent": 0, "highest": 0, "high": 1, "medium": 2, "normal": 2, "low": 3,
    "lowest": 4, "backlog": 4,
}  # fmt: skip
_PRIORITY = re.compile(r"[Pp]?([0-4])")
_IDS = (str, int)


def is_normalized(raw: Record) -> bool:
    """Return whether nothing in a record needs to be read as something else, as in most."""
    return (
        type(raw.get("id")) is str
        and raw.get("status") in STATUSES
        and type(raw.get("priority")) is int
        and _OTHERS.isdisjoint(raw)
    )


def normalize_record(raw: Record) -> Record:
    """Return a record in cub's spelling and order; unknown keys follow the known ones."""
    record = _rename_keys(raw)
    word = record.get("status")
    if isinstance(labels := record.get("labels"), str):
        record["labels"] = [label.strip() for label in labels.split(",") if label.strip()]
    for key in LIST_KEYS:
        if key in record:
            record[key] = normalize_texts(record[key])
    for key in ("id", "parent"):
        if type(record.get(key)) is int:
            record[key] = str(record[key])
    record["status"] = normalize_status(word)
    if "priority" in record:
        record["priority"] = normalize_priority(record["priority"])
    if record["status"] == CLOSED and "close_reason" not in record and word != CLOSED:
        record["close_reason"] = _REASONS_OF_OTHERS.get(_spell_word(word), "done")
    return sort_keys(record)


def sort_keys(record: Record) -> Record:
    """Return a record with known keys first, in their order, then the others, in theirs."""
    ordered = {key: record[key] for key in TASK_KEYS if key in record}
    return ordered | {key: value for key, value in record.items() if key not in ordered}


def normalize_status(value: object) -> Any:
    """Return the status that another tool's word stands for; other words stay."""
    if value in STATUSES:
        return value
    if not isinstance(value, str) or not value:
        return OPEN if value in (None, "", False) else CLOSED if value is True else value
    word = _spell_word(value)
    return word if word in STATUSES else _STATUSES_OF_OTHERS.get(word, value)


def normalize_priority(value: object) -> Any:
    """Return 0 to 4 for "P2", "2", 2 or "medium"; anything else stays."""
    if isinstance(value, str):
        match = _PRIORITY.fullmatch(value.strip())
        return int(match[1]) if match else _PRIORITIES.get(value.strip().lower(), value)
    return value


def normalize_texts(value: object) -> list[str]:
    """Return a list of strings without duplicates; a single value is a list of one."""
    values = value if isinstance(value, list) else [value] if value not in (None, "") else []
    return list(dict.fromkeys(v if isinstance(v, str) else dump_canonical(v) for v in values))


def _rename_keys(raw: Record) -> Record:
    """Return the keys in cub's spelling. If two mean the same, the second one stays as it is."""
    values = {key: value for key, value in raw.items() if value is not None or key not in TASK_KEYS}
    renamed: Record = {}
    for key, value in values.items():
        own = KEYS_OF_OTHERS.get(key, key)
        is_taken = own in renamed or (own != key and own in values)
        renamed[key if is_taken or not _fits(own, key, value) else own] = value
    return renamed


def _fits(own: str, key: str, value: object) -> bool:
    """Return whether another tool's key means what cub's does: ids, or the id of a parent."""
    if own == key or value is None:
        return own == key
    if own == "depends_on":
        return isinstance(value, list) and all(type(item) in _IDS for item in value)
    return own != "parent" or type(value) in _IDS


def _spell_word(value: object) -> str:
    return str(value).strip().lower().replace(" ", "_").replace("-", "_")
