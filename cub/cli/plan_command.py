"""Plan, show and apply: do once what every command that changes files does, with a progress bar."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from cub.actions.command_options import option
from cub.cli import output
from cub.cli.json_output import plan_to_json
from cub.edit.plan import Plan
from cub.files.apply import apply_plan, require_applicable
from cub.files.internal_files import CacheWrite, ScheduleWrite
from cub.files.journal import warn_pending_change
from cub.files.lock import lock_project
from cub.project.project import Project
from cub.text import UP_TO_DATE

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


_PATIENCE = 0.3  # seconds; about as many have passed since the user pressed Enter
_LONG_WORK = 2_000_000  # bytes to read, in about half a second: shown at once


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
) -> Plan:
    """Make the plan of the project at `root` and show it; apply it unless it was only to be shown.

    A writing command holds the project's lock from before it plans. It shows what is done when
    it is done. With `confirm`, it shows what may be done, and then calls that, which may raise.
    """
    if show.is_read_only:
        return _show_plan(root, make_plan, show)
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
        for note in dict.fromkeys(note for edit in plan.edits for note in edit.changelog):
            output.print_message(note)
    else:
        output.print_plan_summary(plan, is_preview=True)
    if show.dry_run:
        output.print_message(UP_TO_DATE if plan.is_empty else "Dry run: nothing was written.")


class ProgressBar:
    """Show how far a step is, after a while, on a terminal."""

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._patience = patience
        self._start = time.monotonic()
        self._bar: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Self:
        return self

    def __call__(self, done: int, total: int, step: str) -> None:
        """Tell how far a step is, in any unit."""
        if done >= total:  # what is printed next must not meet the bar
            self._stop()
            return
        if self._bar is None:
            is_early = time.monotonic() - self._start < self._patience and total < _LONG_WORK
            if is_early or output.is_muted() or not sys.stderr.isatty():
                return
            self._bar = self._start_bar()
        progress, task = self._bar
        # Until something is done, the share is unknown: the bar has no end then.
        known_total = total if done else None
        progress.update(task, description=step, total=known_total, completed=done, refresh=True)

    def __exit__(self, *_error: object) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._bar:
            self._bar[0].stop()
            self._bar = None

    def _start_bar(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import Progress

        # No thread that redraws: the processes that parse are forked from this one.
        progress = Progress(console=Console(stderr=True), transient=True, auto_refresh=False)
        task = progress.add_task("", total=None)
        progress.start()
        return progress, task
