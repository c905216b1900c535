"""Plan, show and apply: do once what every command that changes files does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cub.cli import output
from cub.cli.json_output import plan_to_json
from cub.cli.parameters import option
from cub.text import UP_TO_DATE

if TYPE_CHECKING:
    from cub.edit.plan import Plan
    from cub.files.internal_files import CacheWrite, ScheduleWrite
    from cub.project.project import Project


@dataclass(frozen=True, slots=True)
class PlanDisplay:
    """Say how to show a plan, by options of the command; with any of them, nothing is written."""

    dry_run: bool = option("--dry-run", "Show what would change, without writing anything.", False)
    diff: bool = option("--diff", "Print the changes as a diff, without writing anything.", False)
    json: bool = option("--json", "Print the plan as JSON, without writing anything.", False)
    check: bool = False  # of a command that has this option

    @property
    def is_read_only(self) -> bool:
        """Return whether nothing may be written."""
        return self.dry_run or self.diff or self.json or self.check


def run_plan_command(
    root: Path,
    make_plan: Callable[[Project], Plan],
    show: PlanDisplay,
    *,
    confirm: Callable[[], None] | None = None,
    for_attempts: bool = False,
    removes_stores: bool = False,
) -> Plan:
    """Make the plan of the project at `root` and show it; apply it unless it was only to be shown.

    A writing command holds the project's lock from before it plans. It shows what is done when
    it is done. With `confirm`, it shows what may be done, and then calls that, which may raise.

    While a run works in the checkout, nothing is written. With `for_attempts`, its agent may; with
    `removes_stores`, a run in a worktree of its own counts as well.
    """
    from cub.actions.tasks.current_attempt import require_no_run
    from cub.files import apply_plan, lock_project, require_applicable
    from cub.project.project import Project

    if show.is_read_only:
        return _show_plan(root, make_plan, show)
    require_no_run(root, for_attempts=for_attempts, beside=removes_stores)
    with lock_project(root) as lock:
        plan = make_plan(Project.load(root))
        output.print_warnings(plan.warnings)
        if confirm:
            require_applicable(plan, lock)
            output.print_plan_summary(plan, is_preview=True)
            confirm()
        apply_plan(plan, lock)
        if not confirm:
            output.print_plan_summary(plan)
    return plan


@contextmanager
def defer_cache_writes(show: PlanDisplay) -> Iterator[ScheduleWrite]:
    """Collect writes of caches; do them after the command's work, unless it writes nothing."""
    deferred_writes: list[CacheWrite] = []
    yield deferred_writes.append
    for write in [] if show.is_read_only else deferred_writes:
        write()


def make_plan_only(root: Path, make_plan: Callable[[Project], Plan]) -> Plan:
    """Make the plan of the project at `root` to be shown; warn of a pending change."""
    from cub.files import warn_pending_change
    from cub.project.project import Project

    plan = make_plan(Project.load(root))
    return replace(plan, warnings=(*warn_pending_change(root), *plan.warnings))


def _show_plan(root: Path, make_plan: Callable[[Project], Plan], show: PlanDisplay) -> Plan:
    plan = make_plan_only(root, make_plan)
    if show.json:
        output.print_json(plan_to_json(plan, root))
    else:
        print_preview(plan, show)
    return plan


def print_preview(plan: Plan, show: PlanDisplay) -> None:
    """Print what a plan would change, and that nothing was written."""
    output.print_warnings(plan.warnings)
    if show.diff:
        output.print_diff(plan.format_diff())
        output.print_changelog(plan)
    else:
        output.print_plan_summary(plan, is_preview=True)
    if show.dry_run:
        output.print_message(UP_TO_DATE if plan.is_empty else "Dry run: nothing was written.")
