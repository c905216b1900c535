"""What an attempt came to, by evidence: the failure class that fits first, or success.

The order is that of the classes in docs/reference/run.md. What the agent says of its own success
decides nothing; what it says of its failure is believed.

Whether checks can decide about an attempt, and whether they did.

Something has to pass before a task is called done: a check, a failing item that went away, or tests
beside those that failed before. Checks that all fail as they did before have judged nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from cub.actions.run.check_runner import NOT_RUN_EXIT_CODES, CheckComparison, CheckResult
from cub.checks.failure_reasons import find_last_error
from cub.harness.base import Transcript
from cub.harness.final_message import (
    NO_REASON,
    FinalSignals,
    parse_signals,
    summarize_final_message,
)
from cub.harness.refusals import Refusal, find_refusal
from cub.harness.reset_times import find_reset_time
from cub.processes.command import ProcessResult
from cub.prompt.previous_attempts import INFRASTRUCTURE_FAILURES
from cub.store.task_schema import UNDONE_REASONS

NO_CHANGE = "no_change"
_TAIL = 8_000  # characters of what a client printed last


class Verdict(NamedTuple):
    """How an attempt ended: `failure` is a class, "" for success; `reset_time` is a limit's end.

    `is_uncounted`: it counts as no attempt, whatever its class. `doubt` is why nothing has judged
    an attempt that is accepted all the same.
    """

    failure: str = ""
    reason: str = ""
    no_change: bool = False
    reset_time: datetime | None = None
    is_uncounted: bool = False
    doubt: str = ""

    @property
    def is_ok(self) -> bool:
        """Whether the task is done."""
        return not self.failure

    @property
    def counts_as_attempt(self) -> bool:
        """Whether it counts as one of the attempts that a task has."""
        return not (self.is_ok or self.is_uncounted or self.failure in INFRASTRUCTURE_FAILURES)


@dataclass(frozen=True, slots=True)
class AttemptEvidence:
    """What is known when a client has ended. `is_success` is by its own rules; `has_changes` says
    whether files differ; `restored_files` are files of the person's that did, and no longer do;
    `conflicts` are files of an unfinished merge, `oversized_files` those that are too large;
    `request` is what the agent asked for.
    """

    process: ProcessResult
    transcript: Transcript
    stderr: str
    is_success: bool
    has_changes: bool
    restored_files: Sequence[str]
    head_move: str
    uncommittable: Sequence[str]
    conflicts: Sequence[str]
    oversized_files: Sequence[str]
    request: dict[str, Any]
    is_over_budget: bool
    time: datetime

    @property
    def signals(self) -> FinalSignals:
        """What the final message signals."""
        return parse_signals(self.transcript.final_message)

    @property
    def summary(self) -> str:
        """What the final message says in the end."""
        return summarize_final_message(self.transcript.final_message)

    @property
    def last_error(self) -> str:
        """What the client's stderr says in the end."""
        return find_last_error(self.stderr[-_TAIL:])

    @property
    def claims_no_change(self) -> bool:
        """Whether the agent says that nothing had to be changed."""
        return not self.has_changes and NO_CHANGE in (
            self.request.get("reason"),
            self.signals.status,
        )


def judge_before_checks(evidence: AttemptEvidence) -> Verdict | None:
    """The class of an attempt that failed before any check; None where checks have to decide."""
    told = evidence.transcript
    failed = not evidence.is_success
    idle = not evidence.has_changes and not evidence.request
    said = evidence.signals
    if evidence.process.cause == "stopped":
        return Verdict("interrupted", "the run was stopped")
    refused = _find_refusal(evidence) if (failed or idle) and said.stuck is None else None
    if refused:
        return Verdict(refused.kind, refused.message, reset_time=refused.reset_time)
    if evidence.process.start_error or (
        failed
        and evidence.process.exit_code in NOT_RUN_EXIT_CODES
        and not told.final_message.strip()
    ):
        return Verdict("harness_missing", evidence.process.start_error or evidence.last_error)
    if evidence.is_over_budget:
        return Verdict("budget", "the run's budget was used up in the middle of the attempt")
    return (
        _judge_limits(evidence)
        or _judge_statements(evidence, failed=failed, idle=idle)
        or _judge_files(evidence)
    )


def judge_by_checks(checks: Sequence[CheckComparison], evidence: AttemptEvidence) -> Verdict:
    """The verdict when the checks have run."""
    if any(one.check.cause == "stopped" for one in checks):
        return Verdict("interrupted", "the run was stopped")
    if failing := [one for one in checks if not one.is_ok]:
        return Verdict("checks_failed", _describe_failed_check(failing[0]))
    return Verdict(no_change=evidence.claims_no_change)


def _judge_limits(evidence: AttemptEvidence) -> Verdict | None:
    seconds = f"{evidence.process.seconds:.0f} s"
    if evidence.process.cause == "idle":
        return Verdict("timeout_idle", f"it was silent, and was stopped after {seconds} in all")
    if evidence.process.cause == "wall":
        return Verdict("timeout_wall", f"it was stopped after {seconds}")
    return None


def _judge_statements(evidence: AttemptEvidence, *, failed: bool, idle: bool) -> Verdict | None:
    """What the agent or its client says of its failure."""
    said, told = evidence.signals, evidence.transcript
    if told.denials and (failed or idle):
        return Verdict("permission_denied", told.denials[0])
    if said.stuck is not None or said.status == "stuck":
        return Verdict("stuck", said.stuck or evidence.summary or NO_REASON)
    if (wish := evidence.request.get("reason")) in UNDONE_REASONS:
        note = str(evidence.request.get("note") or "")
        return Verdict("stuck", f"the agent asks to close the task as {wish}" + _append_text(note))
    if said.question and idle and said.status != NO_CHANGE and not failed:
        return Verdict("asked_question", said.question)
    if failed:
        return Verdict("harness_exit", _describe_exit(evidence))
    return None


