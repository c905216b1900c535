"""The only module that prints: results to stdout, talk to stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import typer

from cub.edit.plan import Edit, Plan, PlanWarning
from cub.errors import CubError, RefusedError

_DIFF_COLORS = {"+": "green", "-": "red", "@": "cyan"}
_KIND_COLORS = {"create": "green", "update": "yellow", "delete": "red"}


def prepare() -> None:
    """File names and user text of any encoding must never end a command."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def flush() -> None:
    """Bring out what is buffered, while errors can still be told."""
    sys.stdout.flush()
    sys.stderr.flush()


def abandon() -> None:
    """The reader of stdout is gone: keep the interpreter from complaining about it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def line(text: str = "") -> None:
    """One line of the result."""
    typer.echo(text, color=_colored(sys.stdout))


def talk(text: str) -> None:
    """One line to the person, not part of the result."""
    typer.echo(text, err=True, color=_colored(sys.stderr))


def warn(warnings: Iterable[PlanWarning]) -> None:
    """Warnings and their hints, for the person."""
    for warning in warnings:
        where = f"{warning.where}: " if warning.where else ""
        talk(f"{typer.style('warning:', fg='yellow')} {where}{warning.message}")
        if warning.hint:
            talk(f"{typer.style('hint:', fg='cyan')} {warning.hint}")


def error(error: CubError, *, as_json: bool = False, code: int | None = None) -> None:
    """An error for the person on stderr and, where JSON was asked for, on stdout too."""
    errors = error.errors if isinstance(error, RefusedError) else (error,)
    for one in errors:
        where = f"{one.where}: " if one.where else ""
        talk(f"{typer.style('error:', fg='red', bold=True)} {where}{one.message}")
        for detail in one.details:
            talk(f"  {_diff_style(detail)}")
        if one.hint:
            talk(f"{typer.style('hint:', fg='cyan')} {one.hint}")
    if as_json:
        objects = [_error_object(one, code) for one in errors]
        line(json.dumps({"v": 1, "error": objects[0], "errors": objects}))


def plan_json(plan: Plan, root: Path) -> None:
    """A plan for programs; its shape is in docs/reference/json.md."""
    changes = [
        {
            "path": edit.path,
            "action": edit.kind,
            "reason": edit.reason,
            "added": edit.counts[0],
            "removed": edit.counts[1],
            "local": edit.local,
        }
        for edit in plan.edits
    ]
    warnings = [
        {"path": w.path, "line": w.line, "message": w.message, "hint": w.hint}
        for w in plan.warnings
    ]
    line(
        json.dumps({"v": 1, "root": str(root), "changes": changes, "warnings": warnings}, indent=2)
    )


def diff(plan: Plan) -> None:
    """A plan as a unified diff that `git apply` reads."""
    for text in plan.diff():
        line(_diff_style(text))


def summary(plan: Plan) -> None:
    """A line for each file: what, which, how many lines, why; version notes below."""
    rows = [_row(edit) for edit in plan.edits]
    for edit, text in zip(plan.edits, columns(rows), strict=True):
        line(typer.style(text[:6], fg=_KIND_COLORS[edit.kind]) + text[6:])
        for note in edit.notes:
            line(f"        {note}")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table for people on a terminal, aligned plain columns in a pipe."""
    if not _colored(sys.stdout):
        for text in columns([header, *rows]):
            line(text)
        return
    from rich.console import Console
    from rich.table import Table

    shown = Table(box=None, pad_edge=False, header_style="bold")
    for title in header:
        shown.add_column(title, overflow="fold")
    for row in rows:
        shown.add_row(*row)
    Console().print(shown, markup=False)


def as_json(tree: dict[str, Any]) -> None:
    """Any other result for programs."""
    line(json.dumps(tree, indent=2))


def heading(text: str) -> None:
    """A line that stands out."""
    line(typer.style(text, bold=True))


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines, every column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _row(edit: Edit) -> tuple[str, ...]:
    added, removed = edit.counts
    return (
        edit.kind,
        edit.path,
        f"+{added}" if added else "",
        f"-{removed}" if removed else "",
        edit.reason,
    )


def _error_object(one: CubError, code: int | None) -> dict[str, Any]:
    return {
        "message": one.message,
        "where": one.where,
        "hint": one.hint,
        "code": one.exit_code if code is None else code,
        "details": list(one.details),
    }


def _diff_style(text: str) -> str:
    if text.startswith(("+++", "---")):
        return typer.style(text, bold=True)
    color = _DIFF_COLORS.get(text[:1])
    return typer.style(text, fg=color) if color else text


def _colored(stream: IO[str]) -> bool:
    """Colors on a terminal, unless the person or the terminal wants none (no-color.org)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()
