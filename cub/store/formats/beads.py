"""`beads`: issues.jsonl, what `bd export` prints: an issue a line, its dependencies as objects.

One issue of beads as a task of cub's, and a task as an issue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any

from cub.store.formats.document import ImportedTasks
from cub.store.formats.source_fields import (
    attach_origin,
    dump_extras,
    dump_unknown,
    is_text_list,
    join_criteria,
    parse_criteria,
    pick_extras,
    pick_priority,
    pick_texts,
    pick_unknown,
    restore_source_fields,
)
from cub.store.jsonl import (
    JsonlLine,
    Record,
    RejectedLine,
    decode_record,
    encode_record,
    iter_lines,
)
from cub.store.record_merge import merge_records
from cub.store.task_schema import CLOSED, IN_PROGRESS, OPEN, PARKED, RETRY, normalize_record

BEADS = "beads"


def parse_beads(data: bytes, _where: str) -> ImportedTasks:
    """The issues of a file; its memories are none."""
    found: dict[str, list[Record]] = {}
    rejected = []
    for line in iter_lines(BytesIO(data)):
        try:
            raw = parse_issue(line)
        except ValueError as error:
            rejected.append(RejectedLine(line, str(error)))
            continue
        if raw is not None:
            record = issue_to_task(raw)
            record = attach_origin(record, raw, task_to_issue(record), {"format": BEADS})
            found.setdefault(record["id"], []).append(record)
    return ImportedTasks(BEADS, [merge_records(records) for records in found.values()], rejected)


def dump_beads(records: Sequence[Record]) -> bytes:
    """Issues in the order of their ids, as beads writes them."""
    ordered = sorted(records, key=lambda record: str(record["id"]))
    issues = (restore_source_fields(record, task_to_issue(record), BEADS) for record in ordered)
    return b"".join(encode_record(one) + b"\n" for one in issues)


def is_beads(objects: Sequence[Record]) -> bool:
    """Whether these are issues rather than tasks of cub's: by what only one of the two has."""
    if any("_type" in one or list_edges({"id": one.get("id"), **one}) for one in objects):
        return True
    ours = {"rev", "stamps", "depends_on", "dependsOn", "blockedBy", "acceptanceCriteria"}
    return all(
        ours.isdisjoint(one) and {"id", "title", "status", "issue_type", "created_at"} <= one.keys()
        for one in objects
    ) and bool(objects)


def parse_issue(line: JsonlLine) -> Record | None:
    """The object of a line; None for one that is no issue, ValueError for one that can't be."""
    raw = decode_record(line.text)
    if raw.get("_type", "issue") != "issue":
        return None
    if not isinstance(raw.get("id"), str) or not raw["id"]:
        raise ValueError("this is no issue: it has no id")
    return raw


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


def issue_to_task(raw: Record) -> Record:
    """An issue in cub's spelling. Lists are there also where they are empty: an issue whose last
    label or dependency went says nothing of them.
    """
    edges = list_edges(raw)
    parents = [edge["depends_on_id"] for edge in edges if edge["type"] == CHILD]
    parents += pick_texts(raw, ("parent",)).values()
    blockers = [edge["depends_on_id"] for edge in edges if edge["type"] == BLOCKS]
    made: Record = {
        "id": raw["id"],
        **{key: value for key, value in pick_texts(raw, _TEXTS).items() if value},
        **_status(raw),
        **pick_priority(raw.get("priority")),
        **pick_extras({"checks": raw.get("checks")}),
        **({"parent": parents[0]} if parents and parents[0] else {}),
        "acceptance_criteria": parse_criteria(raw.get("acceptance_criteria")),
        "depends_on": list(dict.fromkeys(blockers)),
        "labels": raw["labels"] if is_text_list(raw.get("labels")) else [],
        **pick_unknown(raw, _USED),
        **({"dependencies": raw["dependencies"]} if edges else {}),
    }
    return normalize_record(made)


def task_to_issue(record: Record) -> Record:
    """A task as an issue of beads."""
    status = record["status"]
    plain = (*_TEXTS, "priority", "close_reason")
    made = {
        "id": record["id"],
        **{key: record[key] for key in plain if record.get(key) is not None},
    }
    made["status"] = _WRITTEN.get(status, status)
    if found := record.get("acceptance_criteria"):
        made["acceptance_criteria"] = join_criteria(found)
    if labels := record.get("labels"):
        made["labels"] = labels
    if edges := list(_edges_of(record)):
        made["dependencies"] = edges
    return made | dump_extras(record, ("checks",)) | dump_unknown(record, _USED)


def find_close_reason(text: object) -> str:
    """Why an issue was closed, in one of cub's words: the one that the text begins with."""
    found = _REASON.match(str(text or "").replace("_", " ").lower())
    return "_".join(found[0].replace("won't fix", "wontfix").split()) if found else "done"


def _status(raw: Record) -> Record:
    said = raw.get("status")
    status = _STATUSES.get(said, said) if isinstance(said, str) and said else OPEN
    if status != CLOSED:
        return {"status": status}
    reason = find_close_reason(raw.get("close_reason")) if said == CLOSED else "wontfix"
    return {"status": CLOSED, "close_reason": reason}


def list_edges(raw: Record) -> list[Record]:
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
    for edge in list_edges(record):
        pair = edge["type"], edge["depends_on_id"]
        if pair in wanted or edge["type"] not in (BLOCKS, CHILD):
            had.add(pair)
            yield edge
    for kind, other in wanted:
        if (kind, other) not in had:
            yield {"issue_id": record["id"], "depends_on_id": other, "type": kind}
