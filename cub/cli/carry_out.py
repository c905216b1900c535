"""Plan, show, apply: what every command that changes files does, once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cub.cli import output
from cub.cli.shapes import plan_tree

if TYPE_CHECKING:
    from cub.edit.plan import Plan
    from cub.files.private import Keep, Write
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
    confirm: Callable[[], None] | None = None,
) -> Plan:
    """Make the plan of the project at `root` and show it; apply it unless it was only to be shown.

    A writing command holds the project's lock from before it plans. It shows what is done when
    it is done. With `confirm`, it shows what may be done, and then calls that, which may raise.
    """
    from cub.files import apply, exclusive, require_applicable
    from cub.project.project import Project

    if show.only:
        return _show_only(root, make_plan, show)
    with exclusive(root) as held:
        plan = make_plan(Project.load(root))
        output.warn(plan.warnings)
        if confirm:
            require_applicable(plan, held)
            output.summary(plan)
            confirm()
        apply(plan, held)
        if not confirm:
            output.summary(plan)
    return plan


@contextmanager
def afterwards() -> Iterator[Keep]:
    """Takes writes of caches, and does them when the command has done its work."""
    waiting: list[Write] = []
    yield waiting.append
    for write in waiting:
        write()


def only_planned(root: Path, make_plan: Callable[[Project], Plan]) -> Plan:
    """The plan of the project at `root`, to be looked at; it tells of a change that waits, too."""
    from cub.files import pending
    from cub.project.project import Project

    plan = make_plan(Project.load(root))
    return replace(plan, warnings=(*pending(root), *plan.warnings))


def _show_only(root: Path, make_plan: Callable[[Project], Plan], show: Show) -> Plan:
    plan = only_planned(root, make_plan)
    if show.json:
        output.as_json(plan_tree(plan, root))
        return plan
    output.warn(plan.warnings)
    if show.diff:
        output.diff(plan.diff())
        output.changelog(plan)
    else:
        output.summary(plan)
    return plan
