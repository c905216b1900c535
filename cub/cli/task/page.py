"""One task as a page of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cub.cli import output
from cub.cli.visible import visible
from cub.store.spelling import PARKED

if TYPE_CHECKING:
    from cub.actions.tasks.queries import Shown
    from cub.store.jsonl import Record

_FACTS = (
    ("status", "status"),
    ("close_reason", "closed as"),
    ("priority", "priority"),
    ("issue_type", "type"),
    ("assignee", "assignee"),
    ("created_at", "created"),
    ("updated_at", "changed"),
    ("closed_at", "closed"),
)


def page(shown: Shown) -> Iterator[str]:
    """The lines: title, facts, neighbours, and then the longer texts."""
    record = shown.record
    yield visible(f"{record['id']}  {record.get('title', '')}")
    facts = [*_facts(record), *_around(shown)]
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        yield f"  {name.ljust(width)}  {visible(value)}"
    yield from _block("Description", str(record.get("description") or "").splitlines())
    yield from _block("Acceptance criteria", _items(record, "acceptance_criteria"))
    yield from _block("Checks", _items(record, "checks"))
    yield from _block("Tasks", _children(shown))
    yield from _block("Notes", str(record.get("notes") or "").splitlines())
    if record["status"] == PARKED:
        yield ""
        yield visible(
            f"It is parked. `cub task reopen {record['id']}` has it worked on again; "
            f"`cub task edit {record['id']} --note TEXT` tells the agent more before."
        )


def _facts(record: Record) -> Iterator[tuple[str, str]]:
    for key, name in _FACTS:
        if (value := record.get(key)) is not None:
            yield name, f"P{value}" if key == "priority" else str(value)
    if labels := record.get("labels"):
        yield "labels", ", ".join(labels)
    lease = record.get("lease")
    if isinstance(lease, dict) and record["status"] == "in_progress":
        yield "lease", f"until {lease.get('expires', '?')}"


def _around(shown: Shown) -> Iterator[tuple[str, str]]:
    if shown.parent is not None:
        yield "part of", f"{shown.parent['id']}  {shown.parent.get('title', '')}"
    if shown.waits_for:
        yield "waits for", ", ".join(shown.waits_for)
    if shown.blocks:
        yield "blocks", ", ".join(shown.blocks)


def _children(shown: Shown) -> list[str]:
    rows = [(c["id"], str(c["status"]), str(c.get("title", ""))) for c in shown.children]
    return output.columns([[visible(cell) for cell in row] for row in rows]) if rows else []


def _items(record: Record, key: str) -> list[str]:
    return [f"- {item}" for item in record.get(key, ())]


def _block(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield f"{title}:"
        yield from (f"  {visible(line)}".rstrip() for line in lines)
