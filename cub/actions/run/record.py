"""What the ledger is told of an attempt that has ended."""

from __future__ import annotations

from cub.actions.run.budget import tokens_told
from cub.actions.run.checking import told
from cub.actions.run.evidence import Verdict
from cub.actions.run.folders import PATCH
from cub.actions.run.run import Run
from cub.actions.run.under_way import Attempt
from cub.checks.fingerprint import fingerprint
from cub.checks.reasons import LONGEST
from cub.errors import CubError
from cub.harness.signals import Signals, last_words, signals
from cub.store.events import ATTEMPT_END, ATTEMPT_START, Event, cut

_SAID = "; the agent said: "
_SHORTEST = 40  # characters of what an agent said


def attempt_start(run: Run, task: str, number: int, harness: str) -> Event:
    """An attempt that begins."""
    files = run.folder.attempt(task, number).name
    model = {"model": run.settings.model} if run.settings.model else {}
    return run.event(ATTEMPT_START, task=task, n=number, harness=harness, **model, log=files)


def attempt_end(run: Run, this: Attempt, verdict: Verdict, head: str) -> Event:
    """An attempt that has ended; see docs/reference/ledger.md."""
    worked = this.worked
    said = signals(worked.told.final)
    event = run.event(ATTEMPT_END, task=this.key, n=this.number, harness=this.harness.name)
    if run.settings.model:
        event["model"] = run.settings.model
    if worked.told.session:
        event["session"] = worked.told.session
    event |= {
        "dur_s": round(worked.ended.seconds, 2),
        "exit": worked.ended.exit,
        "signal": worked.ended.signal,
        "ok": verdict.ok,
        **({"unverified": verdict.doubt} if verdict.doubt else {}),
        **_failure(this, verdict),
        "tok": tokens_told(worked.told.tokens),
        "usd": worked.told.usd,
        "usd_src": "reported" if worked.told.priced else "none",
        "git": _change(run, this, head),
        "checks": told(this.checks),
    }
    summed_up = verdict.ok or said.summary
    extra = {
        "said": "" if summed_up else last_words(worked.told.final),
        "obs": this.observed,
        "denied": list(worked.told.denied),
        "trailer": _trailer(said),
        "stuck": said.stuck or "",
    }
    event |= {name: value for name, value in extra.items() if value}
    return {**event, "log": this.files.name}


def print_of(this: Attempt, verdict: Verdict) -> str:
    """What tells this failure from another one: what the failed checks found or printed, or the
    class and its reason where they said nothing.
    """
    found = ""
    failed = [one.check for one in this.checks if not one.ok]
    if verdict.failure == "checks_failed" and failed:
        items = [item for check in failed for item in check.items]
        found = fingerprint(items, "\n".join(check.tail or check.cause for check in failed))
    return found or fingerprint((), f"{verdict.failure} {verdict.reason}")


def _failure(this: Attempt, verdict: Verdict) -> Event:
    if verdict.ok:
        return {}
    told_failure = {
        "class": verdict.failure,
        "reason": _explained(verdict, last_words(this.worked.told.final)),
        "charge": verdict.charged,
        "fp": print_of(this, verdict),
    }
    return {"fail": told_failure}


def _explained(verdict: Verdict, words: str) -> str:
    """Why an attempt failed, and what the agent said in the end, as far as there is room."""
    reason = verdict.reason
    if not reason:
        return words
    room = LONGEST - len(reason) - len(_SAID)
    if verdict.failure == "interrupted" or room < _SHORTEST or words in reason or reason in words:
        return reason
    return reason + _SAID + cut(words, room)


def _change(run: Run, this: Attempt, head: str) -> Event:
    if this.before is None or this.after is None:
        return {}
    try:
        told_change = run.ground.told(this.before, this.after)
    except CubError:  # nothing can be asked where an attempt broke the repository itself
        told_change = {}
    patch = {"patch": f"{this.files.name}/{PATCH}"} if this.files.has(PATCH) else {}
    return {**told_change, **({"head": head} if head else {}), **patch}


def _trailer(said: Signals) -> Event:
    known = {
        "status": said.status,
        "summary": said.summary,
        "tried": list(said.tried),
        "next": said.next,
    }
    return {name: value for name, value in known.items() if value}
