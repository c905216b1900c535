"""Classify the errors that an agent reports, and find the one that kept it from working.

A harness knows which of an agent's messages are errors of its service. Of all other output, only
lines count that look like the errors that programs print: see `cub.harness.refusals`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import cast

from cub.harness.base import Transcript
from cub.harness.refusals import Refusal, RefusalKind, find_refusal
from cub.harness.reset_times import find_reset_time
from cub.json_values import get_text, parse_object

_MAX_TAIL = 8_000  # characters of an agent's output, from the end
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
# A page of a network that wants a login, or of a proxy, in the place of a reply.
_WEB_PAGE = re.compile(r"<!doctype html|<html\b|\bhtml page\b|malformed response", re.IGNORECASE)
_MODEL = re.compile(
    r"\bmodel\b.{0,120}\b(?:does not exist|not found|not supported|not available|is not valid)"
    r"|\bmodel_not_found\b|issue with the selected model|unknown model|model: \S+$|no such model"
    r"|models/\S+ is not found|\bhas no model\b|ModelNotFound",
    re.IGNORECASE,
)
_LENGTH = re.compile(
    r"(?:prompt|input|request|context)\b.{0,40}\b(?:too (?:long|large)|exceed)"
    r"|context[ _](?:window|length)|token count .{0,40}exceeds|hit a token limit",
    re.IGNORECASE,
)
_ARGUMENTS = re.compile(
    r"(?:unknown|unexpected|unrecogni[sz]ed|invalid|no such) (?:option|argument|flag)",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"(?:status:? (?:code )?|error:? |http |\"code\": ?)\(?4(?!08|29)\d\d\b|invalid[_ ]request"
    r"|bad ?request|notfounderror|unprocessable|unsupported (?:value|parameter)",
    re.IGNORECASE,
)
_ROOT = re.compile(r"with root/sudo privileges")  # Claude Code's words
_SETUP = (_MODEL, _LENGTH, _ARGUMENTS, _ROOT, _REQUEST)
_SETUP_HINTS = (
    (_MODEL, "name a model that the agent has, with --model, run.model or harnesses.{name}.model"),
    (_LENGTH, "shorten the instruction files and the task, or use a model that takes more"),
    (_ARGUMENTS, "correct harnesses.{name}.args in the configuration"),
    (_ROOT, 'use `run.permissions: auto`; in a sandbox, harnesses.{name}.env: {{IS_SANDBOX: "1"}}'),
)  # fmt: skip


def classify_api_error(text: str, status: int | None = None) -> RefusalKind | None:
    """Return what an error of an agent's service is: limit, login, service or setup.

    `status` is its HTTP status, if the agent reports it; else the words decide. None if they say
    nothing of the four.
    """
    if _WEB_PAGE.search(text):
        return "service"
    if status is not None and status >= 400:
        if status in _LIMIT_STATUSES:
            return "limit"
        if status in _LOGIN_STATUSES:
            return "login"
        if status >= 500 or status == 408:
            return "service"
        kind = _classify_words(text)  # a login or a limit may have another status
        return kind if kind in ("limit", "login") else "setup"
    return _classify_words(text)


def _classify_words(text: str) -> RefusalKind | None:
    now = datetime.now(UTC)
    if refusal := find_refusal(text, now):
        return refusal.kind
    patterns: tuple[tuple[RefusalKind, re.Pattern[str]], ...] = (
        ("limit", _LIMIT), ("login", _LOGIN), *(("setup", one) for one in _SETUP),
        ("service", _SERVICE),
    )  # fmt: skip
    return next((kind for kind, pattern in patterns if pattern.search(text)), None)


def extract_message(text: str) -> str:
    """Return a service's message from the JSON that it is in; other text as it is."""
    start, end = text.find("{"), text.rfind("}") + 1
    tree = parse_object(text[start:end]) if start >= 0 else {}
    message = get_text(tree, "error", "message") or get_text(tree, "message")
    return text[:start] + message + text[end:] if message else text


def suggest_setup_fix(message: str, name: str) -> str:
    """Return what to change for the agent `name` after an error of kind setup; "" if unknown."""
    hints = (hint for pattern, hint in _SETUP_HINTS if pattern.search(message))
    return next(hints, "").format(name=name)


def find_reported_refusal(transcript: Transcript, now: datetime) -> Refusal | None:
    """Return what an agent reported and has not got over; the event counts whatever its text is."""
    event = transcript.refusal
    if event is None:
        return None
    message = " ".join(event.text.split())
    if event.kind != "limit":
        return Refusal(cast("RefusalKind", event.kind), None, message)
    found = find_refusal(event.text, now)
    reset_time = found.reset_time if found else find_reset_time(event.text, now)
    kind = found.kind if found else "limit"  # a quota may be one that never comes back
    return Refusal(kind, reset_time, found.message if found else message)


def find_refusal_in_output(transcript: Transcript, stderr: str, now: datetime) -> Refusal | None:
    """Return the refusal that an agent reported, or else printed to stderr or said in the end."""
    if reported := find_reported_refusal(transcript, now):
        return reported
    texts = (stderr[-_MAX_TAIL:], transcript.final_message[-_MAX_TAIL:])
    refusals = (find_refusal(text, now) for text in texts if text)
    return next(filter(None, refusals), None)
