"""What is wrong with tasks, each thing once: for the doctor, and as warnings of other commands."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from cub.edit.plan import PlanWarning
from cub.store.dependencies import ReadyTasks
from cub.store.leases import LeaseChecker
from cub.store.store_paths import REJECTED_FILE, TASKS_FILE
from cub.store.task_index import TaskIndex
from cub.store.task_schema import IN_PROGRESS

_MEND = "`cub task doctor --fix`"
_MOST = 10  # warnings of one kind


class Finding(NamedTuple):
    """One thing that is wrong: its kind, in a word, the task, what it is, and what to do about it.

    `line` is where in tasks.jsonl it stands.
    """

    kind: str
    task: str
    message: str
    hint: str = ""
    line: int | None = None


def find_bad_lines(tasks: TaskIndex) -> Iterator[Finding]:
    """Lines that are no task, and ids that two tasks were given."""
    for rejected in tasks.rejected_lines:
        what = f"{rejected.reason}; a change of tasks moves the line to {REJECTED_FILE}"
        yield Finding("rejected", "", what, line=rejected.line.number)
    for taken in tasks.renamed_tasks:
        what = f"two tasks were given the id {taken.id}: the younger one is {taken.new_id} now"
        yield Finding("duplicate", taken.id, what, f"see what depends on {taken.id}")


def find_duplicates(tasks: TaskIndex) -> Iterator[Finding]:
    """Tasks with several lines: no fault, and gone with the next change."""
    taken = {taken.id for taken in tasks.renamed_tasks}
    for key in (key for key in tasks.duplicate_ids if key not in taken):
        what = f"{key} has several lines, as a merge leaves them; they count as one"
        yield Finding("duplicate", key, what, f"the next change, or {_MEND}, writes one")


def find_unreachable_tasks(answer: ReadyTasks, deleted: Collection[str]) -> Iterator[Finding]:
    """What keeps tasks from ever being ready."""
    for circle in answer.cycles:
        what = f"these wait for each other: {' → '.join([*circle, circle[0]])}"
        hint = f"`cub task dep remove {circle[0]} {(circle[1:] or circle)[0]}` ends it"
        yield Finding("cycle", circle[0], what, hint)
    for key, needs in sorted(answer.dangling.items()):
        for why, others in _why_missing(needs, deleted):
            what = f"{key} waits for {', '.join(others)}, which {why}"
            yield Finding("dangling", key, what, f"`cub task dep remove {key} {' '.join(others)}`")


def _why_missing(needs: list[str], deleted: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    gone = [key for key in needs if key in deleted]
    unknown = [key for key in needs if key not in deleted]
    if gone:
        yield ("was deleted" if len(gone) == 1 else "were deleted"), gone
    if unknown:
        yield f"{'does' if len(unknown) == 1 else 'do'} not exist", unknown


def find_missing_parents(tasks: TaskIndex) -> Iterator[Finding]:
    """Parts of what is not there."""
    for row in tasks:
        if row.parent and row.parent not in tasks:
            why = "was deleted" if row.parent in tasks.deleted_summaries else "does not exist"
            what = f"{row.id} is a part of {row.parent}, which {why}"
            yield Finding("dangling", row.id, what, f'`cub task edit {row.id} --parent ""`')


def find_expired_leases(tasks: TaskIndex, lease_checker: LeaseChecker) -> Iterator[Finding]:
    """Tasks that somebody claimed who is gone."""
    for row in tasks:
        if row.status == IN_PROGRESS and lease_checker.is_expired(row.lease):
            what = f"the lease of {row.id} has lapsed; it counts as ready"
            yield Finding("lease", row.id, what, f"claim it, or {_MEND} gives it back")


def to_warnings(findings: Iterable[Finding]) -> list[PlanWarning]:
    """The first few of each kind, and how many more there are."""
    found: list[PlanWarning] = []
    for kind, group in groupby(findings, key=lambda finding: finding.kind):
        same = list(group)
        found += [PlanWarning(f.message, TASKS_FILE, f.line, f.hint) for f in same[:_MOST]]
        if more := len(same) - _MOST:
            what = f"{more:,} more of this kind ({kind})"
            found += [PlanWarning(what, TASKS_FILE, hint="`cub task doctor` names all")] * (
                more > 0
            )
    return found
