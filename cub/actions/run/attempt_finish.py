"""The end of an attempt: its files are committed or put back, the task and the ledger are told.

Every step is written down before it is done, and can be done again: a run that is killed in the
middle is concluded by the next one (cub.actions.run.run_recovery).

What the ledger is told of an attempt that has ended.
"""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass
from functools import partial

from cub.actions.run.attempt import Attempt, restore_surroundings
from cub.actions.run.check_runner import checks_to_json
from cub.actions.run.cub_folder_backup import CubFolderBackup
from cub.actions.run.retry_policy import Disposition, decide_disposition
from cub.actions.run.run_context import RunContext, tokens_to_json
from cub.actions.run.run_folders import (
    COMMIT_FILE,
    DECISION_FILE,
    PATCH_FILE,
    RESTORE_FILE,
    RESULT_FILE,
)
from cub.actions.run.task_queue import record_outcome
from cub.actions.run.verdict import Verdict
from cub.checks.failing_items import fingerprint_items
from cub.checks.failure_reasons import MAX_REASON
from cub.errors import CubError
from cub.files.read_files import make_os_error
from cub.harness.final_message import FinalSignals, parse_signals, summarize_final_message
from cub.processes.command import TimeLimits
from cub.prompt.templates import render_commit_message
from cub.store.events import ATTEMPT_END, ATTEMPT_START, Event, truncate_text
from cub.store.task_schema import CLOSED

_OF_THE_MACHINE = (
    errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENOMEM, errno.EIO,
    errno.EROFS, errno.EAGAIN,
)  # fmt: skip

# As git says it.
_FULL = re.compile(r"no space left|out of disk ?space|quota exceeded|file too large", re.IGNORECASE)


@dataclass(slots=True)
class AttemptOutcome:
    """What became of an attempt; `messages` is for a person. `is_broken`: the files could not be
    put back or committed, and no other attempt may begin on them. `has_replacements`: the attempt
    put something else in the place of `.cub` or of git's folder, which is back.
    """

    verdict: Verdict
    disposition: Disposition
    event: Event
    messages: list[str]
    is_broken: bool = False
    has_replacements: bool = False


def finish_attempt(
    context: RunContext, attempt: Attempt, verdict: Verdict, backup: CubFolderBackup
) -> AttemptOutcome:
    """Commit or put back, then tell the task and the ledger."""
    head, broken = "", False
    try:
        try:
            head, verdict = _commit_or_restore(context, attempt, verdict, backup)
        except (CubError, OSError) as error:
            if not is_machine_error(error):
                raise
            # Perhaps the attempt filled the disk. What it made has to go in any case.
            if attempt.before is not None:
                attempt.observed += context.workspace.delete_new_files(attempt.before)
            verdict = Verdict("unknown", describe_error(error), is_uncounted=True)
            _commit_or_restore(context, attempt, verdict, backup)
    except (CubError, OSError) as error:
        verdict = Verdict("unknown", describe_error(error), is_uncounted=is_machine_error(error))
        broken = True
        _save_failure(context, attempt, verdict)
    ended = Disposition(CLOSED) if verdict.is_ok else _decide_disposition(context, attempt, verdict)
    event = make_end_event(context, attempt, verdict, head)
    told = record_outcome(context, attempt.key, ended, event, backup, no_change=verdict.no_change)
    if not broken:  # else the next run tries again to put it back
        result = {"event": event, "status": ended.status, "why": ended.reason}
        attempt.files.write_state(RESULT_FILE, result)
        attempt.files.write_public_json(RESULT_FILE, result)
    return AttemptOutcome(
        verdict, told.disposition, event, told.messages, broken, bool(attempt.replaced)
    )


def _commit_or_restore(
    context: RunContext, attempt: Attempt, verdict: Verdict, backup: CubFolderBackup
) -> tuple[str, Verdict]:
    """Put back what is around the files, then commit them or put them back, too."""
    head = ""
    restore_surroundings(context, attempt, backup)  # checks may have done some damage, too
    if attempt.replaced and verdict.is_ok:
        verdict = Verdict("unknown", "; ".join(attempt.replaced))
    if verdict.is_ok:
        head, verdict = _commit(context, attempt, verdict)
    if not verdict.is_ok:
        _roll_back(context, attempt, verdict)
    return head, verdict


