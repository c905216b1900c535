"""Claim the next task, and make one attempt at it from its start to its report."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

from cub.actions.run import failures
from cub.actions.run.attempt import run_attempt
from cub.actions.run.attempt_checks import judge_before_start, list_checks, prepare_baseline
from cub.actions.run.attempt_finish import AttemptOutcome, finish_attempt
from cub.actions.run.attempt_values import AttemptResult, AttemptSpec, Baseline
from cub.actions.run.check_proposals import suggest_installation
from cub.actions.run.end_event import make_start_event
from cub.actions.run.retry_policy import read_attempt_history
from cub.actions.run.run_context import RunContext, RunRefusedError
from cub.actions.run.task_queue import list_reachable_tasks, list_runnable_tasks
from cub.actions.tasks.current_attempt import AttemptMark, encode_mark
from cub.actions.tasks.task_edits import put_new_records
from cub.edit.plan import PlanWarning
from cub.harness.base import Harness
from cub.place.place import Place
from cub.store.events import TASK_STATE, Event
from cub.store.leases import make_lease
from cub.store.task_index import TaskIndex
from cub.store.task_schema import IN_PROGRESS

_LEASE_RESERVE = timedelta(hours=1)


def prepare_first_attempt(context: RunContext) -> Generator[Event, None, AttemptResult | None]:
    """Return the first attempt after context commands and checks, None if it has none of both.

    Its task is not claimed yet. Raises RunRefusedError if no check can decide, or a command failed
    that must not.
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
    spec = _make_spec(context, context.harnesses[0], tasks, name, context.place)
    baseline = yield from prepare_baseline(context, spec)
    _require_check(context, spec, baseline)
    return AttemptResult(spec, baseline)


def _require_check(context: RunContext, spec: AttemptSpec, baseline: Baseline) -> None:
    """Raise RunRefusedError if no check can decide on the first attempt."""
    verdict = judge_before_start(context, spec, baseline)
    if verdict is None or verdict.failure != failures.UNVERIFIED:
        return
    project, obstacle = context.current_stores.project, verdict.reason
    hint = suggest_installation(project, list_checks(context, spec), obstacle)
    is_task_check = any(check in obstacle for check in spec.task.get("checks") or ())
    raise RunRefusedError(obstacle, where=spec.task_id if is_task_check else "", hint=hint)


class ClaimedTask(NamedTuple):
    """Hold the start of an attempt at a task that the run has claimed, and all tasks.

    `start` is the event that is shown: the ledger does not have how many others are `waiting`, and
    which task of how many this is.
    """

    start: Event
    tasks: TaskIndex
    warnings: Sequence[PlanWarning]


def claim_task(context: RunContext, harness: Harness, started: Sequence[str]) -> ClaimedTask | None:
    """Claim the first ready task, and record the start of an attempt, in one step.

    None if no task is ready. `started` are the tasks that the run has started before; the first
    claim adds the tasks that the run has got.
    """
    stores, options, run = context.current_stores, context.settings.options, context.folder.id
    approved_checks = None if options.no_checks else context.approved_checks
    with stores.transaction() as transaction:
        tasks = transaction.tasks
        put_new_records(transaction, context.new_tasks)
        queue = list_runnable_tasks(tasks, stores, options, approved_checks)
        if not queue:
            return None
        task = queue[0].id
        reachable = list_reachable_tasks(tasks, stores, options, queue)
        progress = {} if options.once else _describe_progress(task, started, reachable)
        shown = {"title": tasks.read_record(task).get("title", ""), "waiting": len(queue) - 1}
        lease = make_lease(transaction.timestamp, run=run, duration=_estimate_duration(context))
        fields = {"status": IN_PROGRESS, "assignee": harness.name, "lease": lease}
        transaction.update_task(task, fields)
        number = read_attempt_history(stores.ledger, task).attempts + 1
        start = make_start_event(context, task, number, harness.name)
        transaction.result.events += [*context.unrecorded_events, start]
    context.unrecorded_events.clear()
    context.new_tasks.clear()
    return ClaimedTask({**start, **shown, **progress}, tasks, transaction.result.warnings)


