"""Explain in one line why a model's service did not answer, and say when to ask it again."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from http.client import responses
from importlib.util import find_spec
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING

from cub.agent.model import (
    MAX_RETRY_AFTER,
    FailureKind,
    ModelEndpoint,
    ModelError,
    classify_status,
)
from cub.errors import CubError
from cub.installation import find_installation
from cub.json_values import JsonObject, get_count, get_text, parse_object
from cub.masking import MASK, mask_text
from cub.text import truncate_text

if TYPE_CHECKING:
    from httpx2 import Response

_MAX_MESSAGE_CHARS = 300
_MIN_SECRET_CHARS = 8  # local servers take any word as a key
_MAX_DETAILS = 10 * _MAX_MESSAGE_CHARS  # a secret that is cut here is not shown
# Errors that come in the middle of a stream have a type and no status.
_KINDS: Mapping[str, FailureKind] = {
    "rate_limit_error": "limit",
    "rate_limit_exceeded": "limit",
    "authentication_error": "login",
    "permission_error": "login",
    "invalid_api_key": "login",
    "invalid_request_error": "request",
    "not_found_error": "request",
    "request_too_large": "request",
}
_MESSAGE_PLACES = (("error", "message"), ("error",), ("message",), ("detail",))
_NAME_PLACES = (("error", "type"), ("error", "code"), ("type",), ("code",))
_ABOUT_EFFORT = re.compile("effort|thinking|reasoning", re.IGNORECASE)
# A request that is too long, in the words of the vendors and of local servers.
_TOO_LONG = re.compile(
    r"(?i)(?:context|prompt|\btokens?\b|input(?!\[| image)).{0,40}(?:too l|exceed|overflow|longer)"
    r"|exceed(?!.{0,20}output).{0,30}(?:context|\btoken)|(?:context|prompt) length|max_new_tokens"
)
# A limit of the reply's length that a model does not have.
_ABOUT_OUTPUT = re.compile(r"max_(?:completion_|output_)?tokens|(?:completion|output) tokens")
# An account that can't pay: no later request succeeds, though some services answer 429.
_NO_CREDIT = re.compile(
    r"(?i)insufficient[_ ](?:quota|balance|credits?|funds)|credit balance is too low"
    r"|billing_(?:hard_limit_reached|not_active|error)|exceeded_current_quota_error"
    r"|requires more credits|used all available credits|credits are depleted"
    r"|your specified API usage limits"
)
_RETRY_IN = re.compile(r"(?:[Rr]etry|[Tt]ry again) (?:in|after) (?:(\d+)m)?(\d+\.?\d*) ?(ms|s)")
_ERRNO = re.compile(r"\[Errno -?\d+\] ")
_UNITS = {"ms": 0.001, "s": 1.0}
_TITLE = re.compile(r"<title[^>]*>([^<]*)", re.IGNORECASE)
_CHECK_ADDRESS = "check the address of the service: `code.base_url`, or the variable that has it"
_WINDOW = re.compile(
    r"(?i)(?:> |<= |length (?:is|of)(?: only)? |(?:size|length) \(|allowed \(?|model with "
    r"|limit of |token limit: )(\d[\d,]{2,9})"
)


def check_answer(response: Response, endpoint: ModelEndpoint) -> None:
    """Raise ModelError for a status that is not 200, and for a page instead of a reply."""
    if response.status_code != 200:
        content = response.read().decode("utf-8", "replace")
        raise explain_error(content, endpoint, response.status_code, response.headers)
    if "html" in response.headers.get("content-type", ""):
        reason = "answered with a web page"
        raise make_failure(endpoint, reason, kind="request", hint=_CHECK_ADDRESS)


def explain_error(
    content: str,
    endpoint: ModelEndpoint,
    status: int | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> ModelError:
    """Return what a service has sent as an error: with a status, or in the middle of a stream."""
    # Gemini puts the object into a list.
    tree = parse_object(content.strip().removeprefix("[").removesuffix("]"))
    message = _find_text(tree, _MESSAGE_PLACES) or _read_page(content).removeprefix(f"{status} ")
    name = _find_text(tree, _NAME_PLACES)
    kind = classify_status(status) if status else _KINDS.get(name, "service")
    has_no_credit = status == 402 or _NO_CREDIT.search(
        f"{name} {get_text(tree, 'error', 'code')} {message}"
    )
    kind = "login" if has_no_credit else kind
    reason = f"answered {status}" if status else "broke off its reply"
    if not message and status in responses:
        reason += f" ({responses[status]})"
    if place := headers.get("location"):
        reason += f", a redirect to {place}"
    wanted = parse_retry_after(headers, time.time()) or _find_wanted_delay(message)
    if wanted and wanted > MAX_RETRY_AFTER:
        reason += f" (it can be asked again in {wanted / 60:.0f} minutes)"
    error = make_failure(endpoint, reason, message, kind)
    error.status, error.retry_after = status, wanted
    if status == 413 or (kind in ("request", "service") and _TOO_LONG.search(f"{name} {message}")):
        found = _WINDOW.search(message)
        error.is_too_long = True
        error.window = get_count(tree, "error", "n_ctx") or (
            int(found[1].replace(",", "")) if found else None
        )
    elif kind == "login":
        credit = "add credit to the account of this key, raise its limit, or use another key"
        error.hint = credit if has_no_credit else "check the key of this service"
    elif kind == "request":
        is_elsewhere = "error" not in tree and (place or not message or status in (404, 405))
        error.hint = _CHECK_ADDRESS if is_elsewhere else _suggest_setting(message, endpoint)
        if status == 404 and not is_elsewhere and "model" in message.lower():
            error.hint = "check the name of the model"
    return error


def _suggest_setting(message: str, endpoint: ModelEndpoint) -> str:
    """Return a hint about the setting that a service refuses; "" for none."""
    if endpoint.effort and _ABOUT_EFFORT.search(message):
        return "change `code.effort`, or unset it"
    return "lower `code.max_output_tokens`" if _ABOUT_OUTPUT.search(message) else ""


def _read_page(content: str) -> str:
    """Return the title of a web page; of any other text, all of it."""
    if not content.lstrip().startswith("<"):
        return content
    title = _TITLE.search(content)
    return html.unescape(title[1]) if title else ""


def _find_wanted_delay(message: str) -> float | None:
    """Return the seconds after which a message wants another request; None if it doesn't say."""
    found = _RETRY_IN.search(message)
    return int(found[1] or 0) * 60 + float(found[2]) * _UNITS[found[3]] if found else None


