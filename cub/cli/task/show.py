"""`cub task list`, `ready`, `show` and `stats`: what there is to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.task.opened import Id, Json, opened

if TYPE_CHECKING:
    from cub.actions.tasks.queries import Found, Stats
    from cub.store.jsonl import Record

Limit = Annotated[
    int | None, typer.Option("--limit", "-n", min=0, metavar="N", help="At most N of them.")
]

_MOST = 2  # ids in a cell
_STYLES = {
    "in_progress": output.Style(fg="yellow"),
    "retry": output.Style(fg="red"),
    "parked": output.Style(dim=True),
    "closed": output.Style(dim=True),
}


def register(app: typer.Typer) -> None:
    """The commands of this module."""
    app.command(name="list")(list_)
    for command in (ready, show, stats):
        app.command()(command)


def list_(
    context: typer.Context,
    status: Annotated[
        list[str] | None,
        typer.Option(
            "--status",
            "-s",
            help="open, in_progress, retry, parked, closed, all or deleted; repeatable.",
        ),
    ] = None,
    epic: Annotated[str, typer.Option("--epic", metavar="ID", help="The tasks of an epic.")] = "",
    label: Annotated[
        str, typer.Option("--label", "-l", metavar="WORD", help="The tasks with this label.")
    ] = "",
    search: Annotated[
        str,
        typer.Option(
            "--search",
            "-S",
            metavar="TEXT",
            help="Only tasks that say it: in id, title, description, notes, labels or criteria.",
        ),
    ] = "",
    tree: Annotated[bool, typer.Option("--tree", help="Show what is a part of what.")] = False,
    json: Json = False,
) -> None:
    """List tasks: those at work first, then by priority. Closed ones are counted only.

    What a task waits for stands beside it. With --json all are listed, unless --status says which.

    Example: cub task list --epic k3f9a --status all --tree
    """
    from cub.actions.tasks.queries import Filter, listed

    stores = opened(context)
    words = tuple(status or (("all",) if json or tree else ()))
    found = listed(stores, Filter(words, epic, label, search))
    if tree and not json:
        from cub.cli.task.tree import tree_lines

        output.warn(found.warnings)
        for line in tree_lines(found):
            output.paragraph(line)
        return
    _tell(found, stores.root, json=json)
    if found.hidden and not json:
        some = "1 closed task is" if found.hidden == 1 else f"{found.hidden:,} closed tasks are"
        output.talk(f"{some} not shown; `--status all` shows all.")
    elif not found.rows and not json:
        output.talk(_nothing(found))


def ready(context: typer.Context, limit: Limit = None, json: Json = False) -> None:
    """List what can be begun, the first one first.

    These tasks are open, nobody's, and wait for nothing. In order: priority, fresh before tried,
    how many tasks wait for it, the elder.

    Example: cub task ready --limit 1 --json
    """
    from cub.actions.tasks.queries import startable

    stores = opened(context)
    found = startable(stores, limit)
    _tell(found, stores.root, json=json)
    if not found.rows and not json:
        output.talk("Nothing is ready; `cub task list` shows what there is.")


def show(context: typer.Context, key: Id, json: Json = False) -> None:
    """Show all of one task, what it waits for and what waits for it.

    Example: cub task show k3f9a
    """
    from cub.actions.tasks.queries import shown
    from cub.cli.task.page import print_page
    from cub.cli.task.shapes import shown_tree

    stores = opened(context)
    found = shown(stores, key)
    if json:
        output.as_json(shown_tree(found, stores.root))
        return
    output.warn(found.warnings)
    print_page(found)


def stats(context: typer.Context, json: Json = False) -> None:
    """Count the tasks: by status, type and priority, and those of each epic.

    Example: cub task stats --json
    """
    from cub.actions.tasks.queries import stats as counted
    from cub.cli.task.shapes import stats_tree

    stores = opened(context)
    found = counted(stores)
    if json:
        output.as_json(stats_tree(found, stores.root))
        return
    output.warn(found.warnings)
    output.table(("", "", "tasks"), [*_counts(found)])


def _counts(found: Stats) -> Iterator[tuple[str, str, str]]:
    """The rows of the counts; what they are of stands in the first one of each group."""
    groups: dict[str, dict[str, str]] = {
        "status": {status: f"{count:,}" for status, count in found.statuses.items()},
        "to do": {"ready": f"{found.ready:,}", "blocked": f"{found.blocked:,}"},
        "type": {kind: f"{count:,}" for kind, count in found.types.items()},
        "priority": {f"P{n}": f"{count:,}" for n, count in found.priorities.items()},
        "epic": {key: f"{closed} of {n} closed" for key, (closed, n) in found.epics.items()},
    }
    for group, counts in groups.items():
        for number, (name, count) in enumerate(counts.items()):
            yield "" if number else group, name, count


def _tell(found: Found, root: Path, *, json: bool) -> None:
    if json:
        from cub.cli.task.shapes import print_found

        print_found(found, root)
        return
    output.warn(found.warnings)
    if found.rows:
        styles = [_STYLES.get(row.status, output.Style()) for row in found.rows]
        output.table(*_columns(found), styles, prose=("status", "title"))


def _columns(found: Found) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The header and the rows; what tasks wait for has a column where any of them does."""
    header: tuple[str, ...] = ("id", "pri", "type", "status", "title")
    rows = [*map(_cells, found.records())]
    waits = [found.waits_for(row) for row in found.rows]
    if any(waits):
        header = (*header[:-1], "waits for", header[-1])
        rows = [
            (*cells[:-1], _few(needs), cells[-1]) for cells, needs in zip(rows, waits, strict=True)
        ]
    return header, rows


def _few(ids: list[str]) -> str:
    more = f" +{len(ids) - _MOST}" if len(ids) > _MOST else ""
    return ", ".join(ids[:_MOST]) + more


def _nothing(found: Found) -> str:
    if found.tasks:
        return "No task is like that; `cub task list --status all` shows all."
    return "There is no task yet; `cub task add TITLE` adds one."


def _cells(record: Record) -> tuple[str, ...]:
    who = record.get("assignee")
    status = "deleted" if record.get("deleted_at") else str(record["status"])
    status += f" ({who})" if who and status not in ("closed", "deleted") else ""
    return (
        record["id"],
        f"P{record.get('priority', 2)}",
        str(record.get("issue_type", "task")),
        status,
        str(record.get("title", "")),
    )
