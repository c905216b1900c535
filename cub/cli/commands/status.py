"""Print a table of managed files with owner, state and readers: `cub status`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from cub.cli import output
from cub.cli.json_output import JsonObject, make_result
from cub.cli.many_projects import (
    Dirs,
    ProjectResult,
    for_each_project,
    format_error_cell,
    projects_to_json,
)
from cub.cli.options import Json, get_directory, load_project
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.files.journal import warn_pending_change
from cub.project.project import Project

if TYPE_CHECKING:
    from cub.actions.project_status import FileStatus

app = typer.Typer(add_completion=False)

_HEADER = ("file", "owner", "state", "tokens", "read by")
_PROSE = ("state", "read by")
# What states and figures mean, for those that a table has.
_LEGEND = {
    "tokens": "estimated tokens of the whole file",
    "stale": "not the current version; run `cub update`",
    "missing": "not created yet; run `cub update`",
    "v1": "the version of the text",
    "edited": "changed after cub wrote it",
    "unmarked": "cub's text without its markers; run `cub repair`",
    "broken": "damaged markers; run `cub repair`",
    "read by": "agents that load the file on their own",
}
_NO_CUB = "There is no cub in this project yet: run `cub init`."


class _Table(NamedTuple):
    """Hold the table of one project."""

    rows: list[FileStatus]
    warnings: tuple[PlanWarning, ...]
    is_initialized: bool

    def tree(self, root: Path) -> JsonObject:
        return make_result(root, self.warnings, files=[asdict(row) for row in self.rows])


@app.command()
def status(context: typer.Context, dirs: Dirs = None, json: Json = False) -> None:
    """List managed files: owner, state, tokens, readers.

    Example: cub status --json
    """
    if dirs:
        _print_many(for_each_project(get_directory(context), dirs, _table), json=json)
        return
    project = load_project(context)
    table = _table(project)
    if json:
        output.print_json(table.tree(project.root))
        return
    output.print_warnings(table.warnings)
    _print_table(_HEADER, [_make_cells(row) for row in table.rows])
    if not table.is_initialized:
        output.print_message(_NO_CUB)


def _table(project: Project) -> _Table:
    from cub.actions.agent_readers import warn_missed_texts
    from cub.actions.migration.migrate import warn_due_migrations
    from cub.actions.plan_warnings import warn_link_texts, warn_name_variants, warn_unread_files
    from cub.actions.project_state import load_project_state
    from cub.actions.project_status import list_file_statuses

    state = load_project_state(project)
    migrations = warn_due_migrations(project)
    warnings = (
        *warn_pending_change(project.root),
        *migrations,
        *project.config.warnings,
        *warn_link_texts(state),
        *warn_name_variants(state),
        *warn_unread_files(state),
        *warn_missed_texts(state),
    )
    return _Table(list_file_statuses(state), warnings, state.is_initialized or bool(migrations))


def _print_many(results: list[ProjectResult[_Table]], *, json: bool) -> None:
    """Print one table for several projects; exit code 1 if one could not be read."""
    if json:
        output.print_json(projects_to_json(results, _Table.tree))
    else:
        rows = [row for result in results for row in _make_rows(result)]
        _print_table(("project", *_HEADER), rows)
    if any(isinstance(result.value, CubError) for result in results):
        raise typer.Exit(1)


def _print_table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    output.print_table(header, rows, prose=_PROSE)
    states = header.index("state")
    output.print_legend(_LEGEND, "\n".join([*header, *(row[states] for row in rows)]))


def _make_rows(result: ProjectResult[_Table]) -> list[tuple[str, ...]]:
    if isinstance(result.value, CubError):
        return [(result.name, "", "", format_error_cell(result.value), "", "")]
    if not result.value.is_initialized:
        return [(result.name, "", "", "no cub yet", "", "")]
    return [(result.name, *_make_cells(row)) for row in result.value.rows]


def _make_cells(row: FileStatus) -> tuple[str, ...]:
    tokens = "" if row.tokens is None else f"{row.tokens:,}"
    agents = (_format_reader(name, row.read_in_part.get(name)) for name in row.clients)
    return row.path, row.owner, row.state, tokens, ", ".join(agents)


def _format_reader(name: str, read_bytes: int | None) -> str:
    """Return an agent's name, and how much of the file it reads if that is not all."""
    if read_bytes is None:
        return name
    whole, rest = divmod(read_bytes, 1024)
    return f"{name} (first {read_bytes:,} bytes)" if rest else f"{name} (first {whole} KiB)"