def explain_connection(error: Exception, endpoint: ModelEndpoint) -> ModelError:
    """Return what the HTTP client has raised, or a reader of JSON, as a ModelError."""
    import httpx2

    address = "is not the address of a model server"
    proxy = "install the package socksio, or unset ALL_PROXY"
    certificates = "check SSL_CERT_FILE and SSL_CERT_DIR"
    table: tuple[tuple[tuple[type[Exception], ...], str, FailureKind, str], ...] = (
        ((httpx2.InvalidURL, httpx2.UnsupportedProtocol), address, "request", ""),
        ((ImportError,), "is reached through a SOCKS proxy", "request", proxy),
        # Those of connections are an HTTPError.
        ((OSError,), "is not asked, as certificates can't be read", "request", certificates),
        ((httpx2.ConnectError, httpx2.ConnectTimeout), "can't be reached", "service", ""),
        ((httpx2.TimeoutException,), f"sent nothing for {endpoint.timeout:g} s", "service", ""),
        ((httpx2.HTTPError,), "closed the connection in the middle of its reply", "service", ""),
    )
    for classes, reason, kind, hint in table:
        if isinstance(error, classes):
            return make_failure(endpoint, reason, error, kind, hint)
    return make_failure(endpoint, "sent a reply that can't be read", error)


def make_failure(
    endpoint: ModelEndpoint,
    reason: str,
    details: object = "",
    kind: FailureKind = "service",
    hint: str = "",
) -> ModelError:
    """Return a failure in one line without secrets: services repeat keys in their messages."""
    text = f"{endpoint.base_url} {reason}"
    if rest := _ERRNO.sub("", str(details)[:_MAX_DETAILS]).removesuffix("."):
        text += f": {rest}"
    if len(endpoint.key) >= _MIN_SECRET_CHARS:
        text = text.replace(endpoint.key, MASK)
    line = truncate_text(" ".join(mask_text(text).split()), _MAX_MESSAGE_CHARS)
    return ModelError(line, kind, hint=hint)


def require_package(name: str, message: str = "the built-in agent needs the package {}") -> None:
    """Raise CubError if a package is not installed that only the agent needs."""
    if find_spec(name) is None:
        hint = f"run `{find_installation().suggest_extra('agent')}`"
        raise CubError(message.format(name), hint=hint)


def parse_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds until a service wants to be asked again; None if it does not say.

    One header has milliseconds, the other one seconds or an HTTP date; `now` is in seconds since
    the epoch.
    """
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            seconds = float(value) * scale
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp() - now
            except (ValueError, OverflowError):
                continue
        if isfinite(seconds):
            return max(0.0, seconds)
    return None


def _find_text(tree: JsonObject, places: Iterable[tuple[str, ...]]) -> str:
    return next((text for place in places if (text := get_text(tree, *place))), "")
