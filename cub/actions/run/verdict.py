"""Judge an attempt by evidence: the first failure class that applies, or success.

The order is that of the classes in docs/reference/run.md. An agent that says it succeeded decides
nothing; one that says it failed is believed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from cub.actions.run import failures
from cub.actions.run.check_comparison import (
    CheckComparison,
    count_known_failures,
    explain_not_mended,
    format_failure_count,
)
from cub.actions.run.check_runner import NOT_RUN_EXIT_CODES
from cub.actions.run.failures import FailureClass
from cub.checks.failure_reasons import find_first_error, find_last_error
from cub.harness.base import UNKNOWN_COST, AttemptCost, Transcript
from cub.harness.final_message import (
    NO_REASON,
    FinalSignals,
    parse_signals,
    summarize_final_message,
)
from cub.harness.refusals import Refusal
from cub.processes.command import ProcessResult
from cub.store.task_schema import NO_CHANGE, UNDONE_REASONS
from cub.text import find_first_line

_MAX_TAIL = 8_000  # characters of an agent's output, from the end
_PROGRESS = re.compile(r"^\d{4}-\d\d-\d\dT\S+ +(?:INFO|DEBUG|TRACE) .*\n?", re.MULTILINE)


class Verdict(NamedTuple):
    """Hold how an attempt ended: `failure` is its class, None for success.

    `reset_time` is when a limit ends. `is_uncounted`: it does not count as an attempt, whatever its
    class. `doubt` is why no check has judged an attempt that is accepted anyway.
    `repeats_baseline`: a check of the task's own failed as it did before the attempt.
    `known_failures` is how many an accepted attempt has left, and `excuses` says that it need not
    have fixed one.
    """

    failure: FailureClass | None = None
    reason: str = ""
    no_change: bool = False
    reset_time: datetime | None = None
    is_uncounted: bool = False
    doubt: str = ""
    repeats_baseline: bool = False
    known_failures: int = 0
    excuses: bool = False

    @property
    def is_ok(self) -> bool:
        """Return whether the task is done."""
        return self.failure is None

    @property
    def counts_as_attempt(self) -> bool:
        """Return whether it counts as one of the attempts that a task has."""
        return self.failure is not None and self.failure.is_charged and not self.is_uncounted


class AgentResult(NamedTuple):
    """Hold how an agent ended, what it reported, its cost, and the end of its stderr.

    Secrets are masked. `is_over_budget`: it was ended because the budget was used up.
    """

    process: ProcessResult
    transcript: Transcript
    stderr: str
    cost: AttemptCost = UNKNOWN_COST
    is_over_budget: bool = False


@dataclass(frozen=True, slots=True)
class AttemptEvidence:
    """Hold what is known when an agent has ended.

    `is_success` is by the harness's rule; `conflicts` are files of an unfinished merge;
    `hidden_work` is a new file that no commit will have; `request` is what the agent asked for;
    `refusal` is what kept it from working; `lacks_reply`: no model gave a usable reply, as far as
    the agent's output shows.
    """

    agent: AgentResult
    is_success: bool = False
    has_changes: bool = False
    uncommittable: Sequence[str] = ()
    conflicts: Sequence[str] = ()
    oversized_files: Sequence[str] = ()
    hidden_work: str = ""
    request: Mapping[str, Any] = field(default_factory=dict)
    refusal: Refusal | None = None
    lacks_reply: bool = False

    @property
    def signals(self) -> FinalSignals:
        """Return the signals of the final message."""
        return parse_signals(self.agent.transcript.final_message)

    @property
    def summary(self) -> str:
        """Return what the final message says in the end."""
        return summarize_final_message(self.agent.transcript.final_message)

    @property
    def last_error(self) -> str:
        """Return what the agent's stderr says in the end, apart from a log of its progress."""
        return find_last_error(_PROGRESS.sub("", self.agent.stderr)[-_MAX_TAIL:])

    @property
    def first_error(self) -> str:
        """Return the first error that the agent's stderr names."""
        return find_first_error(_PROGRESS.sub("", self.agent.stderr))

    @property
    def claims_no_change(self) -> bool:
        """Return whether the agent says that nothing had to be changed."""
        reasons = (self.request.get("reason"), self.signals.status)
        return not self.has_changes and NO_CHANGE in reasons


