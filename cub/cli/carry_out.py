"""Plan, show, apply: what every command that changes files does, once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cub.cli import output

if TYPE_CHECKING:
    from cub.edit.plan import Plan
    from cub.project.project import Project


@dataclass(frozen=True, slots=True)
class Show:
    """How to show a plan; each of these flags also means: write nothing."""

    dry_run: bool = False
    diff: bool = False
    json: bool = False
    check: bool = False

    @property
    def only(self) -> bool:
        """Whether nothing may be written."""
        return self.dry_run or self.diff or self.json or self.check


def carry_out(
    root: Path,
    make_plan: Callable[[Project], Plan],
    show: Show,
    *,
    confirm: Callable[[Plan], None] | None = None,
) -> Plan:
    """Make the plan of the project at `root` and show it; apply it unless it was only to be shown.

    A writing command holds the project's lock from before it plans, and first ends a change
    that was interrupted. `confirm` sees the plan before anything is written, and may raise.
    """
    from cub.files import apply, exclusive, recover
    from cub.project.project import Project

    if show.only:
        return _show_only(root, make_plan, show)
    with exclusive(root):
        output.warn(recover(root))
        plan = make_plan(Project.load(root))
        output.warn(plan.warnings)
        if confirm:
            confirm(plan)
        output.summary(plan)
        apply(plan, root)
    return plan


def _show_only(root: Path, make_plan: Callable[[Project], Plan], show: Show) -> Plan:
    from cub.files import pending
    from cub.project.project import Project

    if pending(root):
        output.talk("warning: a change was interrupted here; the next writing command finishes it")
    plan = make_plan(Project.load(root))
    if show.json:
        output.plan_json(plan, root)
        return plan
    output.warn(plan.warnings)
    if show.diff:
        output.diff(plan)
    else:
        output.summary(plan)
    return plan
