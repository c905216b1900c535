"""Run `cub task show`: print one task as a page of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import typer

from cub.cli import output
from cub.cli.options import Json
from cub.cli.task_stores import Id, open_task_stores
from cub.cli.time_format import format_time_with_age, localize_timestamps
from cub.store.task_schema import PARKED

if TYPE_CHECKING:
    from cub.actions.tasks.task_queries import TaskDetails
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


def show(context: typer.Context, key: Id, json: Json = False) -> None:
    """Show a task, its dependencies, and its dependents.

    Example: cub task show k3f9a
    """
    from cub.actions.tasks.task_queries import read_task_details
    from cub.cli.json_output import task_detail_to_json

    stores = open_task_stores(context)
    detail = read_task_details(stores, key)
    if json:
        output.print_json(task_detail_to_json(detail, stores.root))
        return
    output.print_warnings(detail.warnings)
    print_task_page(detail)


def print_task_page(detail: TaskDetails) -> None:
    """Print the title, facts, neighbours, and then the longer texts."""
    record = detail.record
    output.print_heading(f"{record['id']}  {record.get('title', '')}")
    facts = [*_iter_facts(record, datetime.now(UTC)), *_iter_neighbors(detail)]
    output.print_rows(facts, prose=(1,), indent=_INDENT)
    _print_text("Description", str(record.get("description") or "").splitlines())
    _print_text("Acceptance criteria", _list_items(record, "acceptance_criteria"))
    _print_text("Checks", _list_items(record, "checks"))
    _print_children(detail)
    _print_text("Notes", map(_localize_note, str(record.get("notes") or "").splitlines()))
    if record["status"] == PARKED:
        output.print_line()
        output.print_paragraph(
            f"The task is parked. Run `cub task reopen {record['id']}` to retry it, after "
            f"`cub task edit {record['id']} --note TEXT` if the agent needs more information.",
            "",
        )


def _iter_facts(record: Record, now: datetime) -> Iterator[tuple[str, str]]:
    from cub.store.formats.source_fields import get_source_value

    for key, name in _FACTS:
        if (value := record.get(key)) is not None:
            source = get_source_value(record, key) if key == "close_reason" else None
            shown = f"P{value}" if key == "priority" else str(value)
            yield name, f"{shown}: {source}" if source else shown
    for key, name in _TIMES:
        if (value := record.get(key)) is not None:
            yield name, format_time_with_age(value, now)
    if labels := record.get("labels"):
        yield "labels", ", ".join(labels)
    lease = record.get("lease")
    if isinstance(lease, dict) and record["status"] == "in_progress":
        yield "lease", f"until {format_time_with_age(lease.get('expires', '?'), now)}"


def _iter_neighbors(detail: TaskDetails) -> Iterator[tuple[str, str]]:
    if detail.parent is not None:
        yield "part of", f"{detail.parent['id']}  {detail.parent.get('title', '')}"
    if detail.waits_for:
        yield "waits for", ", ".join(detail.waits_for)
    if detail.blocks:
        yield "blocks", ", ".join(detail.blocks)


def _print_children(detail: TaskDetails) -> None:
    rows = [(c["id"], str(c["status"]), str(c.get("title", ""))) for c in detail.children]
    if rows:
        output.print_line()
        output.print_line("Tasks:")
        output.print_rows(rows, prose=(2,), indent=_INDENT)


def _localize_note(note: str) -> str:
    """Return a note with the time that cub has put before it in the local time zone."""
    stamp, space, text = note.partition(" ")
    return f"{localize_timestamps(stamp)}{space}{text}"


def _list_items(record: Record, key: str) -> list[str]:
    return [f"- {item}" for item in record.get(key, ())]


def _print_text(title: str, lines: Iterable[str]) -> None:
    """Print a text below its title; code in it is not wrapped."""
    is_code = False
    for number, line in enumerate(lines):
        if not number:
            output.print_line()
            output.print_line(f"{title}:")
        text = f"{_INDENT}{line}".rstrip()
        fence = line.lstrip().startswith("```")
        if fence or is_code or line.startswith(("    ", "\t")):
            output.print_line(text)
        else:
            output.print_paragraph(text, _INDENT if line.lstrip().startswith(("- ", "* ")) else "")
        is_code ^= fence
