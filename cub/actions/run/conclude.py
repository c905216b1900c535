"""The end of an attempt: its files are committed or put back, the task and the ledger are told.

Every step is written down before it is done, and can be done again: a run that is killed in the
middle is concluded by the next one (cub.actions.run.recovery).
"""

from __future__ import annotations

from dataclasses import dataclass

from cub.actions.run.attempt import Attempt
from cub.actions.run.evidence import NO_CHANGE, Verdict
from cub.actions.run.folders import DECISION, PATCH, RESTORING, RESULT
from cub.actions.run.guard import Guard
from cub.actions.run.policy import Fate, fate
from cub.actions.run.record import attempt_end, print_of
from cub.actions.run.run import Run
from cub.actions.tasks.status import finish, set_back
from cub.processes.command import Limits
from cub.prompt.message import commit_message
from cub.store.events import Event
from cub.store.spelling import CLOSED


@dataclass(slots=True)
class Concluded:
    """What became of an attempt."""

    verdict: Verdict
    fate: Fate
    event: Event


def conclude(run: Run, this: Attempt, verdict: Verdict, guard: Guard) -> Concluded:
    """Commit or put back, then tell the task and the ledger."""
    head = ""
    if verdict.ok:
        head, verdict = _committed(run, this, verdict)
    if verdict.ok:
        ended = Fate(CLOSED)
    else:
        ended = fate(verdict, print_of(this, verdict), this.history, run.settings.max_attempts)
        _put_back(run, this, verdict, ended)
    event = attempt_end(run, this, verdict, head)
    said = tell(run, this.key, ended, event, verdict, guard)
    this.files.write(RESULT, {"event": event, "status": ended.status, "why": ended.why})
    event["said"] = said
    return Concluded(verdict, ended, event)


def tell(
    run: Run, key: str, ended: Fate, event: Event, verdict: Verdict, guard: Guard | None = None
) -> list[str]:
    """Give the task its status, and the ledger the attempt; what there is to tell a person."""
    with run.stores.changing() as work:
        gone = guard.restore_tasks(work.change) if guard else []
        if key in work.tasks:
            if ended.status == CLOSED:
                finish(work, key, NO_CHANGE if verdict.no_change else "done")
            else:
                set_back(work, key, ended.status, ended.why)
        work.outcome.events.append(event)
    said = [f"the task {one} was taken away, and is back" for one in gone]
    return [*said, *work.outcome.said, *(w.message for w in work.outcome.warnings)]


def message(run: Run, this: Attempt) -> str:
    """The message of the attempt's commit."""
    return commit_message(run.settings.message, this.task)


def _committed(run: Run, this: Attempt, verdict: Verdict) -> tuple[str, Verdict]:
    """The commit that holds the attempt, "" for none; a verdict of its own if there is none."""
    commits = run.settings.commit
    if commits and this.moved:
        run.ground.settle(this.before)
    decision = {
        "ok": True,
        "no_change": verdict.no_change,
        "tree": this.after.tree,
        "head": run.ground.head(this.before, this.after),
        "message": message(run, this) if commits else "",
        "event": attempt_end(run, this, verdict, ""),
    }
    this.files.write(DECISION, decision)
    head = ""
    if commits:
        limits = Limits(run.settings.timeout, None)
        saved = run.ground.commit(this.before, this.changed, decision["message"], limits)
        if saved.failure:
            return "", Verdict("commit_failed", saved.failure)
        head = saved.head
    for one in this.checks:  # what they said holds for the next attempt, too
        run.checker.keep(this.after.tree, one.check)
    return head, verdict


def _put_back(run: Run, this: Attempt, verdict: Verdict, ended: Fate) -> None:
    """Keep the changes as a patch, and make the files what they were."""
    now = run.ground.snapshot(this.before)
    run.ground.patch(this.before, now, this.files.path / PATCH)
    draft = attempt_end(run, this, verdict, "")
    decision = {"ok": False, "event": draft, "status": ended.status, "why": ended.why}
    this.files.write(DECISION, decision)
    this.files.text(RESTORING, "")
    this.observed += run.ground.restore(this.before, now)
