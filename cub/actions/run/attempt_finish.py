"""Finish an attempt: commit or restore its files, update the task, and write to the ledger.

Every step is written down before it is done, and can be repeated: run_recovery finishes what a
killed run began.
"""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from cub.actions.run import failures, run_folders
from cub.actions.run.attempt import restore_surroundings
from cub.actions.run.attempt_state import Attempt, save_commit, save_records
from cub.actions.run.check_comparison import checks_to_json, format_failure_count
from cub.actions.run.new_files import (
    describe_left_out_files,
    list_committed_secrets,
    return_left_out_files,
)
from cub.actions.run.retry_policy import Disposition, decide_disposition, get_first_number
from cub.actions.run.run_context import RunContext
from cub.actions.run.task_queue import RecordedOutcome, record_outcome, withdraw_outcome
from cub.actions.run.verdict import Verdict
from cub.checks.failing_items import fingerprint_items
from cub.checks.failure_reasons import MAX_REASON
from cub.errors import CubError
from cub.files.read_files import make_os_error
from cub.git.branches import read_head_commit
from cub.git.private_index import reset_user_index
from cub.git.restore_snapshot import delete_new_files
from cub.git.snapshot import Snapshot, write_patch
from cub.git.take_snapshot import take_snapshot
from cub.harness.final_message import FinalSignals, parse_signals, summarize_final_message
from cub.processes.command import TimeLimits
from cub.prompt.templates import render_commit_message
from cub.store.events import ATTEMPT_END, ATTEMPT_START, Event, tokens_to_json, truncate_text
from cub.store.task_schema import CLOSED

_MACHINE_ERRORS = (
    errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENOMEM, errno.EIO,
    errno.EROFS, errno.EAGAIN,
)  # fmt: skip
# As git says it.
_FULL = re.compile(r"no space left|out of disk ?space|quota exceeded|file too large", re.IGNORECASE)
_MAX_NAMED = 5  # removed files
_AGENT_SAID = "; the agent said: "
_MIN_QUOTE = 40  # characters of what an agent said


@dataclass(slots=True)
class AttemptOutcome:
    """Hold what happened to an attempt; `messages` is for a person.

    `is_broken`: the files could neither be committed nor restored, so no other attempt may start
    on them. `has_replacements`: the attempt put something else in the place of `.cub` or of git's
    folder, which is restored.
    """

    verdict: Verdict
    disposition: Disposition
    event: Event
    messages: list[str]
    is_broken: bool = False
    has_replacements: bool = False


def finish_attempt(context: RunContext, attempt: Attempt, verdict: Verdict) -> AttemptOutcome:
    """Commit or restore the files, then record the outcome in the stores."""
    head, is_broken = "", False
    try:
        try:
            head, verdict = _commit_or_restore(context, attempt, verdict)
        except (CubError, OSError) as error:
            if not is_machine_error(error):
                raise
            # Perhaps the attempt filled the disk, so what it made has to go in any case.
            if attempt.before is not None:
                paths = delete_new_files(context.workspace.worktree, attempt.before)
                removed = [f"{path} was removed: the disk was full" for path in paths]
                attempt.notices += removed[:_MAX_NAMED]
            verdict = Verdict(failures.UNKNOWN, describe_error(error), is_uncounted=True)
            _commit_or_restore(context, attempt, verdict)
    except (CubError, OSError) as error:
        verdict = Verdict(
            failures.UNKNOWN, describe_error(error), is_uncounted=is_machine_error(error)
        )
        is_broken = True
        _save_failure(context, attempt, verdict)
    ended = Disposition(CLOSED) if verdict.is_ok else _decide_disposition(context, attempt, verdict)
    event = make_end_event(context, attempt, verdict, head)
    if attempt.recorded and not verdict.is_ok:
        withdraw_outcome(context.current_stores, attempt.recorded._asdict())
        attempt.recorded = None
    update = attempt.recorded or record_outcome(
        context, attempt.task_id, ended, event, no_change=verdict.no_change
    )
    if not is_broken:  # else the next run tries again to restore the files
        result = {"event": event, "status": ended.status, "why": ended.reason}
        attempt.files.write_state(run_folders.RESULT_FILE, result)
        attempt.files.write_public_json(run_folders.RESULT_FILE, result)
    return AttemptOutcome(
        verdict, update.disposition, event, update.messages, is_broken, bool(attempt.replacements)
    )


def _commit_or_restore(
    context: RunContext, attempt: Attempt, verdict: Verdict
) -> tuple[str, Verdict]:
    """Return the commit, "" for none, and the verdict, which a failed commit changes."""
    head = ""
    restore_surroundings(context, attempt)  # checks may have changed something, too
    if attempt.replacements and verdict.is_ok:
        verdict = Verdict(failures.UNKNOWN, "; ".join(attempt.replacements))
    if verdict.is_ok:
        head, verdict = _commit(context, attempt, verdict)
    if not verdict.is_ok and attempt.before:
        _roll_back(context, attempt, attempt.before, verdict)
    return head, verdict


