"""The JSON shapes of tasks; docs/reference/json.md describes them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cub.cli import output
from cub.cli.shapes import Tree, warnings_tree

if TYPE_CHECKING:
    from cub.actions.tasks.exchange import Exported, Taken
    from cub.actions.tasks.queries import Found, Shown, Stats
    from cub.edit.plan import PlanWarning
    from cub.store.jsonl import Record


def print_tasks(records: Iterable[Record], root: Path, warnings: Iterable[PlanWarning]) -> None:
    """Tasks in their order, each with all keys."""
    tree = {"v": 1, "root": root.as_posix(), "tasks": [], "warnings": warnings_tree(warnings)}
    output.as_json_rows(tree, "tasks", map(task_tree, records))


def print_found(found: Found, root: Path) -> None:
    """Tasks in their order, each with all keys and with what it waits for."""
    tree = {"v": 1, "root": root.as_posix(), "tasks": [], "warnings": warnings_tree(found.warnings)}
    pairs = zip(found.rows, found.records(), strict=True)
    rows = ({**task_tree(record), "waits_for": found.waits_for(row)} for row, record in pairs)
    output.as_json_rows(tree, "tasks", rows)


def task_tree(record: Record) -> Tree:
    """A task with all keys, also those that it does not set, and then its others."""
    from cub.store.spelling import KEYS, LISTS

    empty: dict[str, Any] = {key: [] if key in LISTS else None for key in KEYS}
    return {**empty, **record}


def shown_tree(shown: Shown, root: Path) -> Tree:
    """One task with what is around it."""
    around = {
        "waits_for": shown.waits_for,
        "blocks": shown.blocks,
        "children": [child["id"] for child in shown.children],
    }
    return {
        "v": 1,
        "root": root.as_posix(),
        "task": {**task_tree(shown.record), **around},
        "warnings": warnings_tree(shown.warnings),
    }


def stats_tree(stats: Stats, root: Path) -> Tree:
    """The counts of `cub task stats`."""
    return {
        "v": 1,
        "root": root.as_posix(),
        "statuses": stats.statuses,
        "types": stats.types,
        "priorities": {f"P{number}": count for number, count in stats.priorities.items()},
        "ready": stats.ready,
        "blocked": stats.blocked,
        "epics": {key: {"closed": c, "tasks": n} for key, (c, n) in stats.epics.items()},
        "warnings": warnings_tree(stats.warnings),
    }


def taken_tree(taken: Taken, root: Path) -> Tree:
    """What `cub task import` did, or would do, with tasks named by their ids."""
    return {
        "v": 1,
        "root": root.as_posix(),
        "format": taken.format,
        "added": [record["id"] for record in taken.added],
        "changed": [record["id"] for record in taken.changed],
        "unchanged": taken.unchanged,
        "notes": taken.outcome.said,
        "warnings": warnings_tree(taken.outcome.warnings),
    }


def exported_tree(made: Exported, format: str, file: Path | None, root: Path) -> Tree:  # noqa: A002
    """What `cub task export` made: where it was written, or else the text of it."""
    return {
        "v": 1,
        "root": root.as_posix(),
        "format": format,
        "tasks": made.total,
        "output": None if file is None else file.as_posix(),
        "data": made.data.decode("utf-8", "surrogateescape") if file is None else None,
        "warnings": warnings_tree(made.warnings),
    }
