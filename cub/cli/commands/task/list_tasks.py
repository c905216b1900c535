"""`cub task list`, `ready`, `show` and `stats`: what there is to do.

Tasks as a tree: epics, and what is a part of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.commands.task.show import show
from cub.cli.task_stores import Json, open_task_stores

if TYPE_CHECKING:
    from cub.actions.tasks.task_queries import TaskList, TaskStats
    from cub.store.jsonl import Record
    from cub.store.task_index import TaskSummary


Limit = Annotated[
    int | None, typer.Option("--limit", "-n", min=0, metavar="N", help="At most N of them.")
]

_MOST = 2  # ids in a cell
_STYLES = {
    "in_progress": output.RowStyle(fg="yellow"),
    "retry": output.RowStyle(fg="red"),
    "parked": output.RowStyle(dim=True),
    "closed": output.RowStyle(dim=True),
}


def register_list_commands(app: typer.Typer) -> None:
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
    from cub.actions.tasks.task_queries import TaskFilter, list_tasks

    stores = open_task_stores(context)
    words = tuple(status or (("all",) if json or tree else ()))
    found = list_tasks(stores, TaskFilter(words, epic, label, search))
    if tree and not json:
        output.print_warnings(found.warnings)
        for line in format_task_tree(found):
            output.print_paragraph(line)
        return
    _tell(found, stores.root, json=json)
    if found.hidden_count and not json:
        some = (
            "1 closed task is"
            if found.hidden_count == 1
            else f"{found.hidden_count:,} closed tasks are"
        )
        output.print_message(f"{some} not shown; `--status all` shows all.")
    elif not found.summaries and not json:
        output.print_message(_nothing(found))


def ready(context: typer.Context, limit: Limit = None, json: Json = False) -> None:
    """List what can be begun, the first one first.

    These tasks are open, nobody's, and wait for nothing. In order: priority, fresh before tried,
    how many tasks wait for it, the elder.

    Example: cub task ready --limit 1 --json
    """
    from cub.actions.tasks.task_queries import list_ready_tasks

    stores = open_task_stores(context)
    found = list_ready_tasks(stores, limit)
    _tell(found, stores.root, json=json)
    if not found.summaries and not json:
        output.print_message("Nothing is ready; `cub task list` shows what there is.")


def stats(context: typer.Context, json: Json = False) -> None:
    """Count the tasks: by status, type and priority, and those of each epic.

    Example: cub task stats --json
    """
    from cub.actions.tasks.task_queries import count_tasks as counted
    from cub.cli.json_output import task_stats_to_json

    stores = open_task_stores(context)
    found = counted(stores)
    if json:
        output.print_json(task_stats_to_json(found, stores.root))
        return
    output.print_warnings(found.warnings)
    output.print_table(("", "", "tasks"), [*_counts(found)])


def _counts(found: TaskStats) -> Iterator[tuple[str, str, str]]:
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


def _tell(found: TaskList, root: Path, *, json: bool) -> None:
    if json:
        from cub.cli.json_output import print_task_list_json

        print_task_list_json(found, root)
        return
    output.print_warnings(found.warnings)
    if found.summaries:
        styles = [_STYLES.get(row.status, output.RowStyle()) for row in found.summaries]
        output.print_table(*_columns(found), styles, prose=("status", "title"))


def _columns(found: TaskList) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The header and the rows; what tasks wait for has a column where any of them does."""
    header: tuple[str, ...] = ("id", "pri", "type", "status", "title")
    rows = [*map(_cells, found.iter_records())]
    waits = [found.list_blockers_of(row) for row in found.summaries]
    if any(waits):
        header = (*header[:-1], "waits for", header[-1])
        rows = [
            (*cells[:-1], _few(needs), cells[-1]) for cells, needs in zip(rows, waits, strict=True)
        ]
    return header, rows


def _few(ids: list[str]) -> str:
    more = f" +{len(ids) - _MOST}" if len(ids) > _MOST else ""
    return ", ".join(ids[:_MOST]) + more


def _nothing(found: TaskList) -> str:
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


_SIGNS = {"open": " ", "in_progress": ">", "retry": "!", "parked": "-", "closed": "x"}


def format_task_tree(task_list: TaskList) -> Iterator[str]:
    """A line for each task, below that which it is a part of; a circle is begun anywhere."""
    below: dict[str, list[TaskSummary]] = {}
    here = {row.id for row in task_list.summaries}
    for row in task_list.summaries:
        below.setdefault(row.parent if row.parent in here else "", []).append(row)
    seen: set[str] = set()
    for row in [*below.get("", ()), *task_list.summaries]:
        if row.id not in seen:
            yield from _branch(task_list, row, below, seen)


def _branch(
    found: TaskList, top: TaskSummary, below: dict[str, list[TaskSummary]], seen: set[str]
) -> Iterator[str]:
    work = [(top, 0)]
    while work:
        row, depth = work.pop()
        if row.id in seen:
            continue
        seen.add(row.id)
        title = found.tasks.read_record(row.id).get("title", "")
        sign = _SIGNS.get(row.status, "?")
        waits = found.list_blockers_of(row)
        tail = f"  (waits for {', '.join(waits)})" if waits else ""
        yield f"{'  ' * depth}[{sign}] {row.id}  P{row.priority}  {title}{tail}"
        work += [(child, depth + 1) for child in reversed(below.get(row.id, ()))]