def is_machine_error(error: BaseException) -> bool:
    """Whether an error is one of the machine's, such as a full disk: no task can help it."""
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError) and cause.errno in _OF_THE_MACHINE:
        return True
    return isinstance(error, CubError) and bool(_FULL.search(describe_error(error)))


def describe_error(error: CubError | OSError) -> str:
    """An error as a reason."""
    if isinstance(error, OSError):
        error = make_os_error(error, str(error.filename or ""), "cannot be used")
    return " ".join([str(error), *error.details])


def _decide_disposition(context: RunContext, attempt: Attempt, verdict: Verdict) -> Disposition:
    return decide_disposition(
        verdict,
        fingerprint_failure(attempt, verdict),
        attempt.history,
        context.settings.max_attempts,
    )


def build_commit_message(context: RunContext, attempt: Attempt) -> str:
    """The message of the attempt's commit, with what a reviewer has to know of its checks."""
    text = render_commit_message(context.settings.message_template, attempt.task)
    doubts = "\n".join(f"- {doubt}" for doubt in attempt.doubts)
    return (
        f"{text}\n\nWhat decided whether it is done was changed, too:\n\n{doubts}"
        if doubts
        else text
    )


def _commit(context: RunContext, attempt: Attempt, verdict: Verdict) -> tuple[str, Verdict]:
    """The commit that holds the attempt, "" for none; a verdict of its own if there is none."""
    commits = context.settings.commits
    if commits and attempt.moved:
        attempt.observed += context.workspace.adopt_commits(attempt.before)
    decision = {
        "ok": True,
        "no_change": verdict.no_change,
        "after": attempt.after.to_json(),
        "head": context.workspace.find_head(attempt.before, attempt.after),
        "message": build_commit_message(context, attempt) if commits else "",
        "event": make_end_event(context, attempt, verdict, ""),
    }
    attempt.files.write_state(DECISION_FILE, decision)
    head = ""
    if commits and (attempt.changed or attempt.moved):
        limits = TimeLimits(context.settings.timeout, None)
        text = str(decision["message"])
        saved = context.workspace.commit(
            attempt.before, attempt.after, text, limits, partial(_save_commit, attempt)
        )
        if saved.failure:
            return "", Verdict("commit_failed", saved.failure)
        head = saved.head
    elif not commits:
        context.uncommitted_files |= {one.path for one in attempt.changed if one.kind == "A"}
        context.workspace.reset_index()
    # Checks and hooks may have changed them since.
    aside = attempt.files.remove_links()
    attempt.observed += context.workspace.restore_private_files(
        attempt.before, aside, context.uncommitted_files
    ).messages
    for one in attempt.checks:  # what they said holds for the next attempt, too
        context.check_runner.store_result(attempt.after.tree, one.check)
    return head, verdict


def _save_failure(context: RunContext, attempt: Attempt, verdict: Verdict) -> None:
    """Note that the attempt failed, before its files are put back, whatever was decided before."""
    ended, draft = (
        _decide_disposition(context, attempt, verdict),
        make_end_event(context, attempt, verdict, ""),
    )
    decision = {"ok": False, "event": draft, "status": ended.status, "why": ended.reason}
    attempt.files.write_state(DECISION_FILE, decision)


def _save_commit(attempt: Attempt, parent: str, tree: str) -> None:
    """Note the commit that is about to be made: after a kill it is known by that."""
    attempt.files.write_state(COMMIT_FILE, {"parent": parent, "tree": tree})


def _roll_back(context: RunContext, attempt: Attempt, verdict: Verdict) -> None:
    """Keep the changes as a patch, and make the files what they were."""
    if attempt.before is None:
        return
    aside = attempt.files.remove_links()
    attempt.observed += context.workspace.restore_private_files(
        attempt.before, aside, context.uncommitted_files
    ).messages
    now = context.workspace.take_snapshot(attempt.before)
    context.workspace.write_patch(attempt.before, now, attempt.files.prepare_path(PATCH_FILE))
    _save_failure(context, attempt, verdict)
    attempt.files.write_state(RESTORE_FILE, {"at": context.timestamp})
    attempt.observed += context.workspace.restore_files(attempt.before, now)


