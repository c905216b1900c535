"""Read `beads`: issues.jsonl, or the output of `bd export`, with one issue in each line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from cub.store.formats import source_fields as fields
from cub.store.jsonl import JsonlLine, Record, RejectedLine, decode_record, iter_lines
from cub.store.record_merge import merge_records
from cub.store.task_schema import CLOSED, IN_PROGRESS, OPEN, PARKED, normalize_record

BEADS = "beads"
BLOCKS, CHILD = "blocks", "parent-child"
_STATUSES = {
    "blocked": PARKED, "deferred": PARKED, "pinned": PARKED, "hooked": IN_PROGRESS,
    "tombstone": CLOSED,
}  # fmt: skip
_TEXTS = (
    "title", "description", "notes", "assignee", "issue_type", "created_at", "updated_at",
    "closed_at",
)  # fmt: skip
_REASON = re.compile(r"\s*(?:no change|won't fix|wontfix|duplicate)\b")
_USED = (*_TEXTS, "id", "status", "priority", "acceptance_criteria", "labels", "dependencies")


def parse_beads(data: bytes) -> fields.ImportedTasks:
    """Return the issues of a file, without the memories that beads keeps beside them."""
    lines_by_id: dict[str, list[tuple[JsonlLine, Record]]] = {}
    imported = fields.ImportedTasks(BEADS, [], [], [])
    for line in iter_lines(BytesIO(data)):
        try:
            raw = parse_issue(line)
        except ValueError as error:
            imported.rejected_lines.append(RejectedLine(line, str(error)))
            continue
        if raw is not None:
            record = fields.attach_origin(issue_to_task(raw), raw, BEADS)
            lines_by_id.setdefault(record["id"], []).append((line, record))
    for key, lines in lines_by_id.items():
        imported.compare_lines(key, lines)
        imported.records.append(merge_records(record for _, record in lines))
    return imported


def is_beads(objects: Sequence[Record]) -> bool:
    """Return whether objects are issues and not cub's tasks, by keys that only one of them has."""
    if any("_type" in raw or _list_edges({"id": raw.get("id"), **raw}) for raw in objects):
        return True
    own_keys = {"rev", "stamps", "depends_on", "dependsOn", "blockedBy", "acceptanceCriteria"}
    issue_keys = {"id", "title", "status", "issue_type", "created_at"}
    return bool(objects) and all(
        own_keys.isdisjoint(raw) and issue_keys <= raw.keys() for raw in objects
    )


def parse_issue(line: JsonlLine) -> Record | None:
    """Return a line's object; None if it is not an issue, ValueError for an issue without id."""
    raw = decode_record(line.text)
    if raw.get("_type", "issue") != "issue":
        return None
    if not isinstance(raw.get("id"), str) or not raw["id"]:
        raise ValueError("not an issue: it has no id")
    return raw


def issue_to_task(raw: Record) -> Record:
    """Return an issue in cub's spelling.

    Empty lists are fields as well: an issue whose last label or dependency was removed has no
    such key.
    """
    edges = _list_edges(raw)
    parents = [edge["depends_on_id"] for edge in edges if edge["type"] == CHILD]
    parents += fields.pick_texts(raw, ("parent",)).values()
    blockers = [edge["depends_on_id"] for edge in edges if edge["type"] == BLOCKS]
    task: Record = {
        "id": raw["id"],
        **{key: value for key, value in fields.pick_texts(raw, _TEXTS).items() if value},
        **_pick_status(raw),
        **fields.pick_priority(raw.get("priority")),
        **fields.pick_extras({"checks": raw.get("checks")}),
        **({"parent": parents[0]} if parents and parents[0] else {}),
        "acceptance_criteria": fields.parse_criteria(raw.get("acceptance_criteria")),
        "depends_on": list(dict.fromkeys(blockers)),
        "labels": raw["labels"] if fields.is_text_list(raw.get("labels")) else [],
        **fields.pick_unknown(raw, _USED),
        **({"dependencies": raw["dependencies"]} if edges else {}),
    }
    return normalize_record(task)


def find_close_reason(text: object) -> str:
    """Return why an issue was closed: cub's reason that the text begins with, else "done"."""
    match = _REASON.match(str(text or "").replace("_", " ").lower())
    return "_".join(match[0].replace("won't fix", "wontfix").split()) if match else "done"


def _pick_status(raw: Record) -> Record:
    word = raw.get("status")
    status = _STATUSES.get(word, word) if isinstance(word, str) and word else OPEN
    if status != CLOSED:
        return {"status": status}
    reason = find_close_reason(raw.get("close_reason")) if word == CLOSED else "wontfix"
    return {"status": CLOSED, "close_reason": reason}


def _list_edges(raw: Record) -> list[Record]:
    """Return the dependencies of an issue; none if one of them is not what it should be."""
    edges = raw.get("dependencies")
    return edges if isinstance(edges, list) and all(_is_edge(e, raw["id"]) for e in edges) else []


def _is_edge(edge: Any, issue_id: str) -> bool:
    if not isinstance(edge, dict) or edge.get("issue_id", issue_id) != issue_id:
        return False
    return all(isinstance(edge.get(name), str) for name in ("depends_on_id", "type"))
