"""What an attempt came to, by evidence: the failure class that fits first, or success.

The order is that of the classes in docs/reference/run.md. What the agent says of its own success
decides nothing; what it says of its failure is believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from cub.actions.run.checking import NOT_RUN, Compared
from cub.checks.reasons import find_last_words
from cub.harness.refusals import Refusal, refusal
from cub.harness.resets import reset
from cub.harness.signals import NO_REASON, Signals, last_words, signals
from cub.harness.transcript import Transcript
from cub.processes.command import Ended
from cub.prompt.attempts import INFRASTRUCTURE
from cub.store.spelling import UNDONE

NO_CHANGE = "no_change"
_TAIL = 8_000  # characters of what a client printed last


class Verdict(NamedTuple):
    """How an attempt ended: `failure` is a class, "" for success; `until` is a limit's end.

    `is_free`: it counts as no attempt, whatever its class. `doubt` is why nothing has judged an
    attempt that is accepted all the same.
    """

    failure: str = ""
    reason: str = ""
    no_change: bool = False
    until: datetime | None = None
    is_free: bool = False
    doubt: str = ""

    @property
    def ok(self) -> bool:
        """Whether the task is done."""
        return not self.failure

    @property
    def charged(self) -> bool:
        """Whether it counts as one of the attempts that a task has."""
        return not (self.ok or self.is_free or self.failure in INFRASTRUCTURE)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known when a client has ended. `succeeded` is by its own rules; `changed` says
    whether files differ; `put_back` are files of the person's that did, and no longer do;
    `conflicts` are files of an unfinished merge, `oversized` those that are too large; `request` is
    what the agent asked for.
    """

    ended: Ended
    told: Transcript
    errors: str
    succeeded: bool
    changed: bool
    put_back: Sequence[str]
    moved: str
    unreachable: Sequence[str]
    conflicts: Sequence[str]
    oversized: Sequence[str]
    request: dict[str, Any]
    over_budget: bool
    at: datetime

    @property
    def said(self) -> Signals:
        """What the final message signals."""
        return signals(self.told.final)

    @property
    def words(self) -> str:
        """What the final message says in the end."""
        return last_words(self.told.final)

    @property
    def last_error(self) -> str:
        """What the client's stderr says in the end."""
        return find_last_words(self.errors[-_TAIL:])

    @property
    def no_change(self) -> bool:
        """Whether the agent says that nothing had to be changed."""
        return not self.changed and NO_CHANGE in (self.request.get("reason"), self.said.status)


def judged(known: Evidence) -> Verdict | None:
    """The class of an attempt that failed before any check; None where checks have to decide."""
    told = known.told
    failed = not known.succeeded
    idle = not known.changed and not known.request
    said = known.said
    if known.ended.cause == "stopped":
        return Verdict("interrupted", "the run was stopped")
    refused = _refused(known) if (failed or idle) and said.stuck is None else None
    if refused:
        return Verdict(refused.kind, refused.words, until=refused.until)
    if known.ended.missing or (failed and known.ended.exit in NOT_RUN and not told.final.strip()):
        return Verdict("harness_missing", known.ended.missing or known.last_error)
    if known.over_budget:
        return Verdict("budget", "the run's budget was used up in the middle of the attempt")
    return _by_limits(known) or _by_words(known, failed=failed, idle=idle) or _by_files(known)


def by_checks(checks: Sequence[Compared], known: Evidence) -> Verdict:
    """The verdict when the checks have run."""
    if any(one.check.cause == "stopped" for one in checks):
        return Verdict("interrupted", "the run was stopped")
    if failing := [one for one in checks if not one.ok]:
        return Verdict("checks_failed", _first(failing[0]))
    return Verdict(no_change=known.no_change)


def _by_limits(known: Evidence) -> Verdict | None:
    seconds = f"{known.ended.seconds:.0f} s"
    if known.ended.cause == "idle":
        return Verdict("timeout_idle", f"it was silent, and was stopped after {seconds} in all")
    if known.ended.cause == "wall":
        return Verdict("timeout_wall", f"it was stopped after {seconds}")
    return None


def _by_words(known: Evidence, *, failed: bool, idle: bool) -> Verdict | None:
    """What the agent or its client says of its failure."""
    said, told = known.said, known.told
    if told.denied and (failed or idle):
        return Verdict("permission_denied", told.denied[0])
    if said.stuck is not None or said.status == "stuck":
        return Verdict("stuck", said.stuck or known.words or NO_REASON)
    if (wish := known.request.get("reason")) in UNDONE:
        note = str(known.request.get("note") or "")
        return Verdict("stuck", f"the agent asks to close the task as {wish}" + _after(note))
    if said.question and idle and said.status != NO_CHANGE and not failed:
        return Verdict("asked_question", said.question)
    if failed:
        return Verdict("harness_exit", _exit(known))
    return None


def _by_files(known: Evidence) -> Verdict | None:
    """What the files say before any check."""
    if known.moved == "away":
        what = "the agent left the branch: what is checked out does not hold the run's last commit"
        return Verdict("unknown", what)
    if known.conflicts:
        return Verdict("merge_conflict", f"the agent left a conflict in {known.conflicts[0]}")
    if known.oversized:
        what = "is larger than run.max_file_size, and git does not ignore it"
        return Verdict("too_large", f"{known.oversized[0]} {what}")
    if known.unreachable:
        names = ", ".join(known.unreachable[:3])
        return Verdict("commit_failed", f"changes inside of the submodule {names} can't be kept")
    if not known.changed and not known.no_change:
        return Verdict("no_changes", _persons_alone(known.put_back))
    return None


def _persons_alone(put_back: Sequence[str]) -> str:
    if not put_back:
        return ""
    names = ", ".join(put_back[:3])
    return f"only files that git does not know were changed, and they are put back: {names}"


def _refused(known: Evidence) -> Refusal | None:
    """What the end of its output says of limits and logins; its own words of a limit first."""
    if limit := known.told.limit:  # the client's own event: it is one, whatever its words are
        words = " ".join(limit.split())
        return refusal(limit, known.at) or Refusal("rate_limited", reset(limit, known.at), words)
    texts = (known.errors[-_TAIL:], known.told.final[-_TAIL:])
    return next((found for text in texts if text and (found := refusal(text, known.at))), None)


def _exit(known: Evidence) -> str:
    ended = known.ended
    how = f"signal {ended.signal}" if ended.signal else f"exit code {ended.exit}"
    if known.told.failed:
        how = "the client reported a failure" if ended.exit == 0 else how
    elif ended.exit == 0:
        how = "the client ended without what tells its success"
    return how + _after(known.last_error or known.words)


def _first(one: Compared) -> str:
    """What tells most of a failed check."""
    check = one.check
    if check.cause:
        return f"{check.command}: still running after {check.seconds:.0f} s"
    for item in (*one.new, *check.items):
        return f"{item.where}" + _after(item.message)
    return f"{check.command}: exit code {check.exit}" + _after(check.reason)


def _after(text: str) -> str:
    return f": {text}" if text else ""
