"""Run `cub task list`, `ready` and `stats`: look at many tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.options import Json
from cub.cli.parameters import make_option, require_option_values
from cub.cli.task_stores import open_task_stores
from cub.cli.terminal import TextStyle

if TYPE_CHECKING:
    from cub.actions.tasks.task_queries import TaskList, TaskStats
    from cub.store.jsonl import Record
    from cub.store.task_index import TaskSummary

Limit = Annotated[int | None, make_option("--limit -n N", "Print at most N.", min=0)]
Status = Annotated[
    list[str] | None,
    make_option(
        "--status -s",
        "List only this status: open, in_progress, retry, parked, closed, all, or "
        "deleted (repeatable).",
    ),
]
Search = Annotated[
    str,
    make_option(
        "--search -S TEXT",
        "List only tasks that contain TEXT in ID, title, description, notes, labels, or criteria.",
    ),
]
_SIGNS = {"open": " ", "in_progress": ">", "retry": "!", "parked": "-", "closed": "x"}
_MAX_IDS = 2  # in a cell
_STYLES: dict[str, TextStyle] = {
    "in_progress": "yellow",
    "retry": "red",
    "parked": "dim",
    "closed": "dim",
}


def list_(
    context: typer.Context,
    status: Status = None,
    epic: Annotated[str, make_option("--epic ID", "List only tasks of this epic.")] = "",
    label: Annotated[str, make_option("--label -l WORD", "List only tasks with this label.")] = "",
    search: Search = "",
    tree: Annotated[bool, make_option("--tree", "Print a tree of epics and their tasks.")] = False,
    json: Json = False,
) -> None:
    """List tasks, by status and priority.

    Tasks in progress come first. Closed tasks are only counted, unless you pass --status or
    --json. Each task is listed with the tasks that block it.

    Example: cub task list --epic k3f9a --status all --tree
    """
    from cub.actions.tasks.task_queries import list_tasks

    require_option_values(context)
    stores = open_task_stores(context)
    statuses = status or (["all"] if json or tree else [])
    task_list = list_tasks(stores, statuses, epic=epic, label=label, search=search)
    if tree and not json:
        output.print_warnings(task_list.warnings)
        for line in format_task_tree(task_list):
            output.print_paragraph(line)
        return
    _print_tasks(task_list, stores.root, json=json)
    if json:
        return
    if count := task_list.hidden_count:
        hidden = "1 closed task is" if count == 1 else f"{count:,} closed tasks are"
        output.print_message(f"{hidden} not shown. Pass `--status all` to see them.")
    elif not task_list.summaries and task_list.tasks:
        output.print_message("No tasks match. Run `cub task list --status all` to see all.")
    elif not task_list.summaries:
        output.print_message("No tasks yet. Run `cub task add TITLE` to add one.")


def ready(context: typer.Context, limit: Limit = None, json: Json = False) -> None:
    """List ready tasks, the next one first.

    Lists open tasks that are unclaimed and unblocked, sorted by priority, then untried first,
    then by the number of tasks that each one blocks, then by age.

    Example: cub task ready --limit 1 --json
    """
    from cub.actions.tasks.task_queries import list_ready_tasks

    stores = open_task_stores(context)
    task_list = list_ready_tasks(stores, limit)
    _print_tasks(task_list, stores.root, json=json)
    if not task_list.summaries and not json:
        output.print_message("No tasks are ready. Run `cub task list` to see all.")


def stats(context: typer.Context, json: Json = False) -> None:
    """Count tasks by status, type, priority, and epic.

    Example: cub task stats --json
    """
    from cub.actions.tasks.task_queries import count_tasks
    from cub.cli.json_output import task_stats_to_json

    stores = open_task_stores(context)
    counts = count_tasks(stores)
    if json:
        output.print_json(task_stats_to_json(counts, stores.root))
        return
    output.print_warnings(counts.warnings)
    output.print_table(("", "", "tasks"), [*_iter_count_rows(counts)])


def _iter_count_rows(stats: TaskStats) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of the counts, with a group's name in its first row."""
    groups: dict[str, dict[str, str]] = {
        "status": {status: f"{count:,}" for status, count in stats.statuses.items()},
        "to do": {"ready": f"{stats.ready:,}", "blocked": f"{stats.blocked:,}"},
        "type": {kind: f"{count:,}" for kind, count in stats.types.items()},
        "priority": {f"P{n}": f"{count:,}" for n, count in stats.priorities.items()},
        "epic": {key: f"{closed} of {n} closed" for key, (closed, n) in stats.epics.items()},
    }
    for group, counts in groups.items():
        for number, (name, count) in enumerate(counts.items()):
            yield "" if number else group, name, count


def _print_tasks(task_list: TaskList, root: Path, *, json: bool) -> None:
    if json:
        from cub.cli.json_output import print_task_list_json

        print_task_list_json(task_list, root)
    else:
        print_tasks(task_list)


def print_tasks(task_list: TaskList) -> None:
    """Print a table of tasks, if there are any."""
    output.print_warnings(task_list.warnings)
    if task_list.summaries:
        styles = [_STYLES.get(task.status) for task in task_list.summaries]
        output.print_table(*_make_columns(task_list), styles, prose=("status", "title"))


def _make_columns(task_list: TaskList) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the header and the rows; there is a column for blockers if any task has one."""
    header: tuple[str, ...] = ("id", "pri", "type", "status", "title")
    rows = [*map(_make_cells, task_list.iter_records())]
    blockers = [task_list.list_blockers_of(task) for task in task_list.summaries]
    if any(blockers):
        header = (*header[:-1], "waits for", header[-1])
        pairs = zip(rows, blockers, strict=True)
        rows = [(*cells[:-1], _join_ids(needs), cells[-1]) for cells, needs in pairs]
    return header, rows


def _join_ids(ids: list[str]) -> str:
    more = f" +{len(ids) - _MAX_IDS}" if len(ids) > _MAX_IDS else ""
    return ", ".join(ids[:_MAX_IDS]) + more


def _make_cells(record: Record) -> tuple[str, ...]:
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


def format_task_tree(task_list: TaskList) -> Iterator[str]:
    """Yield a line for each task, below its parent; a cycle starts anywhere."""
    children: dict[str, list[TaskSummary]] = {}
    shown_ids = {task.id for task in task_list.summaries}
    for task in task_list.summaries:
        children.setdefault(task.parent if task.parent in shown_ids else "", []).append(task)
    seen: set[str] = set()
    for task in [*children.get("", ()), *task_list.summaries]:
        if task.id not in seen:
            yield from _iter_branch(task_list, task, children, seen)


def _iter_branch(
    task_list: TaskList, top: TaskSummary, children: dict[str, list[TaskSummary]], seen: set[str]
) -> Iterator[str]:
    work = [(top, 0)]
    while work:
        task, depth = work.pop()
        if task.id in seen:
            continue
        seen.add(task.id)
        title = task_list.tasks.read_record(task.id).get("title", "")
        sign = _SIGNS.get(task.status, "?")
        blockers = task_list.list_blockers_of(task)
        tail = f"  (waits for {', '.join(blockers)})" if blockers else ""
        yield f"{'  ' * depth}[{sign}] {task.id}  P{task.priority}  {title}{tail}"
        work += [(child, depth + 1) for child in reversed(children.get(task.id, ()))]
