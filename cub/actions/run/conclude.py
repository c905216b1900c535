"""The end of an attempt: its files are committed or put back, the task and the ledger are told.

Every step is written down before it is done, and can be done again: a run that is killed in the
middle is concluded by the next one (cub.actions.run.recovery).
"""

from __future__ import annotations

from dataclasses import dataclass

from cub.actions.run.evidence import Verdict
from cub.actions.run.folders import DECISION, PATCH, RESTORING, RESULT
from cub.actions.run.guard import Guard
from cub.actions.run.policy import Fate, fate
from cub.actions.run.record import attempt_end, print_of
from cub.actions.run.run import Run
from cub.actions.run.tell import tell
from cub.actions.run.under_way import Attempt, restore_around
from cub.errors import CubError
from cub.processes.command import Limits
from cub.prompt.message import commit_message
from cub.store.events import Event
from cub.store.spelling import CLOSED


@dataclass(slots=True)
class Concluded:
    """What became of an attempt; `said` is for a person. `broken`: the files could not be put
    back or committed, and no other attempt may begin on them.
    """

    verdict: Verdict
    fate: Fate
    event: Event
    said: list[str]
    broken: bool = False


def conclude(run: Run, this: Attempt, verdict: Verdict, guard: Guard) -> Concluded:
    """Commit or put back, then tell the task and the ledger."""
    head, broken = "", False
    try:
        damage = run.ground.repair_repository(this.files.path)  # checks may have done some, too
        restore_around(run, this, guard)
        verdict = Verdict("unknown", damage) if damage and verdict.ok else verdict
        if verdict.ok:
            head, verdict = _committed(run, this, verdict)
        if not verdict.ok:
            _put_back(run, this, verdict)
    except CubError as error:
        verdict, broken = Verdict("unknown", words_of(error)), True
    ended = Fate(CLOSED) if verdict.ok else _fate(run, this, verdict)
    event = attempt_end(run, this, verdict, head)
    told = tell(run, this.key, ended, event, guard, no_change=verdict.no_change)
    if not broken:  # else the next run tries again to put it back
        this.files.write(RESULT, {"event": event, "status": ended.status, "why": ended.why})
    return Concluded(verdict, told.fate, event, told.said, broken)


def words_of(error: CubError) -> str:
    """An error as a reason."""
    return " ".join([str(error), *error.details])


def _fate(run: Run, this: Attempt, verdict: Verdict) -> Fate:
    return fate(verdict, print_of(this, verdict), this.history, run.settings.max_attempts)


def message(run: Run, this: Attempt) -> str:
    """The message of the attempt's commit."""
    return commit_message(run.settings.message, this.task)


def _committed(run: Run, this: Attempt, verdict: Verdict) -> tuple[str, Verdict]:
    """The commit that holds the attempt, "" for none; a verdict of its own if there is none."""
    commits = run.settings.commit
    if commits and this.moved:
        this.observed += run.ground.settle(this.before)
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
    if commits and (this.changed or this.moved):
        limits = Limits(run.settings.timeout, None)
        saved = run.ground.commit(this.before, this.after, decision["message"], limits)
        if saved.failure:
            return "", Verdict("commit_failed", saved.failure)
        head = saved.head
    elif not commits:
        run.made |= {one.path for one in this.changed if one.kind == "A"}
        run.ground.unstage()
    # Checks and hooks may have changed them since.
    this.observed += run.ground.restore_persons(this.before, this.files.path, run.made).said
    for one in this.checks:  # what they said holds for the next attempt, too
        run.checker.keep(this.after.tree, one.check)
    return head, verdict


def _put_back(run: Run, this: Attempt, verdict: Verdict) -> None:
    """Keep the changes as a patch, and make the files what they were."""
    ended = _fate(run, this, verdict)
    if this.before is None:
        return
    this.observed += run.ground.restore_persons(this.before, this.files.path, run.made).said
    now = run.ground.snapshot(this.before)
    this.files.path.mkdir(parents=True, exist_ok=True)
    run.ground.patch(this.before, now, this.files.path / PATCH)
    draft = attempt_end(run, this, verdict, "")
    decision = {"ok": False, "event": draft, "status": ended.status, "why": ended.why}
    this.files.write(DECISION, decision)
    this.files.text(RESTORING, "")
    this.observed += run.ground.restore(this.before, now)