_AGENT_SAID = "; the agent said: "
_SHORTEST = 40  # characters of what an agent said


def make_start_event(context: RunContext, task: str, number: int, harness: str) -> Event:
    """An attempt that begins."""
    files = context.folder.attempt_folder(task, number).name
    model = {"model": context.settings.model} if context.settings.model else {}
    return context.make_event(
        ATTEMPT_START, task=task, n=number, harness=harness, **model, log=files
    )


def make_end_event(context: RunContext, attempt: Attempt, verdict: Verdict, head: str) -> Event:
    """An attempt that has ended; see docs/reference/ledger.md."""
    worked = attempt.worked
    said = parse_signals(worked.transcript.final_message)
    event = context.make_event(
        ATTEMPT_END, task=attempt.key, n=attempt.number, harness=attempt.harness.name
    )
    if context.settings.model:
        event["model"] = context.settings.model
    if worked.transcript.session:
        event["session"] = worked.transcript.session
    event |= {
        "dur_s": round(worked.process.seconds, 2),
        "exit": worked.process.exit_code,
        "signal": worked.process.signal,
        "ok": verdict.is_ok,
        **({"unverified": verdict.doubt} if verdict.doubt else {}),
        **_failure(attempt, verdict),
        "tok": tokens_to_json(worked.transcript.tokens),
        "usd": worked.transcript.usd,
        "usd_src": "reported" if worked.transcript.has_cost else "none",
        "git": _summarize_change(context, attempt, head),
        "checks": checks_to_json(attempt.checks),
    }
    summed_up = verdict.is_ok or said.summary
    extra = {
        "said": "" if summed_up else summarize_final_message(worked.transcript.final_message),
        "obs": attempt.observed,
        "denied": list(worked.transcript.denials),
        "trailer": _trailer(said),
        "stuck": said.stuck or "",
    }
    event |= {name: value for name, value in extra.items() if value}
    return {**event, "log": attempt.files.name}


def fingerprint_failure(attempt: Attempt, verdict: Verdict) -> str:
    """What tells this failure from another one: what the failed checks found or printed, or the
    class and its reason where they said nothing.
    """
    found = ""
    failed = [one.check for one in attempt.checks if not one.is_ok]
    if verdict.failure == "checks_failed" and failed:
        items = [item for check in failed for item in check.items]
        found = fingerprint_items(items, "\n".join(check.tail or check.cause for check in failed))
    return found or fingerprint_items((), f"{verdict.failure} {verdict.reason}")


def _failure(attempt: Attempt, verdict: Verdict) -> Event:
    if verdict.is_ok:
        return {}
    told_failure = {
        "class": verdict.failure,
        "reason": _explain_failure(
            verdict, summarize_final_message(attempt.worked.transcript.final_message)
        ),
        "charge": verdict.counts_as_attempt,
        "fp": fingerprint_failure(attempt, verdict),
    }
    return {"fail": told_failure}


def _explain_failure(verdict: Verdict, words: str) -> str:
    """Why an attempt failed, and what the agent said in the end, as far as there is room."""
    reason = verdict.reason
    if not reason:
        return words
    room = MAX_REASON - len(reason) - len(_AGENT_SAID)
    if verdict.failure == "interrupted" or room < _SHORTEST or words in reason or reason in words:
        return reason
    return reason + _AGENT_SAID + truncate_text(words, room)


def _summarize_change(context: RunContext, attempt: Attempt, head: str) -> Event:
    if attempt.before is None or attempt.after is None:
        return {}
    try:
        told_change = context.workspace.summarize_change(attempt.before, attempt.after)
    except CubError:  # nothing can be asked where an attempt broke the repository itself
        told_change = {}
    patch = (
        {"patch": f"{attempt.files.name}/{PATCH_FILE}"}
        if attempt.files.has_file(PATCH_FILE)
        else {}
    )
    return {**told_change, **({"head": head} if head else {}), **patch}


def _trailer(said: FinalSignals) -> Event:
    known = {
        "status": said.status,
        "summary": said.summary,
        "tried": list(said.tried),
        "next": said.next,
    }
    return {name: value for name, value in known.items() if value}
