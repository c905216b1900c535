"""One task as a page of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cub.cli import output
from cub.cli.times import time_and_distance, with_local_times
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
)
_TIMES = (("created_at", "created"), ("updated_at", "changed"), ("closed_at", "closed"))
_INDENT = "  "


def print_page(shown: Shown) -> None:
    """Print the title, facts, neighbours, and then the longer texts."""
    record = shown.record
    output.heading(f"{record['id']}  {record.get('title', '')}")
    facts = [*_facts(record, datetime.now(UTC)), *_around(shown)]
    output.rows(facts, prose=(1,), indent=_INDENT)
    _print_text("Description", str(record.get("description") or "").splitlines())
    _print_text("Acceptance criteria", _items(record, "acceptance_criteria"))
    _print_text("Checks", _items(record, "checks"))
    _print_children(shown)
    _print_text("Notes", map(_with_local_time, str(record.get("notes") or "").splitlines()))
    if record["status"] == PARKED:
        output.line()
        output.paragraph(
            f"It is parked. `cub task reopen {record['id']}` has it worked on again; "
            f"`cub task edit {record['id']} --note TEXT` tells the agent more before.",
            "",
        )


def _facts(record: Record, now: datetime) -> Iterator[tuple[str, str]]:
    for key, name in _FACTS:
        if (value := record.get(key)) is not None:
            yield name, f"P{value}" if key == "priority" else str(value)
    for key, name in _TIMES:
        if (value := record.get(key)) is not None:
            yield name, time_and_distance(value, now)
    if labels := record.get("labels"):
        yield "labels", ", ".join(labels)
    lease = record.get("lease")
    if isinstance(lease, dict) and record["status"] == "in_progress":
        yield "lease", f"until {time_and_distance(lease.get('expires', '?'), now)}"


def _around(shown: Shown) -> Iterator[tuple[str, str]]:
    if shown.parent is not None:
        yield "part of", f"{shown.parent['id']}  {shown.parent.get('title', '')}"
    if shown.waits_for:
        yield "waits for", ", ".join(shown.waits_for)
    if shown.blocks:
        yield "blocks", ", ".join(shown.blocks)


def _print_children(shown: Shown) -> None:
    rows = [(c["id"], str(c["status"]), str(c.get("title", ""))) for c in shown.children]
    if rows:
        output.line()
        output.line("Tasks:")
        output.rows(rows, prose=(2,), indent=_INDENT)


def _with_local_time(note: str) -> str:
    """A note with the stamp that cub has put before it in the person's own zone."""
    stamp, space, text = note.partition(" ")
    return f"{with_local_times(stamp)}{space}{text}"


def _items(record: Record, key: str) -> list[str]:
    return [f"- {item}" for item in record.get(key, ())]


def _print_text(title: str, lines: Iterable[str]) -> None:
    """A text below its title; code in it is shown as it is, however wide."""
    fenced = False
    for number, line in enumerate(lines):
        if not number:
            output.line()
            output.line(f"{title}:")
        shown = f"{_INDENT}{line}".rstrip()
        fence = line.lstrip().startswith("```")
        if fence or fenced or line.startswith(("    ", "\t")):
            output.line(shown)
        else:
            output.paragraph(shown, _INDENT if line.lstrip().startswith(("- ", "* ")) else "")
        fenced ^= fence
