"""The end of an attempt: its files are committed or put back, the task and the ledger are told.

Every step is written down before it is done, and can be done again: a run that is killed in the
middle is concluded by the next one (cub.actions.run.recovery).
"""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass
from functools import partial

from cub.actions.run.evidence import Verdict
from cub.actions.run.folders import COMMIT, DECISION, PATCH, RESTORING, RESULT
from cub.actions.run.guard import Guard
from cub.actions.run.policy import Fate, fate
from cub.actions.run.record import attempt_end, print_of
from cub.actions.run.run import Run
from cub.actions.run.tell import tell
from cub.actions.run.under_way import Attempt, restore_around
from cub.errors import CubError
from cub.files.reading import trouble
from cub.processes.command import Limits
from cub.prompt.message import commit_message
from cub.store.events import Event
from cub.store.spelling import CLOSED

_OF_THE_MACHINE = (
    errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENOMEM, errno.EIO,
    errno.EROFS, errno.EAGAIN,
)  # fmt: skip

# As git says it.
_FULL = re.compile(r"no space left|out of disk ?space|quota exceeded|file too large", re.IGNORECASE)


@dataclass(slots=True)
class Concluded:
    """What became of an attempt; `said` is for a person. `broken`: the files could not be put
    back or committed, and no other attempt may begin on them. `replaced`: the attempt put something
    else in the place of `.cub` or of git's folder, which is back.
    """

    verdict: Verdict
    fate: Fate
    event: Event
    said: list[str]
    broken: bool = False
    replaced: bool = False


def conclude(run: Run, this: Attempt, verdict: Verdict, guard: Guard) -> Concluded:
    """Commit or put back, then tell the task and the ledger."""
    head, broken = "", False
    try:
        try:
            head, verdict = _carry_out(run, this, verdict, guard)
        except (CubError, OSError) as error:
            if not is_of_the_machine(error):
                raise
            # Perhaps the attempt filled the disk. What it made has to go in any case.
            if this.before is not None:
                this.observed += run.ground.make_room(this.before)
            verdict = Verdict("unknown", words_of(error), is_free=True)
            _carry_out(run, this, verdict, guard)
    except (CubError, OSError) as error:
        verdict = Verdict("unknown", words_of(error), is_free=is_of_the_machine(error))
        broken = True
        _note_failure(run, this, verdict)
    ended = Fate(CLOSED) if verdict.ok else _fate(run, this, verdict)
    event = attempt_end(run, this, verdict, head)
    told = tell(run, this.key, ended, event, guard, no_change=verdict.no_change)
    if not broken:  # else the next run tries again to put it back
        result = {"event": event, "status": ended.status, "why": ended.why}
        this.files.write(RESULT, result)
        this.files.show(RESULT, result)
    return Concluded(verdict, told.fate, event, told.said, broken, bool(this.replaced))


def _carry_out(run: Run, this: Attempt, verdict: Verdict, guard: Guard) -> tuple[str, Verdict]:
    """Put back what is around the files, then commit them or put them back, too."""
    head = ""
    restore_around(run, this, guard)  # checks may have done some damage, too
    if this.replaced and verdict.ok:
        verdict = Verdict("unknown", "; ".join(this.replaced))
    if verdict.ok:
        head, verdict = _committed(run, this, verdict)
    if not verdict.ok:
        _put_back(run, this, verdict)
    return head, verdict


def is_of_the_machine(error: BaseException) -> bool:
    """Whether an error is one of the machine's, such as a full disk: no task can help it."""
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError) and cause.errno in _OF_THE_MACHINE:
        return True
    return isinstance(error, CubError) and bool(_FULL.search(words_of(error)))


def words_of(error: CubError | OSError) -> str:
    """An error as a reason."""
    if isinstance(error, OSError):
        error = trouble(error, str(error.filename or ""), "cannot be used")
    return " ".join([str(error), *error.details])


def _fate(run: Run, this: Attempt, verdict: Verdict) -> Fate:
    return fate(verdict, print_of(this, verdict), this.history, run.settings.max_attempts)


def message(run: Run, this: Attempt) -> str:
    """The message of the attempt's commit, with what a reviewer has to know of its checks."""
    text = commit_message(run.settings.message, this.task)
    doubts = "\n".join(f"- {doubt}" for doubt in this.doubts)
    return (
        f"{text}\n\nWhat decided whether it is done was changed, too:\n\n{doubts}"
        if doubts
        else text
    )


def _committed(run: Run, this: Attempt, verdict: Verdict) -> tuple[str, Verdict]:
    """The commit that holds the attempt, "" for none; a verdict of its own if there is none."""
    commits = run.settings.commit
    if commits and this.moved:
        this.observed += run.ground.settle(this.before)
    decision = {
        "ok": True,
        "no_change": verdict.no_change,
        "after": this.after.to_json(),
        "head": run.ground.head(this.before, this.after),
        "message": message(run, this) if commits else "",
        "event": attempt_end(run, this, verdict, ""),
    }
    this.files.write(DECISION, decision)
    head = ""
    if commits and (this.changed or this.moved):
        limits = Limits(run.settings.timeout, None)
        text = str(decision["message"])
        saved = run.ground.commit(this.before, this.after, text, limits, partial(_announce, this))
        if saved.failure:
            return "", Verdict("commit_failed", saved.failure)
        head = saved.head
    elif not commits:
        run.made |= {one.path for one in this.changed if one.kind == "A"}
        run.ground.unstage()
    # Checks and hooks may have changed them since.
    aside = this.files.clear_links()
    this.observed += run.ground.restore_persons(this.before, aside, run.made).said
    for one in this.checks:  # what they said holds for the next attempt, too
        run.checker.keep(this.after.tree, one.check)
    return head, verdict


def _note_failure(run: Run, this: Attempt, verdict: Verdict) -> None:
    """Note that the attempt failed, before its files are put back, whatever was decided before."""
    ended, draft = _fate(run, this, verdict), attempt_end(run, this, verdict, "")
    decision = {"ok": False, "event": draft, "status": ended.status, "why": ended.why}
    this.files.write(DECISION, decision)


def _announce(this: Attempt, parent: str, tree: str) -> None:
    """Note the commit that is about to be made: after a kill it is known by that."""
    this.files.write(COMMIT, {"parent": parent, "tree": tree})


def _put_back(run: Run, this: Attempt, verdict: Verdict) -> None:
    """Keep the changes as a patch, and make the files what they were."""
    if this.before is None:
        return
    aside = this.files.clear_links()
    this.observed += run.ground.restore_persons(this.before, aside, run.made).said
    now = run.ground.snapshot(this.before)
    run.ground.patch(this.before, now, this.files.make_path(PATCH))
    _note_failure(run, this, verdict)
    this.files.write(RESTORING, {"at": run.now})
    this.observed += run.ground.restore(this.before, now)
