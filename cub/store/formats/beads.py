"""`beads`: issues.jsonl, what `bd export` prints: an issue a line, its dependencies as objects."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

from cub.store.formats.beads_issue import edges_in, issue_of, task_of
from cub.store.formats.document import Imported
from cub.store.formats.origin import remembered, restored
from cub.store.jsonl import Line, Record, Rejected, decode, encode, lines
from cub.store.merge import merged

NAME = "beads"


def read(data: bytes, _where: str) -> Imported:
    """The issues of a file; its memories are none."""
    found: dict[str, list[Record]] = {}
    rejected = []
    for line in lines(BytesIO(data)):
        try:
            raw = issue(line)
        except ValueError as error:
            rejected.append(Rejected(line, str(error)))
            continue
        if raw is not None:
            record = task_of(raw)
            record = remembered(record, raw, issue_of(record), {"format": NAME})
            found.setdefault(record["id"], []).append(record)
    return Imported(NAME, [merged(records) for records in found.values()], rejected)


def write(records: Sequence[Record]) -> bytes:
    """Issues in the order of their ids, as beads writes them."""
    ordered = sorted(records, key=lambda record: str(record["id"]))
    issues = (restored(record, issue_of(record), NAME) for record in ordered)
    return b"".join(encode(one) + b"\n" for one in issues)


def fits(objects: Sequence[Record]) -> bool:
    """Whether these are issues rather than tasks of cub's: by what only one of the two has."""
    if any("_type" in one or edges_in({"id": one.get("id"), **one}) for one in objects):
        return True
    ours = {"rev", "stamps", "depends_on", "dependsOn", "blockedBy", "acceptanceCriteria"}
    return all(
        ours.isdisjoint(one) and {"id", "title", "status", "issue_type", "created_at"} <= one.keys()
        for one in objects
    ) and bool(objects)


def issue(line: Line) -> Record | None:
    """The object of a line; None for one that is no issue, ValueError for one that can't be."""
    raw = decode(line.text)
    if raw.get("_type", "issue") != "issue":
        return None
    if not isinstance(raw.get("id"), str) or not raw["id"]:
        raise ValueError("this is no issue: it has no id")
    return raw
