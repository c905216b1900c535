"""The JSON shapes of plans, status and errors; docs/reference/json.md describes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cub.edit.plan import Plan, PlanWarning
from cub.errors import CubError, RefusedError

if TYPE_CHECKING:
    from cub.actions.repair.repair import Findings
    from cub.actions.report import FileStatus
    from cub.actions.review.review import FileReview, Review

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
    return {
        "v": 1,
        "root": root.as_posix(),
        "changes": changes,
        "warnings": warnings_tree(plan.warnings),
    }


def status_tree(rows: Sequence[FileStatus], warnings: Iterable[PlanWarning], root: Path) -> Tree:
    """The table of `cub status`: one object for each file."""
    files = [asdict(row) for row in rows]
    return {"v": 1, "root": root.as_posix(), "files": files, "warnings": warnings_tree(warnings)}


def review_tree(review: Review, root: Path) -> Tree:
    """A review: one object for each file, and one for each change to what executes."""
    ends = review.range
    return {
        "v": 1,
        "root": root.as_posix(),
        "base": {"name": ends.base_name, "commit": ends.base},
        "head": {"name": ends.head_name, "commit": ends.head},
        "touched": review.touched,
        "files": [_reviewed(file) for file in review.files],
        "executes": [asdict(change) for change in review.executed],
        "warnings": warnings_tree(review.warnings),
    }


def _reviewed(file: FileReview) -> Tree:
    section = None
    if file.section:
        section = {**asdict(file.section), "touched": file.section.touched}
    own = {"diff": file.own}
    return {
        "path": file.path,
        "action": file.kind,
        "section": section,
        "own": own,
        "mode": file.mode,
    }


def repair_tree(found: Findings, root: Path) -> Tree:
    """What `cub repair` offers: one object for each choice, and one for each broken file."""
    choices = [
        {
            "n": choice.n,
            "path": choice.edit.path,
            "title": choice.title,
            "why": choice.why,
            "diff": list(choice.edit.diff()),
            "added": choice.edit.counts[0],
            "removed": choice.edit.counts[1],
        }
        for choice in found.choices
    ]
    return {
        "v": 1,
        "root": root.as_posix(),
        "choices": choices,
        "faults": [_error(file.fault, CubError.exit_code) for file in found.broken],
        "warnings": warnings_tree(found.warnings),
    }


def error_tree(error: CubError, code: int) -> Tree:
    """An error; where several were found at once, `errors` has them all."""
    errors = error.errors if isinstance(error, RefusedError) else (error,)
    objects = [_error(one, code) for one in errors]
    return {"v": 1, "error": objects[0], "errors": objects}


def _error(error: CubError, code: int) -> Tree:
    return {
        "message": error.message,
        "where": error.where,
        "hint": error.hint,
        "code": code,
        "details": list(error.details),
    }


def warnings_tree(warnings: Iterable[PlanWarning]) -> list[Tree]:
    """Warnings, each with its place and its hint."""
    return [
        {"path": w.path, "line": w.line, "message": w.message, "hint": w.hint} for w in warnings
    ]
