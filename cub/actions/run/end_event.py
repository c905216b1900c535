"""Make the events of an attempt's start and end, as the ledger has them."""

from __future__ import annotations

from cub.actions.run import failures
from cub.actions.run.attempt_values import AttemptResult, JudgedAttempt
from cub.actions.run.check_comparison import checks_to_json
from cub.actions.run.retry_policy import get_first_number
from cub.actions.run.run_context import RunContext
from cub.actions.run.verdict import Verdict
from cub.checks.failing_items import fingerprint_items
from cub.checks.failure_reasons import MAX_REASON
from cub.errors import CubError
from cub.harness.final_message import FinalSignals
from cub.place.changes import diff_trees
from cub.store.events import ATTEMPT_END, ATTEMPT_START, Event, tokens_to_json
from cub.text import truncate_text

_AGENT_SAID = "; the agent said: "
_MIN_QUOTE = 40  # characters of what an agent said


def make_start_event(context: RunContext, task: str, number: int, harness: str) -> Event:
    """Return the event of an attempt that starts."""
    log = context.folder.attempt_folder(task, number).name
    facts = {"model": context.settings.model} if context.settings.model else {}
    facts["place"] = context.place.settings.kind.name
    return context.make_event(ATTEMPT_START, task=task, n=number, harness=harness, **facts, log=log)


def make_end_event(context: RunContext, judged: JudgedAttempt) -> Event:
    """Return the event of an attempt that has ended; docs/reference/ledger.md lists its keys."""
    attempt, verdict, spec = judged.attempt, judged.verdict, judged.attempt.spec
    process, transcript, _, cost, _ = attempt.evidence.agent
    signals = attempt.evidence.signals
    event = context.make_event(
        ATTEMPT_END, task=spec.task_id, n=spec.number, harness=spec.harness.name
    )
    if model := transcript.model or context.settings.model:
        event["model"] = model
    if transcript.session:
        event["session"] = transcript.session
    event |= {
        "dur_s": round(process.seconds, 2),
        "exit": process.exit_code,
        "signal": process.signal,
        "ok": verdict.is_ok,
        **_describe_doubts(verdict),
        **_describe_failure(attempt, verdict),
        "tok": tokens_to_json(transcript.tokens),
        "usd": cost.usd,
        "usd_src": cost.source,
        "git": _summarize_change(attempt, judged.head),
        "checks": checks_to_json(attempt.checks),
    }
    has_summary = verdict.is_ok or signals.summary
    optional = {
        "said": "" if has_summary else _summarize_last_words(attempt),
        "obs": list(dict.fromkeys((*spec.notes.review, *spec.notes.notices))),  # it is cut
        "denied": list(transcript.denials),
        "trailer": _trailer_to_json(signals),
        "stuck": signals.stuck or "",
    }
    event |= {name: value for name, value in optional.items() if value}
    return {**event, "log": spec.files.name}


def _describe_doubts(verdict: Verdict) -> Event:
    """Return what a reader has to know of an accepted attempt: what no check has shown."""
    key = "excused" if verdict.excuses else "known_failures"
    doubts = {"unverified": verdict.doubt, key: verdict.known_failures}
    return {name: value for name, value in doubts.items() if value and verdict.is_ok}


def fingerprint_failure(attempt: AttemptResult, verdict: Verdict) -> str:
    """Return what identifies a failure: the items or output of failed checks, or its class."""
    fingerprint = ""
    failed = [comparison.check for comparison in attempt.checks if not comparison.is_ok]
    if verdict.failure == failures.CHECKS_FAILED and failed:
        items = [item for check in failed for item in check.items]
        output = "\n".join(check.tail or check.cause for check in failed)
        fingerprint = fingerprint_items(items, output)
    name = verdict.failure.name if verdict.failure else ""
    return fingerprint or fingerprint_items((), f"{name} {verdict.reason}")


def _describe_failure(attempt: AttemptResult, verdict: Verdict) -> Event:
    if verdict.failure is None:
        return {}
    summary = _summarize_last_words(attempt)
    fingerprint = fingerprint_failure(attempt, verdict)
    same = get_first_number(attempt.spec.history.list_same_failures(fingerprint))
    failure = {
        "class": verdict.failure.name,
        "reason": _explain_failure(verdict, summary),
        "charge": verdict.counts_as_attempt,
        "fp": fingerprint,
        **({"same": same} if same else {}),
    }
    return {"fail": failure}


def _summarize_last_words(attempt: AttemptResult) -> str:
    """Return what the model said in the end; "" for messages of the agent alone."""
    evidence = attempt.evidence
    is_own = attempt.spec.harness.lacks_reply(evidence.agent.transcript)
    return "" if is_own else evidence.summary


def _explain_failure(verdict: Verdict, summary: str) -> str:
    reason = verdict.reason
    if not reason:
        return summary
    space = MAX_REASON - len(reason) - len(_AGENT_SAID)
    is_quoted = summary in reason or reason in summary
    is_own = verdict.failure in (failures.INTERRUPTED, failures.NOT_MERGED)
    if is_own or space < _MIN_QUOTE or is_quoted:
        return reason
    return reason + _AGENT_SAID + truncate_text(summary, space)


def _summarize_change(attempt: AttemptResult, head: str) -> Event:
    """Return `git` of an attempt_end event: the base commit, the files, and lines changed."""
    if not attempt.tree:
        return {}
    summary: Event = {"base": attempt.base.commit}
    try:
        diff = diff_trees(attempt.spec.place.tree, attempt.base.tree, attempt.tree)
        names = [change.path.encode("utf-8", "replace").decode() for change in diff.changes]
        summary |= {"files": names, "ins": diff.added, "del": diff.removed}
    except CubError:  # such as on a full disk
        pass
    if head:
        summary["head"] = head
    if patch := attempt.spec.files.find_patch():
        summary["patch"] = patch
    return summary


def _trailer_to_json(signals: FinalSignals) -> Event:
    fields = {name: getattr(signals, name) for name in ("status", "summary", "tried", "next")}
    fields["tried"] = list(signals.tried)
    return {name: value for name, value in fields.items() if value}
