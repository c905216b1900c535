"""The loop: the next ready task, an attempt at it, and whether to go on; yields what happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

from cub.actions.run.attempt import attempt
from cub.actions.run.clients import Clients
from cub.actions.run.conclude import Concluded, conclude, is_of_the_machine, words_of
from cub.actions.run.evidence import Verdict
from cub.actions.run.guard import Guard
from cub.actions.run.policy import history
from cub.actions.run.queue import Claimed, claim_next, queue
from cub.actions.run.record import attempt_start
from cub.actions.run.run import Run
from cub.actions.run.run_end import describe_branch, describe_parked
from cub.actions.run.under_way import Attempt
from cub.actions.run.verification import HINT, UNVERIFIED
from cub.errors import CubError
from cub.harness.base import Harness
from cub.harness.signals import signals
from cub.masking import masked
from cub.processes.command import Limits
from cub.store.briefs import Brief
from cub.store.events import RUN_END, RUN_START, TASK_STATE, Event, masked_event
from cub.store.spelling import CLOSED, PARKED

# Why a run ended, as `end` of run_end has it; the first four are as it should be.
DONE, ONCE, ITERATIONS, NOTHING = "done", "once", "iterations", "nothing_ready"
BUDGET, INTERRUPTED, MACHINE, BROKEN = "budget", "interrupted", "machine", "broken"
_BAD = (BUDGET, INTERRUPTED, MACHINE, BROKEN, UNVERIFIED)
_HINTS = {
    UNVERIFIED: HINT,
    BROKEN: "look at what is said above, and mend it; the next `cub run` puts back what is left",
}
_MASKED_BEFORE = ("client", "tick")
_STORES = "chore(cub): record what the run did"


@dataclass(slots=True)
class Tally:
    """What became of the tasks of this run, the last status of each; whether any client has worked;
    why it ends, if that needs words.
    """

    statuses: dict[str, str] = field(default_factory=dict)
    has_worked: bool = False
    why: str = ""

    @property
    def failed(self) -> list[str]:
        """The tasks that were begun and are not done."""
        return [task for task, status in self.statuses.items() if status != CLOSED]

    def told(self) -> dict[str, int]:
        """How many tasks have which status."""
        return dict(sorted(Counter(self.statuses.values()).items()))


def loop(run: Run) -> Iterator[Event]:
    """Work tasks off until there is a reason to end; all that is told of it is without secrets.

    Here all events go by that anybody is shown. A client's are masked where they come from: what a
    piece of text is may depend on the one before, and there may be very many.
    """
    for event in _worked_off(run):
        yield event if event["ev"] in _MASKED_BEFORE else masked_event(event, masked)


def _worked_off(run: Run) -> Iterator[Event]:
    tally = Tally()
    clients = Clients(run.harnesses)
    start = run.event(
        RUN_START, harness=",".join(clients.names), checks=list(run.settings.checks), **_place(run)
    )
    run.opened.ledger.append(start)
    yield start
    end = yield from _turns(run, clients, tally)
    yield from _finish(run, tally, end)


def _turns(run: Run, clients: Clients, tally: Tally) -> Generator[Event, None, str]:
    while True:
        if run.stop.requested:
            return INTERRUPTED
        if run.budget.is_over:
            return BUDGET
        if run.budget.is_done:
            return ITERATIONS
        harness = clients.free(run.clock.now())
        if harness is None:
            names, ready = ",".join(clients.names), len(_ready(run))
            yield run.event("waiting", until=clients.until_text, harness=names, ready=ready)
            run.clock.wait(clients.until, run.stop)
            continue
        claimed = _claim(run, harness)
        if claimed is None:
            return DONE if tally.statuses else NOTHING
        done = yield from _attempted(run, harness, claimed)
        tally.statuses[claimed.task] = done.fate.status
        ended = (done.event.get("exit"), done.event.get("signal"), done.event.get("dur_s") or None)
        tally.has_worked |= any(value is not None for value in ended)
        run.is_broken |= done.broken
        clients.judge(harness, done.verdict, run.clock.now())
        if end := _reason_to_end(run, done, clients):
            tally.why = done.verdict.reason if end in (UNVERIFIED, BROKEN, MACHINE) else ""
            return end


def _reason_to_end(run: Run, done: Concluded, clients: Clients) -> str:
    verdict = done.verdict
    reasons = {
        INTERRUPTED: verdict.failure == INTERRUPTED or run.stop.requested,
        BUDGET: verdict.failure == BUDGET,
        BROKEN: done.broken or done.replaced,
        UNVERIFIED: verdict.failure == UNVERIFIED and verdict.is_free,
        MACHINE: verdict.failure == "unknown" and verdict.is_free,
        ONCE: run.settings.asked.once,
    }
    found = next((end for end, holds in reasons.items() if holds), "")
    return found or (MACHINE if clients.are_over else "")


def _claim(run: Run, harness: Harness) -> Claimed | None:
    stores = run.stores

    def begin(task: str) -> Event:
        number = history(stores.ledger, task).attempts + 1
        return attempt_start(run, task, number, harness.name)

    lasts = run.lease_lasts(len(run.settings.checks) + 1)
    agreed = run.agreed if run.settings.own_checks else None
    asked, who = run.settings.asked, harness.name
    return claim_next(stores, asked, run.folder.id, who, lasts, begin, agreed)


def _attempted(run: Run, harness: Harness, claimed: Claimed) -> Generator[Event, None, Concluded]:
    """One attempt from its first event to its last one."""
    task = claimed.tasks.record(claimed.task)
    before = history(run.opened.ledger, claimed.task)
    number = before.attempts  # the start of this one is in the ledger already
    files = run.folder.attempt(claimed.task, number)
    this = Attempt(task, run.own_checks_of(task), number, harness, files, before)
    start = attempt_start(run, claimed.task, number, harness.name)
    yield {**start, "title": task.get("title", ""), "waiting": claimed.waiting}
    for warning in claimed.warnings:
        yield run.event("notice", text=warning.message)
    guard = Guard.over(run.opened.root, run.folder.state)
    try:
        verdict = yield from attempt(run, this, claimed.tasks, guard)
    except (CubError, OSError) as error:
        verdict = Verdict("unknown", words_of(error), is_free=is_of_the_machine(error))
    run.budget = run.budget.with_attempt(this.worked.told)
    if signals(this.worked.told.final).promise and claimed.waiting:
        left = f"{claimed.waiting} more task{'s are' if claimed.waiting > 1 else ' is'} ready"
        this.observed.append(f"the agent said that all is complete, and {left}")
    done = conclude(run, this, verdict, guard)
    yield from _told(run, this, done)
    return done


def _told(run: Run, this: Attempt, done: Concluded) -> Iterator[Event]:
    yield done.event
    for text in [*this.observed, *done.said]:
        yield run.event("notice", task=this.key, text=text)
    question = {"question": done.fate.question} if done.fate.question else {}
    status, why = done.fate.status, done.fate.why
    yield run.event(TASK_STATE, task=this.key, status=status, why=why, **question)


def _finish(run: Run, tally: Tally, end: str) -> Iterator[Event]:
    failed = tally.failed
    bad = end in _BAD or bool(failed)
    parked = [task for task, status in tally.statuses.items() if status == PARKED]
    event = run.event(
        RUN_END,
        end=end,
        ok=not bad,
        tasks=tally.told(),
        ready=len(_ready(run)),
        **({"parked": parked} if parked else {}),
        **(describe_parked(run) if end in (DONE, NOTHING) else {}),
        **describe_branch(run),
        **run.budget.told(),
    )
    if why := run.budget.words() if end == BUDGET else tally.why:
        event["why"] = why
    if end in _HINTS:
        event["hint"] = _HINTS[end]
    run.opened.ledger.append(event)
    is_news = tally.has_worked or run.has_recovered
    if run.settings.commit and is_news and (failure := _commit_stores(run)):
        yield run.event("notice", text=f"the stores could not be committed: {failure}")
    yield event


def _ready(run: Run) -> list[Brief]:
    return queue(run.opened.backend.read(), run.stores, run.settings.asked).rows


def _commit_stores(run: Run) -> str:
    """Commit what the stores say in the end; why that failed, or ""."""
    try:
        return run.ground.commit_stores(_STORES, Limits(run.settings.timeout, None)).failure
    except CubError as error:
        return words_of(error)


def _place(run: Run) -> dict[str, Any]:
    """Where the run works, and what it may do."""
    bypass = {"permissions": "bypass"} if run.settings.permissions == "bypass" else {}
    here = run.ground.folder
    apart = {"worktree": str(here)} if here != run.opened.project.root else {}
    return {**bypass, **apart}
