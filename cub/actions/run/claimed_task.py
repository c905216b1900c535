"""Claim the next task, and make one attempt at it from its start to its report."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from cub.actions.run import failures
from cub.actions.run.attempt import run_attempt
from cub.actions.run.attempt_checks import find_start_obstacle, list_checks
from cub.actions.run.attempt_finish import (
    AttemptOutcome,
    describe_error,
    finish_attempt,
    is_machine_error,
)
from cub.actions.run.attempt_state import Attempt
from cub.actions.run.check_proposals import suggest_installation
from cub.actions.run.end_event import make_start_event
from cub.actions.run.retry_policy import read_attempt_history
from cub.actions.run.run_context import RunContext, RunRefusedError
from cub.actions.run.task_queue import (
    ClaimedTask,
    claim_next_task,
    list_runnable_tasks,
)
from cub.actions.run.verdict import Verdict
from cub.errors import CubError
from cub.harness.base import Harness
from cub.harness.final_message import parse_signals
from cub.place.place import Place
from cub.store.events import TASK_STATE, Event
from cub.store.task_index import TaskIndex

_LEASE_RESERVE = timedelta(hours=1)


def prepare_first_attempt(context: RunContext) -> Generator[Event, None, Attempt | None]:
    """Return the first attempt after context commands and checks, None if it has none of both.

    Raises RunRefusedError if no check can decide, or a command failed that must not.
    """
    stores, options = context.current_stores, context.settings.options
    tasks = stores.backend.read_tasks()
    for record in context.new_tasks:
        tasks.put_record(record)
    queue = list_runnable_tasks(tasks, stores, options, context.approved_checks)
    needs_no_check = options.no_checks or context.settings.accept_unverified
    if not queue or (needs_no_check and not context.settings.context.commands):
        return None
    number = read_attempt_history(stores.ledger, queue[0].id).attempts + 1
    name = (queue[0].id, number)
    attempt = _make_attempt(context, context.harnesses[0], tasks, name, context.place)
    if obstacle := (yield from find_start_obstacle(context, attempt)):
        hint = suggest_installation(stores.project, list_checks(context, attempt), obstacle)
        is_task_check = any(check in obstacle for check in attempt.task.get("checks") or ())
        where = attempt.task_id if is_task_check else ""
        raise RunRefusedError(obstacle, where=where, hint=hint)
    return attempt


def claim_task(context: RunContext, harness: Harness) -> ClaimedTask | None:
    """Claim the next ready task, and record the start of an attempt; None if there is no task."""
    stores = context.current_stores

    def make_events(task: str) -> list[Event]:
        number = read_attempt_history(stores.ledger, task).attempts + 1
        return [*context.unrecorded_events, make_start_event(context, task, number, harness.name)]

    # More than an attempt can take, with a check of the task's own, before and after the agent.
    check_count = 2 * (len(context.settings.checks) + 1)
    seconds = context.settings.timeout * (1 + check_count)
    seconds += sum(command.timeout for command in context.settings.context.commands)
    duration = timedelta(seconds=seconds) + _LEASE_RESERVE
    approved_checks = context.approved_checks if context.settings.uses_task_checks else None
    options, run = context.settings.options, context.folder.id
    claimed = claim_next_task(
        stores,
        options,
        run,
        harness.name,
        duration,
        make_events,
        approved_checks,
        context.new_tasks,
    )
    if claimed:
        context.unrecorded_events.clear()
        context.new_tasks.clear()
    return claimed


def run_claimed_task(
    context: RunContext,
    harness: Harness,
    claimed: ClaimedTask,
    place: Place,
    start_facts: tuple[Attempt | None, dict[str, int]],
) -> Generator[Event, None, AttemptOutcome]:
    """Make an attempt at a claimed task; `start_facts` are a prepared attempt, and its progress."""
    prepared, progress = start_facts
    # The start of this attempt is in the ledger already.
    number = read_attempt_history(context.initial_stores.ledger, claimed.task).attempts
    attempt = _make_attempt(context, harness, claimed.tasks, (claimed.task, number), place)
    is_same = prepared and prepared.files == attempt.files and prepared.base == attempt.base
    if prepared and is_same and prepared.task_checks == attempt.task_checks:
        attempt = replace(prepared, task=attempt.task, harness=harness)
    start = make_start_event(context, claimed.task, number, harness.name)
    title = attempt.task.get("title", "")
    slot = {"slot": int(place.folder.path.name)} if context.more_places else {}
    yield {**start, "title": title, "waiting": claimed.ready_count, **progress, **slot}
    for warning in claimed.warnings:
        yield context.make_event("notice", task=claimed.task, text=warning.message)
    try:
        verdict = yield from run_attempt(context, attempt, claimed.tasks)
    except (CubError, OSError) as error:
        verdict = Verdict(
            failures.UNKNOWN, describe_error(error), is_uncounted=is_machine_error(error)
        )
    transcript = attempt.agent_result.transcript
    with context.lock:
        cost = attempt.agent_result.cost.usd
        context.budget = context.budget.with_attempt(transcript.tokens, cost)
    if claimed.ready_count and parse_signals(transcript.final_message).promise:
        tasks = (
            "1 more task is"
            if claimed.ready_count == 1
            else f"{claimed.ready_count} more tasks are"
        )
        attempt.notices.append(f"the agent said that all is complete, and {tasks} ready")
    outcome = yield from finish_attempt(context, attempt, verdict)
    yield from _report_attempt(context, attempt, outcome)
    return outcome


def describe_progress(
    context: RunContext, before: Sequence[str], claimed: ClaimedTask
) -> dict[str, int]:
    """Return which task of how many this is, as far as can be foreseen; {} for one alone.

    `before` are the tasks that the run has started before.
    """
    started = list(dict.fromkeys([*before, claimed.task]))
    total = len(claimed.reachable.union(started))
    if context.settings.options.once or total == 1:
        return {}
    return {"task_number": started.index(claimed.task) + 1, "task_count": total}


def _make_attempt(
    context: RunContext, harness: Harness, tasks: TaskIndex, name: tuple[str, int], place: Place
) -> Attempt:
    """Return an attempt by the id of its task and its number."""
    task_id, number = name
    task = tasks.read_record(task_id)
    history = read_attempt_history(context.initial_stores.ledger, task_id)
    uses_task_checks = context.settings.uses_task_checks
    checks = context.approved_checks.pin_checks(task) if uses_task_checks else ()
    checks += context.settings.options.checks  # the person's word, as a task's own checks are
    files = context.folder.attempt_folder(task_id, number)
    base = context.find_base()
    place.set_base(base)
    return Attempt(task, checks, number, harness, files, history, place, base)


def _report_attempt(
    context: RunContext, attempt: Attempt, outcome: AttemptOutcome
) -> Iterator[Event]:
    yield outcome.event
    for text in dict.fromkeys([*attempt.notices, *outcome.messages]):
        yield context.make_event("notice", task=attempt.task_id, text=text)
    status, reason, question = outcome.disposition
    facts = {"status": status, "why": reason, **({"question": question} if question else {})}
    yield context.make_event(TASK_STATE, task=attempt.task_id, **facts)
