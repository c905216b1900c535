"""Turn what an agent reports of limits, logins and its service into events, and into a refusal.

A harness knows which of an agent's messages are errors of its service. Of all other output, only
lines count that look like the errors that programs print: see `cub.harness.refusals`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from cub.harness.base import EventKind, Transcript
from cub.harness.refusals import Refusal, RefusalKind, find_refusal
from cub.harness.reset_times import find_reset_time

_MAX_TAIL = 8_000  # characters of an agent's output, from the end
_KINDS: dict[EventKind, RefusalKind] = {
    "limit": "rate_limited", "login": "auth", "service": "service_failed",
}  # fmt: skip
_EVENTS: dict[RefusalKind, EventKind] = {kind: event for event, kind in _KINDS.items()}
_LIMIT_STATUSES, _LOGIN_STATUSES = (429, 529), (401, 402, 403)
_LIMIT = re.compile(
    r"rate.?limit|too many requests|usage limit|quota|overloaded|resource.?exhausted"
    r"|\b(?:429|529)\b",
    re.IGNORECASE,
)
_LOGIN = re.compile(
    r"authenticat|unauthori[sz]ed|api[ _]key|credit balance|not logged in|/login|forbidden"
    r"|missing environment variable|\b(?:401|402|403)\b",
    re.IGNORECASE,
)
_SERVICE = re.compile(
    r"\b5\d\d\b|server.?error|bad gateway|unavailable|time.?out|timed out|connect|network|dns"
    r"|econn\w+|enotfound|eai_again|fetch failed|stream (?:disconnected|error)|sending request",
    re.IGNORECASE,
)


def classify_api_error(text: str, status: int | None = None) -> EventKind | None:
    """Return the event for an error of an agent's service: limit, login or service.

    `status` is its HTTP status, if the agent reports it; else the words decide. None if the error
    says nothing of the three, such as a request that is not valid.
    """
    if status is not None and status >= 400:
        if status in _LIMIT_STATUSES:
            return "limit"
        if status in _LOGIN_STATUSES:
            return "login"
        if status >= 500 or status == 408:
            return "service"
    now = datetime.now(UTC)
    if refusal := find_refusal(text, now):
        return _EVENTS[refusal.kind]
    patterns: tuple[tuple[EventKind, re.Pattern[str]], ...] = (
        ("limit", _LIMIT), ("login", _LOGIN), ("service", _SERVICE),
    )  # fmt: skip
    return next((kind for kind, pattern in patterns if pattern.search(text)), None)


def find_reported_refusal(transcript: Transcript, now: datetime) -> Refusal | None:
    """Return what an agent reported and has not got over; the event counts whatever its text is."""
    event = transcript.refusal
    if event is None:
        return None
    message = " ".join(event.text.split())
    if event.kind != "limit":
        return Refusal(_KINDS[event.kind], None, message)
    found = find_refusal(event.text, now)
    reset_time = found.reset_time if found else find_reset_time(event.text, now)
    kind = found.kind if found else "rate_limited"  # a quota may be one that never comes back
    return Refusal(kind, reset_time, found.message if found else message)


def find_refusal_in_output(transcript: Transcript, stderr: str, now: datetime) -> Refusal | None:
    """Return the refusal that an agent reported, or else printed to stderr or said in the end."""
    if reported := find_reported_refusal(transcript, now):
        return reported
    texts = (stderr[-_MAX_TAIL:], transcript.final_message[-_MAX_TAIL:])
    refusals = (find_refusal(text, now) for text in texts if text)
    return next(filter(None, refusals), None)
