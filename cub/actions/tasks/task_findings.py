"""Find what is wrong with tasks: for `cub doctor`, and as warnings of other commands."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from cub.edit.plan import PlanWarning
from cub.store.dependencies import ReadyTasks, find_ready_tasks
from cub.store.leases import LeaseChecker
from cub.store.store_paths import REJECTED_FILE, TASKS_FILE
from cub.store.task_index import TaskIndex
from cub.store.task_schema import IN_PROGRESS

_FIX_COMMAND = "cub doctor --fix"
_MAX_OF_KIND = 10  # warnings of one kind


class TaskProblem(NamedTuple):
    """Describe one problem: its kind in a word, the task, a message, and how to fix it.

    `line` is its place in tasks.jsonl.
    """

    kind: str
    task: str
    message: str
    hint: str = ""
    line: int | None = None


def find_bad_lines(tasks: TaskIndex) -> Iterator[TaskProblem]:
    """Yield lines that are not tasks, and ids that two tasks have."""
    for rejected in tasks.rejected_lines:
        what = f"{rejected.reason}; the next change of tasks moves the line to {REJECTED_FILE}"
        hint = f"fix the line, or run `{_FIX_COMMAND}` to set it aside"
        yield TaskProblem("rejected", "", what, hint, rejected.line.number)
    for task in tasks.renamed_tasks:
        what = f"two tasks have the ID {task.id}: the newer one is now {task.new_id}"
        yield TaskProblem("duplicate", task.id, what, f"cub task show {task.new_id}")


def find_duplicates(tasks: TaskIndex) -> Iterator[TaskProblem]:
    """Yield tasks with several lines: no error, and gone with the next change."""
    renamed_ids = {task.id for task in tasks.renamed_tasks}
    for key in (key for key in tasks.duplicate_ids if key not in renamed_ids):
        what = f"{key} has several lines, probably from a merge; they count as one task"
        yield TaskProblem("duplicate", key, what, _FIX_COMMAND)


def find_unreachable_tasks(ready: ReadyTasks, deleted: Collection[str]) -> Iterator[TaskProblem]:
    """Yield what keeps tasks from ever being ready."""
    for cycle in ready.cycles:
        what = f"dependency cycle: {' → '.join([*cycle, cycle[0]])}"
        hint = f"cub task dep remove {cycle[0]} {(cycle[1:] or cycle)[0]}"
        yield TaskProblem("cycle", cycle[0], what, hint)
    for key, needs in sorted(ready.dangling.items()):
        for why, others in _iter_reasons(needs, deleted):
            what = f"{key} depends on {', '.join(others)}, which {why}"
            yield TaskProblem(
                "dangling", key, what, f"cub task dep remove {key} {' '.join(others)}"
            )


def find_dependency_problems(
    tasks: TaskIndex, lease_checker: LeaseChecker
) -> Iterator[TaskProblem]:
    """Yield what keeps tasks from ever being ready, and tasks without their parent."""
    ready = find_ready_tasks(tasks, lease_checker.is_expired)
    yield from find_unreachable_tasks(ready, tasks.deleted_summaries)
    for task in tasks:
        if task.parent and task.parent not in tasks:
            why = "was deleted" if task.parent in tasks.deleted_summaries else "does not exist"
            what = f"the parent of {task.id} is {task.parent}, which {why}"
            yield TaskProblem("parent", task.id, what, f'cub task edit {task.id} --parent ""')


def _iter_reasons(needs: list[str], deleted: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    deleted_needs = [key for key in needs if key in deleted]
    unknown = [key for key in needs if key not in deleted]
    if deleted_needs:
        yield ("was deleted" if len(deleted_needs) == 1 else "were deleted"), deleted_needs
    if unknown:
        yield f"{'does' if len(unknown) == 1 else 'do'} not exist", unknown


def find_expired_leases(tasks: TaskIndex, lease_checker: LeaseChecker) -> Iterator[TaskProblem]:
    """Yield claimed tasks with an expired lease."""
    for task in tasks:
        if task.status == IN_PROGRESS and lease_checker.is_expired(task.lease):
            what = f"the lease of {task.id} has expired; the task counts as ready"
            yield TaskProblem("lease", task.id, what, _FIX_COMMAND)


def to_warnings(findings: Iterable[TaskProblem]) -> list[PlanWarning]:
    """Return the first findings of each kind as warnings, and how many more there are."""
    warnings: list[PlanWarning] = []
    for kind, group in groupby(findings, key=lambda finding: finding.kind):
        same = list(group)
        warnings += [
            PlanWarning(f.message, TASKS_FILE, f.line, f.hint) for f in same[:_MAX_OF_KIND]
        ]
        if (more := len(same) - _MAX_OF_KIND) > 0:
            what = f"{more:,} more of this kind ({kind})"
            warnings.append(PlanWarning(what, TASKS_FILE, hint="`cub doctor` lists all of them"))
    return warnings