def _estimate_duration(context: RunContext) -> timedelta:
    """Return more than an attempt can take, with a check of the task's own."""
    check_count = 2 * (len(context.settings.checks) + 1)  # before and after the agent
    seconds = context.settings.timeout * (1 + check_count)
    seconds += sum(command.timeout for command in context.settings.context.commands)
    return timedelta(seconds=seconds) + _LEASE_RESERVE


def _describe_progress(task: str, before: Sequence[str], reachable: set[str]) -> dict[str, int]:
    """Return which task of how many this is, as far as can be foreseen; {} for one alone."""
    started = list(dict.fromkeys([*before, task]))
    total = len(reachable.union(started))
    return {} if total == 1 else {"task_number": started.index(task) + 1, "task_count": total}


def run_claimed_task(
    context: RunContext,
    harness: Harness,
    claimed: ClaimedTask,
    place: Place,
    prepared: AttemptResult | None,
) -> Generator[Event, None, AttemptOutcome]:
    """Make an attempt at a claimed task; `prepared` is the first of the run, with its checks."""
    task, number, count = (claimed.start[key] for key in ("task", "n", "waiting"))
    spec = _make_spec(context, harness, claimed.tasks, (task, number), place)
    baseline = None
    if prepared and _is_prepared(spec, prepared):
        spec, baseline = replace(spec, notes=prepared.spec.notes), prepared.baseline
    slot = {"slot": int(place.folder.path.name)} if context.more_places else {}
    yield {**claimed.start, **slot}
    for warning in claimed.warnings:
        yield context.make_event("notice", task=task, text=warning.message)
    judged = yield from run_attempt(context, spec, claimed.tasks, baseline)
    evidence = judged.attempt.evidence
    tokens, usd = evidence.agent.transcript.tokens, evidence.agent.cost.usd
    with context.lock:
        context.budget = context.budget.with_attempt(tokens, usd)
    if count and evidence.signals.promise:
        tasks = "1 more task is" if count == 1 else f"{count} more tasks are"
        spec.notes.add(f"the agent said that all is complete, and {tasks} ready")
    outcome = yield from finish_attempt(context, judged)
    yield from _report_attempt(context, spec, outcome)
    return outcome


def _is_prepared(spec: AttemptSpec, prepared: AttemptResult) -> bool:
    """Return whether what is known of a prepared attempt holds for one with this specification."""
    before = prepared.spec
    is_same = (before.files, before.task_checks) == (spec.files, spec.task_checks)
    return is_same and prepared.base == spec.place.base


def _make_spec(
    context: RunContext, harness: Harness, tasks: TaskIndex, name: tuple[str, int], place: Place
) -> AttemptSpec:
    """Specify an attempt by the id of its task and its number; it begins from what is there now."""
    task_id, number = name
    task = tasks.read_record(task_id)
    history = read_attempt_history(context.initial_stores.ledger, task_id)
    options = context.settings.options
    checks = () if options.no_checks else context.approved_checks.pin_checks(task)
    checks += options.checks  # the person's word, as a task's own checks are
    files = context.folder.attempt_folder(task_id, number)
    place.set_base(context.find_base())
    mark = encode_mark(AttemptMark(str(context.folder.root), task_id, str(place.folder.mailbox)))
    return AttemptSpec(task, checks, number, harness, files, history, place, mark)


def _report_attempt(
    context: RunContext, spec: AttemptSpec, outcome: AttemptOutcome
) -> Iterator[Event]:
    yield outcome.event
    for text in dict.fromkeys([*spec.notes.notices, *outcome.messages]):
        yield context.make_event("notice", task=spec.task_id, text=text)
    status, reason, question = outcome.disposition
    facts = {"status": status, "why": reason, **({"question": question} if question else {})}
    yield context.make_event(TASK_STATE, task=spec.task_id, **facts)
