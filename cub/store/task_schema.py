"""How a task is spelled: cub's own keys and values, and those of other tools read as cub's."""

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
CLOSE_REASONS = ("done", "no_change", "wontfix", "duplicate")
DELETED = "deleted"  # no status: what lists and events say in the place of one
UNDONE_REASONS = ("wontfix", "duplicate")  # closed, and what waits for it waits on
TASK_TYPES = ("task", "feature", "bug", "epic", "chore")
LIST_KEYS = ("acceptance_criteria", "depends_on", "labels", "checks")
SET_KEYS = ("depends_on", "labels")
DEFAULT_PRIORITY = 2  # the priority of a task that tells none

_KEYS_OF_OTHERS = {
    "dependsOn": "depends_on", "blockedBy": "depends_on", "blocked_by": "depends_on",
    "dependencies": "depends_on", "acceptanceCriteria": "acceptance_criteria",
    "issueType": "issue_type", "type": "issue_type", "closeReason": "close_reason",
    "createdAt": "created_at", "updatedAt": "updated_at", "closedAt": "closed_at",
    "parentId": "parent", "parent_id": "parent", "epicId": "parent", "epic_id": "parent",
    "epic": "parent", "tags": "labels",
}  # fmt: skip
_OTHERS = frozenset(_KEYS_OF_OTHERS)
KNOWN_KEYS = frozenset((*TASK_KEYS, *_KEYS_OF_OTHERS))  # what is read as a key of cub's
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
    """Whether a record has nothing to be read as something else; most have not."""
    return (
        type(raw.get("id")) is str
        and raw.get("status") in STATUSES
        and type(raw.get("priority")) is int
        and _OTHERS.isdisjoint(raw)
    )


def normalize_record(raw: Record) -> Record:
    """A record in cub's spelling and order. What cub does not know is kept, behind the rest."""
    known = _own_keys(raw)
    said = known.get("status")
    for key in LIST_KEYS:
        if key in known:
            known[key] = _texts(key, known[key])
    for key in ("id", "parent"):
        if type(known.get(key)) is int:
            known[key] = str(known[key])
    known["status"] = normalize_status(said)
    if "priority" in known:
        known["priority"] = normalize_priority(known["priority"])
    if known["status"] == CLOSED and "close_reason" not in known and said != CLOSED:
        known["close_reason"] = _REASONS_OF_OTHERS.get(_word(said), "done")
    return sort_keys(known)


def sort_keys(record: Record) -> Record:
    """Known keys first, in their order; then the others, in theirs."""
    ordered = {key: record[key] for key in TASK_KEYS if key in record}
    return ordered | {key: value for key, value in record.items() if key not in ordered}


def normalize_status(value: object) -> Any:
    """The status that a word of another tool stands for; a word that stands for none stays."""
    if value in STATUSES:
        return value
    if not isinstance(value, str) or not value:
        return OPEN if value in (None, "", False) else CLOSED if value is True else value
    word = _word(value)
    return word if word in STATUSES else _STATUSES_OF_OTHERS.get(word, value)


def normalize_priority(value: object) -> Any:
    """0 to 4 for "P2", "2", 2 or "medium"; anything else stays."""
    if isinstance(value, str):
        found = _PRIORITY.fullmatch(value.strip())
        return int(found[1]) if found else _PRIORITIES.get(value.strip().lower(), value)
    return value


def normalize_texts(value: object) -> list[str]:
    """What is or should be a list of texts, each once: no list is one of one, or of none."""
    values = value if isinstance(value, list) else [value] if value not in (None, "") else []
    return list(dict.fromkeys(v if isinstance(v, str) else dump_canonical(v) for v in values))


def _own_keys(raw: Record) -> Record:
    """The keys in cub's spelling. Where two mean one thing, the second stays what it is."""
    said = {key: value for key, value in raw.items() if value is not None or key not in TASK_KEYS}
    found: Record = {}
    for key, value in said.items():
        own = _KEYS_OF_OTHERS.get(key, key)
        taken = own in found or (own != key and own in said) or not _fits(own, key, value)
        found[key if taken else own] = value
    return found


def _fits(own: str, key: str, value: object) -> bool:
    """Whether another tool's key means what cub's does: a list of ids, or the id of a parent."""
    if own == key or value is None:
        return own == key
    if own == "depends_on":
        return isinstance(value, list) and all(type(one) in _IDS for one in value)
    return own != "parent" or type(value) in _IDS


def _texts(key: str, value: object) -> list[Any]:
    if key == "labels" and isinstance(value, str):
        return normalize_texts([word.strip() for word in value.split(",") if word.strip()])
    return normalize_texts(value)


def _word(value: object) -> str:
    return str(value).strip().lower().replace(" ", "_").replace("-", "_")