def judge_before_checks(evidence: AttemptEvidence) -> Verdict | None:
    """Return the class of an attempt that failed already; None if checks have to decide."""
    process, failed = evidence.agent.process, not evidence.is_success
    idle = not evidence.has_changes and not evidence.request
    if process.cause == "stopped":
        return Verdict(failures.INTERRUPTED, "the run was stopped")
    may_be_refused = (failed or idle) and evidence.signals.stuck is None
    if may_be_refused and (verdict := _judge_refusal(evidence)):
        return verdict
    is_silent = not evidence.agent.transcript.final_message.strip()
    if process.start_error or (failed and process.exit_code in NOT_RUN_EXIT_CODES and is_silent):
        return Verdict(failures.HARNESS_MISSING, process.start_error or evidence.last_error)
    if evidence.agent.is_over_budget:
        return Verdict(failures.BUDGET, "the run's budget was used up in the middle of the attempt")
    if evidence.lacks_reply and not evidence.has_changes:
        return _judge_unanswered(evidence)
    return (
        _judge_limits(evidence)
        or _judge_statements(evidence, failed=failed, idle=idle)
        or judge_files(evidence)
    )


def _judge_refusal(evidence: AttemptEvidence) -> Verdict | None:
    """Return the class of an attempt that was refused; None if the task may be the reason.

    A request that is not valid after a reply is: the conversation has grown too long, for instance.
    """
    refusal, transcript = evidence.refusal, evidence.agent.transcript
    has_reply = not evidence.lacks_reply and (transcript.has_reply or transcript.has_words)
    if refusal is None or (refusal.kind == "setup" and has_reply):
        return None
    reason = refusal.message or evidence.first_error
    return Verdict(failures.REFUSAL_CLASSES[refusal.kind], reason, reset_time=refusal.reset_time)


def _judge_unanswered(evidence: AttemptEvidence) -> Verdict:
    """Return the class of an attempt without a usable reply, which is never the task's fault."""
    process, seconds = evidence.agent.process, f"{evidence.agent.process.seconds:.0f} s"
    if process.cause in ("idle", "wall"):
        return Verdict(failures.SERVICE_FAILED, f"the model sent no reply within {seconds}")
    if evidence.is_success:
        return Verdict(failures.SERVICE_FAILED, "the model's reply was empty")
    if process.signal:
        reason = f"signal {process.signal} before the first reply of the model"
        return Verdict(failures.HARNESS_EXIT, reason, is_uncounted=True)
    if not evidence.agent.transcript.has_started:
        reason = f"exit code {process.exit_code}" + _append(evidence.first_error)
        return Verdict(failures.HARNESS_SETUP, reason)
    return Verdict(failures.SERVICE_FAILED, _describe_exit(evidence))


def judge_by_checks(
    checks: Sequence[CheckComparison], evidence: AttemptEvidence, *, excuses: bool = False
) -> Verdict:
    """Return the verdict after the checks have run; `excuses`: known failures need not be fixed."""
    if any(comparison.check.cause == "stopped" for comparison in checks):
        return Verdict(failures.INTERRUPTED, "the run was stopped")
    if failing := [comparison for comparison in checks if not comparison.is_ok]:
        repeats = failing[0].is_own and failing[0].repeats_baseline
        reason = describe_failed_check(failing[0], repeats=repeats)
        return Verdict(failures.CHECKS_FAILED, reason, repeats_baseline=repeats)
    if not excuses and (reason := explain_not_mended(checks)):
        return Verdict(failures.NOT_MENDED, reason)
    count = count_known_failures(checks)
    return Verdict(
        no_change=evidence.claims_no_change, known_failures=count, excuses=excuses and count > 0
    )


def _judge_limits(evidence: AttemptEvidence) -> Verdict | None:
    seconds = f"{evidence.agent.process.seconds:.0f} s"
    if evidence.agent.process.cause == "idle":
        return Verdict(
            failures.TIMEOUT_IDLE, f"it was silent, and was stopped after {seconds} in all"
        )
    if evidence.agent.process.cause == "wall":
        return Verdict(failures.TIMEOUT_WALL, f"it was stopped after {seconds}")
    return None


