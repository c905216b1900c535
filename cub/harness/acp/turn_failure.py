"""Find out why a turn failed: `end_turn` stands for a failed service as well."""

from __future__ import annotations

import re
from typing import NamedTuple

from cub.json_values import JsonObject, get_object, get_text
from cub.text import find_first_line

_MAX_WORDS = 2_000  # characters
_LOGIN_REQUIRED = -32000
_INTERNAL_ERROR = 500  # Gemini's for whatever it has no status of
_PROTOCOL_ERRORS = (-32700, -32600, -32601, -32602)  # cub's own message was not understood
# What Claude's adapter tells of the service.
_ERROR_KINDS = {
    "rate_limit": "limit",
    "overloaded": "limit",
    "server_error": "service",
    "authentication_failed": "login",
    "oauth_org_not_allowed": "login",
    "billing_error": "login",
    "account_on_hold": "login",
    "verification_required": "login",
    "cloud_credential_error": "login",
}
_STOP_REASONS = {
    "cancelled": "the agent cancelled its turn",
    "refusal": "the model refused to go on",
    "max_tokens": "the model's reply was cut at its limit of tokens",
    "max_turn_requests": "the agent used up its requests to the model in one turn",
}
_STATUS = re.compile(r'"(?:code|status|statusCode|status_code)"\s*:\s*([45]\d\d)\b')


class TurnFailure(NamedTuple):
    """Hold why a turn failed; `kind` is that of a refusal, "" for all other reasons.

    `is_reply`: the model has replied, and ended the turn by that.
    """

    kind: str
    words: str
    is_reply: bool = False


def read_error(error: JsonObject, method: str) -> TurnFailure:
    """Return what an error response says."""
    code = error.get("code")
    data = get_object(error, "data")
    message = get_text(error, "message").removeprefix("Internal error: ")
    details = get_text(data, "message"), get_text(data, "details"), get_text(error, "data")
    words = _join_words(message, *details)
    if kind := _ERROR_KINDS.get(get_text(data, "errorKind")):
        return TurnFailure(kind, words)
    if code == _LOGIN_REQUIRED:
        return TurnFailure("login", words)
    if code in _PROTOCOL_ERRORS:
        return TurnFailure("", f"{method}: {words} ({code})")
    status = _find_status(words) or _get_http_status(get_object(data, "codexErrorInfo"))
    words = words or f"{method}: error {code}"
    if status is None and code == _INTERNAL_ERROR:
        return make_failure(words)
    if status is None and type(code) is int and 400 <= code < 600:
        status = code
    return make_failure(words, status, "")


def read_retry(error: JsonObject) -> TurnFailure:
    """Return what Codex's adapter says of a request that failed and may be tried again."""
    words = get_text(error, "additionalDetails") or get_text(error, "message")
    status = _get_http_status(get_object(error, "codexErrorInfo"))
    return make_failure(words, status)


def read_stop(reason: str, *, said: str, has_worked: bool, is_unused: bool) -> TurnFailure | None:
    """Return why a turn that ended with a response failed; None if it did not.

    `has_worked`: the agent has used a tool. `is_unused`: the agent says that no model was used.
    """
    if reason != "end_turn":
        words = _STOP_REASONS.get(reason, f"the agent stopped for the reason {reason!r}")
        if reason == "refusal":
            words = find_first_line(said) or words
        return TurnFailure("", words, is_reply=reason != "cancelled")
    if has_worked or (said and not is_unused):
        return None
    if said:
        return make_failure(said)
    return TurnFailure("service", "the agent ended its turn without a word and without a tool")


def make_failure(words: str, status: int | None = None, default: str = "service") -> TurnFailure:
    """Return a failure with the kind that its words or its HTTP status tell, or else `default`."""
    # Imported for failures only: it loads the masking of secrets.
    from cub.harness.reported_refusals import classify_api_error

    return TurnFailure(classify_api_error(words, status) or default, words)


def _join_words(*texts: str) -> str:
    """Return texts on one line, without those that repeat others."""
    pieces = list[str]()
    for text in texts:
        words = " ".join(text.split())
        if words and not any(words in piece for piece in pieces):
            pieces.append(words)
    return ": ".join(pieces)[:_MAX_WORDS]


def _find_status(words: str) -> int | None:
    """Return the HTTP status in a service's JSON; None if there is none."""
    match = _STATUS.search(words.replace("\\", ""))
    return int(match[1]) if match else None


def _get_http_status(error: JsonObject) -> int | None:
    """Return what Codex tells in an object with one key, the kind of the error."""
    details = next((value for value in error.values() if isinstance(value, dict)), {})
    status = details.get("httpStatusCode")
    return status if type(status) is int else None
