"""Run `cub task import` and `cub task export`."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.options import DryRun, Json, get_directory
from cub.cli.parameters import make_option
from cub.cli.task_stores import open_task_stores, print_created_files, read_file_argument
from cub.files.lock import lock_project
from cub.files.single_file import read_single_file, replace_single_file

if TYPE_CHECKING:
    from cub.actions.tasks.import_export import ImportResult
    from cub.actions.tasks.stores import Stores


def import_(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to import; - is stdin.")],
    format: Annotated[  # noqa: A002 - as the option is called
        str,
        make_option("--format -f", "Set the format: auto, jsonl, beads, task-master, or prd."),
    ] = "auto",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Import tasks from another tool.

    Adds new tasks and updates known ones. Importing the same file twice changes nothing, and an
    import never reopens a closed task.

    Example: cub task import .beads/issues.jsonl --dry-run
    """
    from cub.actions.tasks.import_export import import_tasks
    from cub.cli.json_output import import_result_to_json
    from cub.store.formats.format_registry import parse_tasks

    from_stdin = file == Path("-")
    data = sys.stdin.buffer.read() if from_stdin else read_file_argument(context, file)
    where = "stdin" if from_stdin else file.as_posix()
    imported = parse_tasks(data, where, format)
    stores = open_task_stores(context)
    result = import_tasks(stores, imported, where, dry_run=dry_run)
    if json:
        output.print_json(import_result_to_json(result, stores.root))
        return
    output.print_warnings(result.task_result.warnings)
    _print_result(result, dry_run=dry_run)
    print_created_files(result.task_result)


def export(
    context: typer.Context,
    format: Annotated[  # noqa: A002 - as the option is called
        str, make_option("--format -f", "Set the format: jsonl or markdown.")
    ] = "jsonl",
    file: Annotated[
        Path | None, make_option("--output -o FILE", "Write to FILE instead of stdout.")
    ] = None,
    json: Annotated[
        bool,
        make_option("--json", "Print JSON: the written file's path, or the export as a string."),
    ] = False,
) -> None:
    """Export all tasks as JSON lines or Markdown.

    Example: cub task export -f markdown -o tasks.md
    """
    from cub.actions.tasks.import_export import export_tasks
    from cub.cli.json_output import export_result_to_json

    stores = open_task_stores(context)
    result = export_tasks(stores, format)
    if not json:
        output.print_warnings(result.warnings)
    if file is not None:
        _write_file(context, stores, file, result.data)
    if json:
        output.print_json(export_result_to_json(result, format, file, stores.root))
    elif file is None:
        output.print_bytes(result.data)
    else:
        output.print_message(f"Wrote {file.as_posix()}.")


def _write_file(context: typer.Context, stores: Stores, file: Path, data: bytes) -> None:
    shown, path = file.as_posix(), get_directory(context) / file
    inside = Path(os.path.realpath(path)).is_relative_to(stores.root)
    with lock_project(stores.root) if inside else nullcontext():
        replace_single_file(path, read_single_file(path, shown), data, shown)


def _print_result(result: ImportResult, *, dry_run: bool) -> None:
    for verb, records in (("new", result.added), ("changed", result.changed)):
        for record in records:
            title = str(record.get("title", ""))
            output.print_paragraph(f"{verb:8}{record['id']}: {title}")
    for line in result.task_result.messages:
        output.print_paragraph(line)
    counts = (len(result.added), len(result.changed), result.unchanged)
    new, other, same = (f"{count:,}" for count in counts)
    would = "would be " if dry_run else ""
    output.print_message(
        f"{result.format}: {new} {would}new, {other} {would}changed, {same} as they were."
    )
