"""The loop: the next ready task, an attempt at it, and whether to go on; yields what happens.

What a run leaves to the person: commits on a branch of its own, and tasks that are parked.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from shlex import quote
from typing import Any

from cub import git
from cub.actions.run.attempt import Attempt, run_attempt
from cub.actions.run.attempt_finish import (
    AttemptOutcome,
    describe_error,
    finish_attempt,
    is_machine_error,
    make_start_event,
)
from cub.actions.run.cub_folder_backup import CubFolderBackup
from cub.actions.run.git_workspace import GitWorkspace
from cub.actions.run.retry_policy import HarnessPool, read_attempt_history
from cub.actions.run.run_context import RunContext, RunTally
from cub.actions.run.task_queue import (
    ClaimedTask,
    claim_next_task,
    list_parked_tasks,
    list_runnable_tasks,
)
from cub.actions.run.verdict import UNVERIFIED, UNVERIFIED_HINT, Verdict
from cub.errors import CubError
from cub.git import branches
from cub.harness.base import Harness
from cub.harness.final_message import parse_signals
from cub.masking import mask_text
from cub.processes.command import TimeLimits
from cub.store.events import RUN_END, RUN_START, TASK_STATE, Event, mask_event
from cub.store.task_index import TaskSummary
from cub.store.task_schema import PARKED

# Why a run ended, as `end` of run_end has it; the first four are as it should be.
DONE, ONCE, ITERATIONS, NOTHING = "done", "once", "iterations", "nothing_ready"
BUDGET, INTERRUPTED, MACHINE, BROKEN = "budget", "interrupted", "machine", "broken"
_BAD = (BUDGET, INTERRUPTED, MACHINE, BROKEN, UNVERIFIED)
_HINTS = {
    UNVERIFIED: UNVERIFIED_HINT,
    BROKEN: "look at what is said above, and mend it; the next `cub run` puts back what is left",
}
_MASKED_BEFORE = ("client", "tick")
_STORES = "chore(cub): record what the run did"


def run_tasks(context: RunContext) -> Iterator[Event]:
    """Work tasks off until there is a reason to end; all that is told of it is without secrets.

    Here all events go by that anybody is shown. A client's are masked where they come from: what a
    piece of text is may depend on the one before, and there may be very many.
    """
    for event in _run_all(context):
        yield event if event["ev"] in _MASKED_BEFORE else mask_event(event, mask_text)


def _run_all(context: RunContext) -> Iterator[Event]:
    tally = RunTally()
    clients = HarnessPool(context.harnesses)
    start = context.make_event(
        RUN_START,
        harness=",".join(clients.names),
        checks=list(context.settings.checks),
        **_describe_place(context),
    )
    context.initial_stores.ledger.append_events(start)
    yield start
    end = yield from _run_until_end(context, clients, tally)
    yield from _finish(context, tally, end)


def _run_until_end(
    context: RunContext, pool: HarnessPool, tally: RunTally
) -> Generator[Event, None, str]:
    while True:
        if context.stop.is_requested:
            return INTERRUPTED
        if context.budget.is_exceeded:
            return BUDGET
        if context.budget.is_out_of_attempts:
            return ITERATIONS
        harness = pool.next_available(context.clock.now())
        if harness is None:
            names, ready = ",".join(pool.names), len(_ready(context))
            yield context.make_event(
                "waiting", until=pool.available_at_text, harness=names, ready=ready
            )
            context.clock.wait(pool.available_at, context.stop)
            continue
        claimed = _claim(context, harness)
        if claimed is None:
            return DONE if tally.statuses else NOTHING
        done = yield from _run_one_attempt(context, harness, claimed)
        tally.statuses[claimed.task] = done.disposition.status
        ended = (done.event.get("exit"), done.event.get("signal"), done.event.get("dur_s") or None)
        tally.has_worked |= any(value is not None for value in ended)
        context.is_broken |= done.is_broken
        pool.record_verdict(harness, done.verdict, context.clock.now())
        if end := _reason_to_end(context, done, pool):
            tally.end_reason = done.verdict.reason if end in (UNVERIFIED, BROKEN, MACHINE) else ""
            return end


def _reason_to_end(context: RunContext, done: AttemptOutcome, pool: HarnessPool) -> str:
    verdict = done.verdict
    reasons = {
        INTERRUPTED: verdict.failure == INTERRUPTED or context.stop.is_requested,
        BUDGET: verdict.failure == BUDGET,
        BROKEN: done.is_broken or done.has_replacements,
        UNVERIFIED: verdict.failure == UNVERIFIED and verdict.is_uncounted,
        MACHINE: verdict.failure == "unknown" and verdict.is_uncounted,
        ONCE: context.settings.options.once,
    }
    found = next((end for end, holds in reasons.items() if holds), "")
    return found or (MACHINE if pool.are_exhausted else "")


def _claim(context: RunContext, harness: Harness) -> ClaimedTask | None:
    stores = context.current_stores

    def begin(task: str) -> Event:
        number = read_attempt_history(stores.ledger, task).attempts + 1
        return make_start_event(context, task, number, harness.name)

    lasts = context.lease_duration(len(context.settings.checks) + 1)
    agreed = context.approved_checks if context.settings.uses_task_checks else None
    asked, who = context.settings.options, harness.name
    return claim_next_task(stores, asked, context.folder.id, who, lasts, begin, agreed)


def _run_one_attempt(
    context: RunContext, harness: Harness, claimed: ClaimedTask
) -> Generator[Event, None, AttemptOutcome]:
    """One attempt from its first event to its last one."""
    task = claimed.tasks.read_record(claimed.task)
    before = read_attempt_history(context.initial_stores.ledger, claimed.task)
    number = before.attempts  # the start of this one is in the ledger already
    files = context.folder.attempt_folder(claimed.task, number)
    this = Attempt(task, context.approved_checks_of(task), number, harness, files, before)
    start = make_start_event(context, claimed.task, number, harness.name)
    yield {**start, "title": task.get("title", ""), "waiting": claimed.ready_count}
    for warning in claimed.warnings:
        yield context.make_event("notice", text=warning.message)
    guard = CubFolderBackup.take(context.initial_stores.root, context.folder.state)
    try:
        verdict = yield from run_attempt(context, this, claimed.tasks, guard)
    except (CubError, OSError) as error:
        verdict = Verdict("unknown", describe_error(error), is_uncounted=is_machine_error(error))
    context.budget = context.budget.with_attempt(this.worked.transcript)
    if parse_signals(this.worked.transcript.final_message).promise and claimed.ready_count:
        left = (
            f"{claimed.ready_count} more task{'s are' if claimed.ready_count > 1 else ' is'} ready"
        )
        this.observed.append(f"the agent said that all is complete, and {left}")
    done = finish_attempt(context, this, verdict, guard)
    yield from _report_attempt(context, this, done)
    return done


def _report_attempt(context: RunContext, attempt: Attempt, done: AttemptOutcome) -> Iterator[Event]:
    yield done.event
    for text in [*attempt.observed, *done.messages]:
        yield context.make_event("notice", task=attempt.key, text=text)
    question = {"question": done.disposition.question} if done.disposition.question else {}
    status, why = done.disposition.status, done.disposition.reason
    yield context.make_event(TASK_STATE, task=attempt.key, status=status, why=why, **question)


def _finish(context: RunContext, tally: RunTally, end: str) -> Iterator[Event]:
    failed = tally.list_failed_tasks
    bad = end in _BAD or bool(failed)
    parked = [task for task, status in tally.statuses.items() if status == PARKED]
    event = context.make_event(
        RUN_END,
        end=end,
        ok=not bad,
        tasks=tally.to_json(),
        ready=len(_ready(context)),
        **({"parked": parked} if parked else {}),
        **(describe_parked(context) if end in (DONE, NOTHING) else {}),
        **describe_branch(context),
        **context.budget.to_json(),
    )
    if why := context.budget.describe_overrun() if end == BUDGET else tally.end_reason:
        event["why"] = why
    if end in _HINTS:
        event["hint"] = _HINTS[end]
    context.initial_stores.ledger.append_events(event)
    is_news = tally.has_worked or context.has_recovered
    if context.settings.commits and is_news and (failure := _commit_stores(context)):
        yield context.make_event("notice", text=f"the stores could not be committed: {failure}")
    yield event


def _ready(context: RunContext) -> list[TaskSummary]:
    return list_runnable_tasks(
        context.initial_stores.backend.read_tasks(),
        context.current_stores,
        context.settings.options,
    ).summaries


def _commit_stores(context: RunContext) -> str:
    """Commit what the stores say in the end; why that failed, or ""."""
    try:
        return context.workspace.commit_stores(
            _STORES, TimeLimits(context.settings.timeout, None)
        ).failure
    except CubError as error:
        return describe_error(error)


def _describe_place(context: RunContext) -> dict[str, Any]:
    """Where the run works, and what it may do."""
    bypass = {"permissions": "bypass"} if context.settings.permissions == "bypass" else {}
    here = context.workspace.folder
    apart = {"worktree": str(here)} if here != context.initial_stores.project.root else {}
    return {**bypass, **apart}


MAX_NAMED = 10


def describe_branch(context: RunContext) -> dict[str, Any]:
    """Describe the branch of a work tree of the run's own; {} where it worked in the person's.

    `merge` is what to type where the person stands: it merges into what is checked out there.
    """
    ground, theirs = context.workspace, git.find_toplevel(context.initial_stores.project.root)
    if not context.settings.options.worktree or not isinstance(ground, GitWorkspace) or not theirs:
        return {}
    try:
        name = branches.read_branch(ground.worktree.toplevel)
        commits = branches.list_commits_ahead(theirs, name) if name else []
        is_clean = branches.is_clean(ground.worktree.toplevel)
    except CubError:  # a repository that the last attempt broke: the run has said so
        return {}
    if not name:
        return {}
    told = {"name": name, "n": len(commits), "commits": commits[:MAX_NAMED]}
    if commits:
        elsewhere = "" if git.find_toplevel(context.cwd) == theirs else f"-C {quote(str(theirs))} "
        told["merge"] = f"git {elsewhere}merge {quote(name)}"
    if not is_clean:
        told["left"] = str(ground.folder)
    return {"branch": told}


def describe_parked(context: RunContext) -> dict[str, Any]:
    """Describe the parked tasks that the run might have taken; {} for none."""
    tasks = context.initial_stores.backend.read_tasks()
    rows = list_parked_tasks(tasks, context.settings.options)
    titles = {row.id: str(tasks.read_record(row.id).get("title") or "") for row in rows[:MAX_NAMED]}
    named = [{"id": key, "title": title} for key, title in titles.items()]
    return {"left_parked": {"n": len(rows), "tasks": named}} if rows else {}