def _judge_statements(evidence: AttemptEvidence, *, failed: bool, idle: bool) -> Verdict | None:
    signals, denials = evidence.signals, evidence.agent.transcript.denials
    if denials and (failed or idle):
        return Verdict(failures.PERMISSION_DENIED, denials[0])
    if signals.stuck is not None or signals.status == "stuck":
        return Verdict(failures.STUCK, signals.stuck or evidence.summary or NO_REASON)
    if (reason := evidence.request.get("reason")) in UNDONE_REASONS:
        note = str(evidence.request.get("note") or "")
        return Verdict(
            failures.STUCK, f"the agent asks to close the task as {reason}{_append(note)}"
        )
    if signals.question and idle and signals.status != NO_CHANGE and not failed:
        return Verdict(failures.ASKED_QUESTION, signals.question)
    if failed:
        return Verdict(failures.HARNESS_EXIT, _describe_exit(evidence))
    return None


def judge_files(evidence: AttemptEvidence) -> Verdict | None:
    """Return the class of an attempt whose files can't be committed as they are; None if they can.

    Checks may have changed them since.
    """
    if evidence.conflicts:
        return Verdict(
            failures.MERGE_CONFLICT, f"the agent left a conflict in {evidence.conflicts[0]}"
        )
    if evidence.oversized_files:
        what = "is larger than run.max_file_size, and git does not ignore it"
        return Verdict(failures.TOO_LARGE, f"{evidence.oversized_files[0]} {what}")
    if obstacle := _find_commit_obstacle(evidence):
        return Verdict(failures.COMMIT_FAILED, obstacle)
    if not evidence.has_changes and not evidence.claims_no_change:
        return Verdict(failures.NO_CHANGES)
    return None


def _find_commit_obstacle(evidence: AttemptEvidence) -> str:
    """Return why no commit can hold the work; "" if one can."""
    if evidence.uncommittable:
        names = ", ".join(evidence.uncommittable[:3])
        return f"changes inside of the submodule {names} can't be kept"
    if evidence.hidden_work:
        return f"no commit would have {evidence.hidden_work}: the attempt made git pass over it"
    return ""


def _describe_exit(evidence: AttemptEvidence) -> str:
    process = evidence.agent.process
    how = f"signal {process.signal}" if process.signal else f"exit code {process.exit_code}"
    if process.exit_code == 0:
        has_failed = evidence.agent.transcript.has_failed
        how = "reported a failure" if has_failed else "ended without reporting success"
        how = f"the agent {how}"
    transcript = evidence.agent.transcript
    error = find_first_line(transcript.error) or (evidence.summary if transcript.has_failed else "")
    return how + _append(error or evidence.last_error or evidence.summary)


def describe_failed_check(comparison: CheckComparison, *, repeats: bool) -> str:
    """Return what is wrong by a check, in one line; `repeats`: as it was before the attempt."""
    check = comparison.check
    if repeats:
        how = f"exit code {check.exit}" if check.exit is not None else "it does not end"
        last = find_last_error(check.tail)
        where = f"`{check.command}` failed in the same way before the attempt"
        return f"{where}, so the check itself may be at fault ({how}{_append(last)})"
    if check.cause:
        return f"{check.command}: still running after {check.seconds:.0f} s"
    news = _describe_news(comparison)
    for item in (*comparison.new, *check.items):
        return item.where + _append(item.message) + news
    return f"{check.command}: exit code {check.exit}" + _append(check.reason) + news


def _describe_news(comparison: CheckComparison) -> str:
    """Say that a failure is new where others were known; one that these had hidden is new, too."""
    if comparison.is_own or comparison.before is None or not comparison.before.is_red:
        return ""
    if comparison.before.cause:
        return "; whether it failed before is not known, as it did not end in time then"
    count = len(comparison.fixed)
    return f" (new; {format_failure_count(count)} fixed)" if count else " (new)"


def _append(text: str) -> str:
    return f": {text}" if text else ""


NO_CHECK = "no check decides whether it is done"
WITHOUT_CHECKS = "the run was started with --no-checks"
