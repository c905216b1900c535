"""The JSON shapes of plans, status and errors; docs/reference/json.md describes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cub.edit.plan import Plan, PlanWarning
from cub.errors import CubError, RefusedError

if TYPE_CHECKING:
    from cub.actions.report import FileStatus

Tree = dict[str, Any]


def plan_tree(plan: Plan, root: Path) -> Tree:
    """A plan: one object for each file that would change."""
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
    return {"v": 1, "root": str(root), "changes": changes, "warnings": _warnings(plan.warnings)}


def status_tree(rows: Sequence[FileStatus], warnings: Iterable[PlanWarning], root: Path) -> Tree:
    """The table of `cub status`: one object for each file."""
    files = [asdict(row) for row in rows]
    return {"v": 1, "root": str(root), "files": files, "warnings": _warnings(warnings)}


def error_tree(error: CubError, code: int) -> Tree:
    """An error; where several were found at once, `errors` has them all."""
    objects = [
        {
            "message": one.message,
            "where": one.where,
            "hint": one.hint,
            "code": code,
            "details": list(one.details),
        }
        for one in (error.errors if isinstance(error, RefusedError) else (error,))
    ]
    return {"v": 1, "error": objects[0], "errors": objects}


def _warnings(warnings: Iterable[PlanWarning]) -> list[Tree]:
    return [
        {"path": w.path, "line": w.line, "message": w.message, "hint": w.hint} for w in warnings
    ]
