"""One issue of beads as a task of cub's, and a task as an issue."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cub.store.formats.picking import (
    as_text,
    criteria,
    extras,
    is_texts,
    others,
    priority,
    texts,
    written_extras,
    written_others,
)
from cub.store.jsonl import Record
from cub.store.spelling import CLOSED, IN_PROGRESS, OPEN, PARKED, RETRY, normal

BLOCKS, CHILD = "blocks", "parent-child"
_STATUSES = {
    "blocked": PARKED, "deferred": PARKED, "pinned": PARKED, "hooked": IN_PROGRESS,
    "tombstone": CLOSED,
}  # fmt: skip
_WRITTEN = {RETRY: OPEN, PARKED: "deferred"}
_TEXTS = (
    "title", "description", "notes", "assignee", "issue_type", "created_at", "updated_at",
    "closed_at",
)  # fmt: skip
_REASON = re.compile(r"\s*(?:no change|won't fix|wontfix|duplicate)\b")
_USED = (*_TEXTS, "id", "status", "priority", "acceptance_criteria", "labels", "dependencies")


def task_of(raw: Record) -> Record:
    """An issue in cub's spelling. Lists are there also where they are empty: an issue whose last
    label or dependency went says nothing of them.
    """
    edges = edges_in(raw)
    parents = [edge["depends_on_id"] for edge in edges if edge["type"] == CHILD]
    parents += texts(raw, ("parent",)).values()
    blockers = [edge["depends_on_id"] for edge in edges if edge["type"] == BLOCKS]
    made: Record = {
        "id": raw["id"],
        **{key: value for key, value in texts(raw, _TEXTS).items() if value},
        **_status(raw),
        **priority(raw.get("priority")),
        **extras({"checks": raw.get("checks")}),
        **({"parent": parents[0]} if parents and parents[0] else {}),
        "acceptance_criteria": criteria(raw.get("acceptance_criteria")),
        "depends_on": list(dict.fromkeys(blockers)),
        "labels": raw["labels"] if is_texts(raw.get("labels")) else [],
        **others(raw, _USED),
        **({"dependencies": raw["dependencies"]} if edges else {}),
    }
    return normal(made)


def issue_of(record: Record) -> Record:
    """A task as an issue of beads."""
    status = record["status"]
    plain = (*_TEXTS, "priority", "close_reason")
    made = {
        "id": record["id"],
        **{key: record[key] for key in plain if record.get(key) is not None},
    }
    made["status"] = _WRITTEN.get(status, status)
    if found := record.get("acceptance_criteria"):
        made["acceptance_criteria"] = as_text(found)
    if labels := record.get("labels"):
        made["labels"] = labels
    if edges := list(_edges_of(record)):
        made["dependencies"] = edges
    return made | written_extras(record, ("checks",)) | written_others(record, _USED)


def reason_of(text: object) -> str:
    """Why an issue was closed, in one of cub's words: the one that the text begins with."""
    found = _REASON.match(str(text or "").replace("_", " ").lower())
    return "_".join(found[0].replace("won't fix", "wontfix").split()) if found else "done"


def _status(raw: Record) -> Record:
    said = raw.get("status")
    status = _STATUSES.get(said, said) if isinstance(said, str) and said else OPEN
    if status != CLOSED:
        return {"status": status}
    reason = reason_of(raw.get("close_reason")) if said == CLOSED else "wontfix"
    return {"status": CLOSED, "close_reason": reason}


def edges_in(raw: Record) -> list[Record]:
    """The dependencies of an issue, if all of them are what they should be."""
    edges = raw.get("dependencies")
    fit = isinstance(edges, list) and all(_is_edge(edge, raw["id"]) for edge in edges)
    return edges if fit and edges else []


def _is_edge(edge: Any, key: str) -> bool:
    if not isinstance(edge, dict) or edge.get("issue_id", key) != key:
        return False
    return all(isinstance(edge.get(name), str) for name in ("depends_on_id", "type"))


def _edges_of(record: Record) -> Iterator[Record]:
    """Those that the issue had, without what went, and then what is new."""
    parent = record.get("parent")
    wanted = [(BLOCKS, other) for other in record.get("depends_on", ())]
    wanted += [(CHILD, parent)] if parent else []
    had = set()
    for edge in edges_in(record):
        pair = edge["type"], edge["depends_on_id"]
        if pair in wanted or edge["type"] not in (BLOCKS, CHILD):
            had.add(pair)
            yield edge
    for kind, other in wanted:
        if (kind, other) not in had:
            yield {"issue_id": record["id"], "depends_on_id": other, "type": kind}