def _commit(context: RunContext, attempt: Attempt, verdict: Verdict) -> tuple[str, Verdict]:
    """Return the attempt's commit, "" for none, and the verdict, which a failed commit changes."""
    before, after = attempt.before, attempt.after
    if before is None or after is None:
        return "", verdict
    commits, workspace, head = context.settings.commits, context.workspace, ""
    if commits and attempt.head_move:
        secrets = list_committed_secrets(workspace, before)
        attempt.notices += workspace.adopt_commits(before, secrets)
    parent = before.head
    if before.head != after.head:
        parent = read_head_commit(workspace.toplevel)
    message = _build_commit_message(context, attempt, verdict) if commits else ""
    decision = {
        "ok": True,
        "no_change": verdict.no_change,
        "after": after.to_json(),
        "head": parent,
        "message": message,
        "left_out": attempt.left_out_paths,
        "event": make_end_event(context, attempt, verdict, ""),
    }
    attempt.files.write_state(run_folders.DECISION_FILE, decision)
    if commits and (attempt.changes or attempt.head_move):
        if workspace.store_paths:  # the commit contains them
            attempt.recorded = _record_before_commit(context, attempt, decision)
        limits = TimeLimits(context.settings.timeout, None)
        before_commit = partial(save_commit, attempt.files)
        result = workspace.commit(before, after, message, limits, before_commit)
        if result.failure:
            return "", Verdict(failures.COMMIT_FAILED, result.failure)
        head = result.head
    elif not commits:
        new_files = {change.path for change in attempt.changes if change.kind == "A"}
        context.uncommitted_files |= new_files
        reset_user_index(workspace.worktree)
    _restore_private_files(context, attempt, before)
    attempt.notices += return_left_out_files(
        workspace.toplevel, attempt.files, attempt.left_out_paths
    )
    for comparison in attempt.checks:  # the results hold for the next attempt, too
        context.check_runner.store_result(after.tree, comparison.check)
    return head, verdict


def _record_before_commit(
    context: RunContext, attempt: Attempt, decision: dict[str, Any]
) -> RecordedOutcome:
    """Record the outcome for the commit to contain, and write down how to withdraw it."""
    event, parent, ended = decision["event"], decision["head"], Disposition(CLOSED)
    if parent != event["git"].get("base"):  # the agent has committed, too
        event["git"]["parent"] = parent
    no_change, save = decision["no_change"], partial(save_records, attempt.files)
    return record_outcome(context, attempt.task_id, ended, event, no_change=no_change, save=save)


def _build_commit_message(context: RunContext, attempt: Attempt, verdict: Verdict) -> str:
    """Return the commit's message, with what a reviewer has to know."""
    text = render_commit_message(context.settings.message_template, attempt.task)
    if verdict.doubt:
        text += f"\n\nNo check has decided whether it is done: {verdict.doubt}."
    if count := verdict.known_failures:
        end = "excused" if verdict.excuses else "left as before"
        text += f"\n\n{format_failure_count(count)} {end}."
    if not attempt.review_notes:
        return text
    lines = "\n".join(f"- {note}" for note in attempt.review_notes)
    return f"{text}\n\nReview these changes:\n\n{lines}"


def _restore_private_files(context: RunContext, attempt: Attempt, before: Snapshot) -> None:
    """Restore private files once more: checks and hooks may have changed them."""
    attempt.notices += context.workspace.restore_private_files(
        before, attempt.files.remove_links(), context.uncommitted_files
    ).messages


def _roll_back(context: RunContext, attempt: Attempt, before: Snapshot, verdict: Verdict) -> None:
    """Keep the changes as a patch, and make the files what they were."""
    _restore_private_files(context, attempt, before)
    worktree = context.workspace.worktree
    current = take_snapshot(worktree, before)
    write_patch(worktree, before, current, attempt.files.prepare_path(run_folders.PATCH_FILE))
    if attempt.left_out_paths:
        attempt.notices += describe_left_out_files(attempt.files)
    _save_failure(context, attempt, verdict)
    attempt.files.write_state(run_folders.RESTORE_FILE, {"at": context.timestamp})
    attempt.notices += context.workspace.restore_files(before, current)


def _save_failure(context: RunContext, attempt: Attempt, verdict: Verdict) -> None:
    ended = _decide_disposition(context, attempt, verdict)
    event = make_end_event(context, attempt, verdict, "")
    decision = {"ok": False, "event": event, "status": ended.status, "why": ended.reason}
    attempt.files.write_state(run_folders.DECISION_FILE, decision)


def _decide_disposition(context: RunContext, attempt: Attempt, verdict: Verdict) -> Disposition:
    fingerprint = _fingerprint_failure(attempt, verdict)
    return decide_disposition(verdict, fingerprint, attempt.history, context.settings.max_attempts)


