"""Run attempts at ready tasks, one after another or several at once, until a run has to end."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from cub.actions.run import failures
from cub.actions.run.attempt_finish import AttemptOutcome
from cub.actions.run.attempt_values import AttemptResult
from cub.actions.run.claimed_task import (
    claim_task,
    prepare_first_attempt,
    run_claimed_task,
)
from cub.actions.run.parallel_attempts import ParallelAttempts, RunningAttempt
from cub.actions.run.place_setup import describe_place
from cub.actions.run.retry_policy import HarnessPool
from cub.actions.run.run_context import RunContext
from cub.actions.run.run_summary import NOTHING_READY, RunTally, summarize_run
from cub.actions.run.task_queue import list_runnable_tasks
from cub.actions.run.verdict import Verdict
from cub.harness.base import Harness
from cub.harness.reported_refusals import suggest_setup_fix
from cub.place.place import Place
from cub.store.events import RUN_END, RUN_START, Event, mask_event
from cub.store.timestamps import format_timestamp

# Why a run ended, as `end` of run_end has it; the first four are as it should be.
DONE, ONCE, ITERATIONS, NOTHING = "done", "once", "iterations", NOTHING_READY
BUDGET, INTERRUPTED, MACHINE = "budget", "interrupted", "machine"
BROKEN, BRANCH_GONE = "broken", "branch_gone"
UNVERIFIED, NOT_MENDED = failures.UNVERIFIED.name, failures.NOT_MENDED.name
UNTRUSTED = failures.UNTRUSTED.name
_BAD_ENDS = (BUDGET, INTERRUPTED, MACHINE, BROKEN, BRANCH_GONE, UNVERIFIED, NOT_MENDED, UNTRUSTED)
_HINTS = {
    UNVERIFIED: failures.UNVERIFIED.remedy,
    NOT_MENDED: failures.NOT_MENDED.remedy,
    UNTRUSTED: failures.UNTRUSTED.remedy,
    BROKEN: "fix what the reason above names; the next `cub run` then finishes the attempt",
}
_MASKED_BEFORE = ("client", "tick")


def run_tasks(context: RunContext) -> Iterator[Event]:
    """Run tasks until there is a reason to end; yield all events, without secrets.

    Every event that anybody is shown passes here. An agent's are masked in agent_process, because
    the meaning of a piece of text may depend on the one before.
    """
    for event in _run_all(context):
        yield event if event["ev"] in _MASKED_BEFORE else mask_event(event)


def _run_all(context: RunContext) -> Iterator[Event]:
    tally, pool = RunTally(), HarnessPool(context.harnesses)
    model_choice = context.agents.describe_model_choice()
    start = context.make_event(
        RUN_START,
        harness=",".join(pool.names),
        checks=list(context.settings.checks),
        **({"versions": dict(context.agent_versions)} if context.agent_versions else {}),
        **({"choice": context.choice} if context.choice else {}),
        **({"model_choice": model_choice} if model_choice else {}),
        **_describe_place(context),
    )
    context.unrecorded_events.append(start)
    yield start
    yield context.make_event("notice", text=describe_place(context.place))
    first_attempt = yield from prepare_first_attempt(context)
    end = yield from _run_until_end(context, pool, tally, first_attempt)
    yield from _end_run(context, tally, end)


def _run_until_end(
    context: RunContext, pool: HarnessPool, tally: RunTally, first_attempt: AttemptResult | None
) -> Generator[Event, None, str]:
    """Run attempts; return why the run ends. The checks of `first_attempt` have run already."""
    attempts, end = ParallelAttempts(context.open_places()), ""
    prepared, is_due = first_attempt, True
    try:
        while True:
            while is_due and (place := attempts.find_free_place()):
                if end := end or _find_limit(context, tally):
                    break
                is_due = yield from _start_attempt(context, pool, attempts, place, prepared)
                prepared = None
            if not attempts.running:
                return end or (DONE if tally.statuses else NOTHING)
            attempt, event = attempts.await_report()
            if event is not None:
                yield event
                continue
            found = yield from _end_attempt(context, pool, tally, attempt)
            # Only the end of an attempt makes other tasks ready.
            end, is_due = end or found, True
    finally:
        attempts.cancel()


def _find_limit(context: RunContext, tally: RunTally) -> str:
    """Return why no other attempt is started; "" if one may be."""
    if context.stop.is_requested:
        return INTERRUPTED
    if context.budget.is_exceeded:
        return BUDGET
    if context.budget.has_no_room():
        return ITERATIONS
    if not context.find_base().commit:
        tally.end_reason = f"the branch {context.branch.removeprefix('refs/heads/')} is gone"
        return BRANCH_GONE
    return ""


def _start_attempt(
    context: RunContext,
    pool: HarnessPool,
    attempts: ParallelAttempts,
    place: Place,
    prepared: AttemptResult | None,
) -> Generator[Event, None, bool]:
    """Start an attempt at the next task in a free place; return False if none can be started now.

    `prepared` is what is known of the first attempt, whose checks have run.
    """
    is_last = context.settings.options.once or context.budget.has_no_room(len(attempts.running))
    if attempts.running and is_last:
        return False
    harness = pool.next_available(context.clock.now())
    if harness is None:
        if not attempts.running:
            yield from _wait_for_harness(context, pool)
        return not attempts.running
    with context.lock:
        claimed = claim_task(context, harness, attempts.started)
    if claimed is None:
        return False
    steps = run_claimed_task(context, harness, claimed, place, prepared)
    attempts.start(RunningAttempt(claimed.start["task"], harness, place, steps))
    return True


def _wait_for_harness(context: RunContext, pool: HarnessPool) -> Iterator[Event]:
    names, ready = ",".join(pool.names), _count_ready(context)
    until, why = pool.first_wait
    facts = {"until": format_timestamp(until), "harness": names, "why": why, "ready": ready}
    yield context.make_event("waiting", **facts)
    context.clock.wait(until, context.stop)


def _end_attempt(
    context: RunContext, pool: HarnessPool, tally: RunTally, attempt: RunningAttempt
) -> Generator[Event, None, str]:
    """Take an attempt's outcome into account; return why the run ends, "" if it goes on."""
    outcome, harness = attempt.outcome, attempt.harness
    assert outcome is not None
    tally.add_attempt(attempt.task, outcome)
    context.is_broken |= outcome.is_broken
    is_left_out = pool.record_verdict(harness, outcome.verdict, context.clock.now())
    remedy = _suggest_remedy(harness, outcome.verdict)
    if end := _find_end(context, outcome, pool):
        has_reason = end in (UNVERIFIED, NOT_MENDED, UNTRUSTED, BROKEN, MACHINE)
        tally.end_reason = outcome.verdict.reason if has_reason else ""
        is_row = end == MACHINE and pool.are_exhausted
        tally.failures = pool.count_failures(harness) if is_row else 0
        tally.failure_class = outcome.verdict.failure.name if outcome.verdict.failure else ""
        tally.hint = _HINTS.get(end, remedy)
    elif is_left_out:
        text = f"the agent {harness.name} is left out from now on: {remedy}"
        yield context.make_event("notice", text=text)
    return end