def _judge_files(evidence: AttemptEvidence) -> Verdict | None:
    """What the files say before any check."""
    if evidence.head_move == "away":
        what = "the agent left the branch: what is checked out does not hold the run's last commit"
        return Verdict("unknown", what)
    if evidence.conflicts:
        return Verdict("merge_conflict", f"the agent left a conflict in {evidence.conflicts[0]}")
    if evidence.oversized_files:
        what = "is larger than run.max_file_size, and git does not ignore it"
        return Verdict("too_large", f"{evidence.oversized_files[0]} {what}")
    if evidence.uncommittable:
        names = ", ".join(evidence.uncommittable[:3])
        return Verdict("commit_failed", f"changes inside of the submodule {names} can't be kept")
    if not evidence.has_changes and not evidence.claims_no_change:
        return Verdict("no_changes", _describe_restored_files(evidence.restored_files))
    return None


def _describe_restored_files(put_back: Sequence[str]) -> str:
    if not put_back:
        return ""
    names = ", ".join(put_back[:3])
    return f"only files that git does not know were changed, and they are put back: {names}"


def _find_refusal(evidence: AttemptEvidence) -> Refusal | None:
    """What the end of its output says of limits and logins; its own words of a limit first."""
    if (
        limit := evidence.transcript.limit_message
    ):  # the client's own event: it is one, whatever its words are
        words = " ".join(limit.split())
        return find_refusal(limit, evidence.time) or Refusal(
            "rate_limited", find_reset_time(limit, evidence.time), words
        )
    texts = (evidence.stderr[-_TAIL:], evidence.transcript.final_message[-_TAIL:])
    return next(
        (found for text in texts if text and (found := find_refusal(text, evidence.time))), None
    )


def _describe_exit(evidence: AttemptEvidence) -> str:
    ended = evidence.process
    how = f"signal {ended.signal}" if ended.signal else f"exit code {ended.exit_code}"
    if evidence.transcript.has_failed:
        how = "the client reported a failure" if ended.exit_code == 0 else how
    elif ended.exit_code == 0:
        how = "the client ended without what tells its success"
    return how + _append_text(evidence.last_error or evidence.summary)


def _describe_failed_check(one: CheckComparison) -> str:
    """What tells most of a failed check."""
    check = one.check
    if check.cause:
        return f"{check.command}: still running after {check.seconds:.0f} s"
    for item in (*one.new, *check.items):
        return f"{item.where}" + _append_text(item.message)
    return f"{check.command}: exit code {check.exit}" + _append_text(check.reason)


def _append_text(text: str) -> str:
    return f": {text}" if text else ""


UNVERIFIED = "unverified"
UNVERIFIED_HINT = (
    "mend the check, give the task one of its own with `cub task edit ID --check CMD`, "
    "or set run.accept_unverified"
)


def find_check_obstacle(before: Mapping[str, CheckResult], task_checks: Collection[str]) -> str:
    """Find out why no client should be started, by what the checks say before it; "" for no reason.

    A check of the task's own (`task_checks`) decides in any case: it has to pass, or to fail less.
    """
    checks = [check for check in before.values() if check.command not in task_checks]
    for check in checks:
        if check.exit in NOT_RUN_EXIT_CODES:
            return f"the check `{check.command}` can't be run{_quote_reason(check)}"
    if (
        not before
        or any(command in task_checks for command in before)
        or any(map(_may_decide, checks))
    ):
        return ""
    return "; ".join(_explain(check) + _quote_reason(check) for check in checks)


def describe_undecided_checks(
    before: Mapping[str, CheckResult], task_checks: Collection[str]
) -> Iterator[str]:
    """Tell of each check of the project's that decides nothing as things stand."""
    for check in before.values():
        if check.command not in task_checks and not check.is_passing and not check.items:
            yield _explain(check)


def explain_unverified(checks: Sequence[CheckComparison]) -> str:
    """Find out why checks, none of which stands against an attempt, have not judged it; "" if one
    has, or if there is none.
    """
    if not checks or any(map(_has_judged, checks)):
        return ""
    if not has_run_project_code(checks):
        return f"the checks could not work, before and after: {_name(checks[0].check)}"
    what = "every check fails as it did before, and none shows a test that passes"
    return f"{what}: {_name(checks[0].check)}"


def has_run_project_code(checks: Sequence[CheckComparison]) -> bool:
    """Tell whether a check got as far as to run something of the project's.

    What can't be imported or collected, and where there is no test, nothing has run.
    """
    return any(
        one.check.is_passing or any(item.kind != "error" for item in one.check.items)
        for one in checks
    )


def _may_decide(check: CheckResult) -> bool:
    """Whether its result after an attempt can tell anything: items can go away, tests can come."""
    return check.is_passing or bool(check.items) or check.finds_no_test


def _has_judged(one: CheckComparison) -> bool:
    return one.check.is_passing or bool(one.fixed) or (bool(one.check.items) and one.check.passes)


def _explain(check: CheckResult) -> str:
    if check.cause:
        return f"`{check.command}` does not end: until it does, it decides nothing"
    if check.finds_no_test:
        return f"`{check.command}` finds no test: it can't decide before there is one"
    return f"`{check.command}` fails already, and names no failing item: it can't decide"


def _name(check: CheckResult) -> str:
    for item in check.items:
        return f"`{check.command}`: {item.where}" + (f": {item.message}" if item.message else "")
    return f"`{check.command}`{_quote_reason(check)}"


def _quote_reason(check: CheckResult) -> str:
    """Quote what a check printed of what is wrong, in parentheses."""
    return f" ({check.reason})" if check.reason else ""
