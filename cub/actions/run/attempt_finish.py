"""Finish an attempt: accept its commit or keep a patch, update the task, and write to the ledger.

Every step is written down before it is done, and can be repeated: run_recovery finishes what a
killed run began.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass

from cub.actions.run import failures, run_folders
from cub.actions.run.acceptance import accept_attempt
from cub.actions.run.attempt_values import AttemptResult, JudgedAttempt
from cub.actions.run.end_event import fingerprint_failure, make_end_event
from cub.actions.run.retry_policy import Disposition, decide_disposition
from cub.actions.run.run_context import RunContext
from cub.actions.run.run_folders import AttemptFolder
from cub.actions.run.task_queue import record_outcome, withdraw_outcome
from cub.actions.run.verdict import Verdict
from cub.errors import CubError
from cub.files.read_files import make_os_error
from cub.place.changes import write_patch
from cub.place.folder import empty_folder
from cub.store.events import Event
from cub.store.task_schema import CLOSED, PARKED

_MACHINE_ERRORS = (
    errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENOMEM, errno.EIO,
    errno.EROFS, errno.EAGAIN,
)  # fmt: skip
# As git says it.
_FULL = re.compile(r"no space left|out of disk ?space|quota exceeded|file too large", re.IGNORECASE)


@dataclass(slots=True)
class AttemptOutcome:
    """Hold what happened to an attempt; `messages` is for a person.

    `is_broken`: what was accepted could not be brought into the checkout, so the run ends.
    """

    verdict: Verdict
    disposition: Disposition
    event: Event
    messages: list[str]
    is_broken: bool = False


def finish_attempt(
    context: RunContext, judged: JudgedAttempt
) -> Generator[Event, None, AttemptOutcome]:
    """Accept the attempt or keep its changes as a patch, then record the outcome in the stores."""
    spec, is_broken = judged.attempt.spec, False
    try:
        if judged.verdict.is_ok:
            judged = yield from accept_attempt(context, judged)
        if not judged.verdict.is_ok:
            _keep_patch(judged.attempt)
    except (CubError, OSError) as error:
        is_broken = judged.verdict.is_ok and _is_accepted(context, spec.files)
        judged = _judge_unfinished(judged, error, is_broken=is_broken)
    attempt, verdict, _, update = judged
    event, ended = make_end_event(context, judged), _decide(context, judged)
    with context.lock:
        if update is None:
            stores, edits = context.current_stores, attempt.edits
            withdraw_outcome(stores, spec.files)
            update = record_outcome(stores, event, ended, edits, no_change=verdict.no_change)
    if not is_broken:  # else the next run tries again to finish it
        spec.files.write_result(event, ended.status, ended.reason)
    return AttemptOutcome(verdict, update.disposition, event, update.messages, is_broken)


def _is_accepted(context: RunContext, files: AttemptFolder) -> bool:
    """Return whether only the way into the checkout is left, which the next run can go."""
    last = run_folders.COMMIT_FILE if context.settings.commits else run_folders.DECISION_FILE
    return bool(files.read_state(last))


def _judge_unfinished(
    judged: JudgedAttempt, error: CubError | OSError, *, is_broken: bool
) -> JudgedAttempt:
    """Judge an attempt that could not be finished; keep its changes as a patch."""
    attempt, verdict = judged.attempt, judge_error(error)
    if verdict.is_uncounted and not is_broken:  # what the agent left may have filled the disk
        with suppress(OSError):
            empty_folder(attempt.spec.place.folder.tree)
    if judged.verdict.is_ok and not is_broken:
        with suppress(CubError, OSError):
            _keep_patch(attempt)
        if not verdict.is_uncounted:
            verdict = verdict._replace(failure=failures.COMMIT_FAILED)
    return JudgedAttempt(attempt, verdict)


def _keep_patch(attempt: AttemptResult) -> None:
    """Keep the changes of a failed attempt as a patch; the place begins anew."""
    place = attempt.spec.place
    tree = attempt.tree or (place.read_state().tree if attempt.is_begun else "")
    if tree:
        path = attempt.spec.files.prepare_path(run_folders.PATCH_FILE)
        write_patch(place.tree, attempt.base.tree, tree, path)


def _decide(context: RunContext, judged: JudgedAttempt) -> Disposition:
    attempt, verdict = judged.attempt, judged.verdict
    if verdict.is_ok:
        return Disposition(CLOSED)
    if verdict.failure == failures.NOT_MERGED:
        return Disposition(PARKED, verdict.reason)
    fingerprint, history = fingerprint_failure(attempt, verdict), attempt.spec.history
    return decide_disposition(verdict, fingerprint, history, context.settings.max_attempts)


def judge_error(error: CubError | OSError) -> Verdict:
    """Return the verdict on an attempt that an error has ended."""
    reason = describe_error(error)
    return Verdict(failures.UNKNOWN, reason, is_uncounted=is_machine_error(error))


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
    return "; ".join([str(error), *error.details])
