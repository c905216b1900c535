"""Write tasks as a file: cub's own JSON lines, or Markdown for people.

Nothing that a task says can leave its place in the Markdown: descriptions are in code blocks that
they cannot close, and all else is one line with the characters escaped that Markdown reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cub.store.formats.format_registry import JSONL, make_format_error
from cub.store.jsonl import Record, encode_record
from cub.store.task_index import EPIC
from cub.store.task_schema import CLOSED, DEFAULT_PRIORITY, UNDONE_REASONS

MARKDOWN = "markdown"
_SPECIAL = re.compile(r"[\\`*\[\]<>&~#|]|(?<![a-z0-9])_|_(?![a-z0-9])", re.IGNORECASE)
_NO_EPIC = "Tasks without an epic"


def dump_tasks(records: Sequence[Record], format: str) -> bytes:  # noqa: A002
    """Return tasks as a file of a format; UsageError for a format that cub does not write."""
    if format not in EXPORT_FORMATS:
        raise make_format_error(format, EXPORT_FORMATS)
    return EXPORT_FORMATS[format](sorted(records, key=lambda record: str(record["id"])))


def _dump_jsonl(records: Sequence[Record]) -> bytes:
    return b"".join(encode_record(record) + b"\n" for record in records)


def _dump_markdown(records: Sequence[Record]) -> bytes:
    """Return a section for each epic with its tasks, then one for the tasks without an epic."""
    ordered = sorted(records, key=lambda record: _split_numbers(record["id"]))
    parents = {str(record.get("parent")) for record in ordered}
    epics = {r["id"]: r for r in ordered if r.get("issue_type") == EPIC or r["id"] in parents}
    tasks: dict[str, list[Record]] = {task_id: [] for task_id in [*epics, ""]}
    for record in ordered:
        if record["id"] not in epics:
            parent = str(record.get("parent"))
            tasks[parent if parent in epics else ""].append(record)
    blocks = ["# Tasks"]
    for task_id, children in tasks.items():
        if task_id:
            blocks += _iter_blocks(epics[task_id], 2, is_below_epic=False)
        elif children and epics:
            blocks.append(f"## {_NO_EPIC}")
        for child in children:
            blocks += _iter_blocks(child, 3, is_below_epic=bool(task_id))
    return "\n\n".join([*blocks, ""]).encode("utf-8").removesuffix(b"\n")


EXPORT_FORMATS = {JSONL: _dump_jsonl, MARKDOWN: _dump_markdown}


def _iter_blocks(record: Record, level: int, *, is_below_epic: bool) -> Iterator[str]:
    yield f"{'#' * level} {_escape(record.get('title') or '')} ({_escape(record['id'])})"
    reason = record.get("close_reason") if record["status"] == CLOSED else None
    facts = [
        f"Status: {_escape(record['status'])}{f' ({_escape(reason)})' if reason else ''}",
        f"Priority: {_escape(record.get('priority', DEFAULT_PRIORITY))}",
    ]
    if record.get("parent") and not is_below_epic:
        facts.append(f"Part of: {_escape(record['parent'])}")
    if needs := record.get("depends_on"):
        facts.append(f"Depends on: {', '.join(map(_escape, needs))}")
    yield "\n".join(f"- {fact}" for fact in facts)
    if description := _clean(str(record.get("description") or "")).strip("\n"):
        longest = max(map(len, re.findall("`+", description)), default=0)
        fence = "`" * max(3, longest + 1)
        yield f"{fence}text\n{description}\n{fence}"
    if criteria := record.get("acceptance_criteria"):
        is_done = record["status"] == CLOSED and reason not in UNDONE_REASONS
        yield "Acceptance criteria:"
        yield "\n".join(f"- [{'x' if is_done else ' '}] {_escape(item)}" for item in criteria)


def _escape(value: object) -> str:
    """Return a text as one line of Markdown in which nothing has a meaning."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(_clean(str(value)).split()))


def _clean(text: str) -> str:
    """Return a text with line feeds alone as line endings, and without invisible characters."""
    lines = text.expandtabs(4).splitlines()
    return "\n".join("".join(c if c.isprintable() else "\ufffd" for c in line) for line in lines)


def _split_numbers(task_id: str) -> list[tuple[int, str]]:
    """Return what ids are sorted by, so that 2 comes before 10."""
    parts = re.findall(r"[0-9]+|[^0-9]+", task_id)
    return [(len(part.lstrip("0")) if part.isdecimal() else -1, part) for part in parts]
