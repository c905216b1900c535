"""Summarize a run for its end: the status of its tasks, its commits, and what is parked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from shlex import quote
from typing import Any

from cub.actions.run import failures
from cub.actions.run.attempt_finish import AttemptOutcome
from cub.actions.run.retry_policy import WAITS_FOR_ANSWER
from cub.actions.run.run_context import RunContext
from cub.actions.run.task_queue import list_parked_tasks
from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.git.worktree import find_toplevel, list_commits, read_head
from cub.store.events import TASK_STATE, get_mapping, get_outcome
from cub.store.task_index import TaskIndex
from cub.store.task_schema import CLOSED, PARKED
from cub.text import truncate_text

MAX_NAMED = 10  # tasks, and commits
NOTHING_READY = "nothing_ready"  # why a run ends that has no task
_MAX_WHY = 300  # characters of what a person noted


@dataclass(slots=True)
class RunTally:
    """Add up a run: the last status of each task, its commits, and why the run ends.

    - `commits`: the id of each commit, by which the task is found.
    - `end_reason`: "" if the kind of end says all; `failures` are those in
      a row that ended it, of `failure_class`.
    - `hint`: what a person can do.
    """

    statuses: dict[str, str] = field(default_factory=dict)
    commits: dict[str, str] = field(default_factory=dict)
    end_reason: str = ""
    hint: str = ""
    failures: int = 0
    failure_class: str = ""

    def add_attempt(self, task_id: str, outcome: AttemptOutcome) -> None:
        """Take the outcome of an attempt into account."""
        self.statuses[task_id] = outcome.disposition.status
        event = outcome.event
        if head := get_mapping(event, "git").get("head"):
            self.commits[str(head)] = task_id

    @property
    def failed_tasks(self) -> list[str]:
        """Return the ids of tasks that were started and are not done."""
        return [task for task, status in self.statuses.items() if status != CLOSED]

    @property
    def parked_tasks(self) -> list[str]:
        """Return the ids of tasks that the run parked."""
        return [task for task, status in self.statuses.items() if status == PARKED]

    def count_statuses(self) -> dict[str, int]:
        """Return the number of tasks for each status."""
        return dict(sorted(Counter(self.statuses.values()).items()))


def summarize_run(context: RunContext, tally: RunTally, *, is_idle: bool) -> dict[str, Any]:
    """Return the fields of run_end about tasks, commits and the branch.

    Tasks that others parked are named as well if `is_idle`: no task is ready.
    """
    stores, own = context.current_stores, tally.parked_tasks
    tasks = stores.backend.read_tasks()
    parked = [key for key in own if key in tasks and tasks[key].status == PARKED]
    if is_idle:
        parked += [task.id for task in list_parked_tasks(tasks, context.settings.options)]
    in_a_row = {"failures": tally.failures, "class": tally.failure_class}
    return {
        "tasks": tally.count_statuses(),
        **({"parked": own} if own else {}),
        **(in_a_row if tally.failures else {}),
        **({"left_parked": describe_parked_tasks(stores, tasks, parked)} if parked else {}),
        **_describe_commits(context, tally),
        **_describe_branch(context),
    }


def describe_parked_tasks(
    stores: Stores, tasks: TaskIndex, parked: Iterable[str]
) -> dict[str, Any]:
    """Return `left_parked` of run_end: how many tasks are parked, and why the first ones are."""
    keys = list(dict.fromkeys(parked))
    named = [_describe_parked_task(stores, tasks, key) for key in keys[:MAX_NAMED]]
    return {"n": len(keys), "tasks": named}


def _describe_parked_task(stores: Stores, tasks: TaskIndex, key: str) -> dict[str, str]:
    """Return a task's id and title, why it is parked, its question, and what a person can do."""
    state = next(stores.ledger.iter_task_events(key, (TASK_STATE,)), {})
    note = str(state.get("note") or "") if state.get("status") == PARKED else ""
    why, _, question = note.partition(": ") if note.startswith(WAITS_FOR_ANSWER) else (note, "", "")
    facts = {"why": truncate_text(" ".join(why.split()), _MAX_WHY), "question": question}
    facts["remedy"] = _find_remedy(stores, key, why)
    title = str(tasks.read_record(key).get("title") or "")
    return {"id": key, "title": title, **{name: text for name, text in facts.items() if text}}


def _find_remedy(stores: Stores, key: str, why: str) -> str:
    """Return what a person can do about the class of the last attempt, if a task is parked for it.

    Without it, the next attempts would fail in the same way.
    """
    failure = failures.find_class(get_outcome(next(stores.ledger.iter_task_events(key), {})))
    return failure.remedy if failure.name in why else ""


def _describe_commits(context: RunContext, tally: RunTally) -> dict[str, Any]:
    """Return `commits` of run_end: how many the run made, and the first ones; {} for none."""
    commits = list(tally.commits)[:MAX_NAMED]
    if not commits:
        return {}
    try:
        toplevel = context.place.settings.checkout.toplevel
        found = list_commits(toplevel, "--no-walk=unsorted", *commits)
    except CubError:  # a repository that the last attempt broke: the run has said so
        return {}
    lines = (line.partition(" ") for line in found)
    named = [
        {"id": short, "subject": subject, "task": tally.commits[commit]}
        for commit, (short, _, subject) in zip(commits, lines, strict=True)
    ]
    return {"commits": {"n": len(tally.commits), "list": named}}


def _describe_branch(context: RunContext) -> dict[str, Any]:
    """Return `branch` of run_end for a branch that is not checked out; {} for any other.

    `merge` is the command that merges it into what is.
    """
    checkout = context.place.settings.checkout.toplevel
    name = context.branch.removeprefix("refs/heads/")
    try:
        if not name or read_head(checkout).branch == context.branch:
            return {}
        commits = list_commits(checkout, "--reverse", f"HEAD..{context.branch}")
    except CubError:  # the branch is gone
        return {}
    branch = {"name": name, "n": len(commits), "commits": commits[:MAX_NAMED]}
    if commits:
        is_inside = find_toplevel(context.cwd) == checkout
        option = "" if is_inside else f"-C {quote(checkout.as_posix())} "
        branch["merge"] = f"git {option}merge {quote(name)}"
    return {"branch": branch}