def is_machine_error(error: BaseException) -> bool:
    """Return whether an error is one of the machine, such as a full disk, and not of the task."""
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError) and cause.errno in _MACHINE_ERRORS:
        return True
    return isinstance(error, CubError) and bool(_FULL.search(describe_error(error)))


def describe_error(error: CubError | OSError) -> str:
    """Return an error in one line, as the reason of a failure."""
    if isinstance(error, OSError):
        error = make_os_error(error, str(error.filename or ""), "cannot be used")
    return " ".join([str(error), *error.details])


def make_start_event(context: RunContext, task: str, number: int, harness: str) -> Event:
    """Return the event of an attempt that starts."""
    log = context.folder.attempt_folder(task, number).name
    model = {"model": context.settings.model} if context.settings.model else {}
    return context.make_event(ATTEMPT_START, task=task, n=number, harness=harness, **model, log=log)


def make_end_event(context: RunContext, attempt: Attempt, verdict: Verdict, head: str) -> Event:
    """Return the event of an attempt that has ended; docs/reference/ledger.md lists its keys."""
    process, transcript, cost = (
        attempt.agent_result.process, attempt.agent_result.transcript, attempt.agent_result.cost
    )  # fmt: skip
    signals = parse_signals(transcript.final_message)
    event = context.make_event(
        ATTEMPT_END, task=attempt.task_id, n=attempt.number, harness=attempt.harness.name
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
        "git": _summarize_change(context, attempt, head),
        "checks": checks_to_json(attempt.checks),
    }
    has_summary = verdict.is_ok or signals.summary
    optional = {
        "said": "" if has_summary else _summarize_last_words(attempt),
        "obs": list(dict.fromkeys((*attempt.review_notes, *attempt.notices))),  # it is cut
        "denied": list(transcript.denials),
        "trailer": _trailer_to_json(signals),
        "stuck": signals.stuck or "",
    }
    event |= {name: value for name, value in optional.items() if value}
    return {**event, "log": attempt.files.name}


def _describe_doubts(verdict: Verdict) -> Event:
    """Return what a reader has to know of an accepted attempt: what no check has shown."""
    key = "excused" if verdict.excuses else "known_failures"
    doubts = {"unverified": verdict.doubt, key: verdict.known_failures}
    return {name: value for name, value in doubts.items() if value and verdict.is_ok}


def _fingerprint_failure(attempt: Attempt, verdict: Verdict) -> str:
    """Return what identifies a failure: the items or output of failed checks, or its class."""
    fingerprint = ""
    failed = [comparison.check for comparison in attempt.checks if not comparison.is_ok]
    if verdict.failure == failures.CHECKS_FAILED and failed:
        items = [item for check in failed for item in check.items]
        output = "\n".join(check.tail or check.cause for check in failed)
        fingerprint = fingerprint_items(items, output)
    name = verdict.failure.name if verdict.failure else ""
    return fingerprint or fingerprint_items((), f"{name} {verdict.reason}")


def _describe_failure(attempt: Attempt, verdict: Verdict) -> Event:
    if verdict.failure is None:
        return {}
    summary = _summarize_last_words(attempt)
    fingerprint = _fingerprint_failure(attempt, verdict)
    same = get_first_number(attempt.history.list_same_failures(fingerprint))
    failure = {
        "class": verdict.failure.name,
        "reason": _explain_failure(verdict, summary),
        "charge": verdict.counts_as_attempt,
        "fp": fingerprint,
        **({"same": same} if same else {}),
    }
    return {"fail": failure}


def _summarize_last_words(attempt: Attempt) -> str:
    """Return what the model said in the end; "" for messages of the agent alone."""
    transcript = attempt.agent_result.transcript
    if attempt.harness.lacks_reply(transcript):
        return ""
    return summarize_final_message(transcript.final_message)


def _explain_failure(verdict: Verdict, summary: str) -> str:
    reason = verdict.reason
    if not reason:
        return summary
    space = MAX_REASON - len(reason) - len(_AGENT_SAID)
    is_quoted = summary in reason or reason in summary
    if verdict.failure == failures.INTERRUPTED or space < _MIN_QUOTE or is_quoted:
        return reason
    return reason + _AGENT_SAID + truncate_text(summary, space)


def _summarize_change(context: RunContext, attempt: Attempt, head: str) -> Event:
    if attempt.before is None or attempt.after is None:
        return {}
    try:
        summary = context.workspace.summarize_change(attempt.before, attempt.after)
    except CubError:  # git answers nothing if the attempt broke the repository
        summary = {}
    if head:
        summary["head"] = head
    if patch := attempt.files.find_patch():
        summary["patch"] = patch
    return summary


def _trailer_to_json(signals: FinalSignals) -> Event:
    fields = {name: getattr(signals, name) for name in ("status", "summary", "tried", "next")}
    fields["tried"] = list(signals.tried)
    return {name: value for name, value in fields.items() if value}