def _suggest_remedy(harness: Harness, verdict: Verdict) -> str:
    """Return what a person can do where an agent can't work; "" for other failures."""
    if verdict.failure == failures.AUTH:
        return harness.facts.login or failures.AUTH.remedy
    if verdict.failure == failures.HARNESS_SETUP:
        return suggest_setup_fix(verdict.reason, harness.name) or failures.HARNESS_SETUP.remedy
    return verdict.failure.remedy if verdict.failure == failures.HARNESS_MISSING else ""


def _find_end(context: RunContext, outcome: AttemptOutcome, pool: HarnessPool) -> str:
    """Return why the run ends after this attempt; "" if it goes on."""
    verdict = outcome.verdict
    reasons = {
        INTERRUPTED: verdict.failure == failures.INTERRUPTED or context.stop.is_requested,
        BUDGET: verdict.failure == failures.BUDGET,
        BROKEN: outcome.is_broken,
        UNVERIFIED: verdict.failure == failures.UNVERIFIED and verdict.is_uncounted,
        NOT_MENDED: verdict.failure == failures.NOT_MENDED,
        UNTRUSTED: verdict.failure == failures.UNTRUSTED,
        MACHINE: verdict.failure == failures.UNKNOWN and verdict.is_uncounted,
        ONCE: context.settings.options.once,
    }
    end = next((end for end, holds in reasons.items() if holds), "")
    return end or (MACHINE if pool.are_exhausted else "")


def _end_run(context: RunContext, tally: RunTally, end: str) -> Iterator[Event]:
    is_bad = end in _BAD_ENDS or bool(tally.failed_tasks)
    event = context.make_event(
        RUN_END,
        end=end,
        ok=not is_bad,
        ready=_count_ready(context),
        **summarize_run(context, tally, is_idle=end in (DONE, NOTHING)),
        **context.budget.to_json(),
    )
    if why := context.budget.describe_overrun() if end == BUDGET else tally.end_reason:
        event["why"] = why
    if tally.hint:
        event["hint"] = tally.hint
    yield event


def _count_ready(context: RunContext) -> int:
    tasks = context.initial_stores.backend.read_tasks()
    return len(list_runnable_tasks(tasks, context.current_stores, context.settings.options))


def _describe_place(context: RunContext) -> dict[str, Any]:
    """Return what run_start says of permissions, of checks, and of the kind of place."""
    settings = context.settings
    return {
        **({"permissions": "bypass"} if settings.permissions == "bypass" else {}),
        **({"no_checks": True} if settings.options.no_checks else {}),
        "place": context.place.settings.kind.name,
        **({"jobs": settings.jobs} if settings.jobs > 1 else {}),
    }
