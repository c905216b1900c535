"""Explain in one line why a model's service did not answer, and say when to ask it again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from math import isfinite
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cub.agent.model import FailureKind, ModelEndpoint, ModelError, classify_status
from cub.errors import CubError
from cub.installation import find_installation
from cub.json_values import get_text
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


def convert_failure(error: Exception, endpoint: ModelEndpoint) -> ModelError:
    """Return what an SDK or its HTTP client has raised as a ModelError."""
    # The SDKs' errors have the same fields, but no class in common.
    response, body = getattr(error, "response", None), getattr(error, "body", None)
    if response is not None and response.status_code != 200:
        return _convert_status(response, body, endpoint)
    if body:
        tree = body if isinstance(body, dict) else {}
        name = get_text(tree, "error", "type") or get_text(tree, "type") or get_text(tree, "code")
        message = _describe("broke off its reply", _find_message(body), endpoint)
        return ModelError(message, _KINDS.get(name, "service"))
    return _convert_connection_failure(error, endpoint)


def _convert_status(response: Response, body: object, endpoint: ModelEndpoint) -> ModelError:
    status, kind = response.status_code, classify_status(response.status_code)
    return ModelError(
        _describe(f"answered {status}", _find_message(body), endpoint),
        kind,
        status=status,
        retry_after=parse_retry_after(response.headers, time.time()),
        hint="check the key of this service" if kind == "login" else "",
    )


def _convert_connection_failure(failure: Exception, endpoint: ModelEndpoint) -> ModelError:
    import httpx2

    # Before the reply begins, the SDKs raise errors of their own from those of the HTTP client.
    is_cause = isinstance(failure.__cause__, httpx2.HTTPError)
    error = failure.__cause__ if is_cause else failure
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
        reason = "is not the address of a model server"
        return ModelError(_describe(reason, str(error), endpoint), "request")
    if isinstance(error, httpx2.ReadTimeout):
        reason = f"sent nothing for {endpoint.timeout:g} s"
        return ModelError(_describe(reason, "", endpoint), "service")
    # An OSError is one of reading certificates: those of connections are an HTTPError.
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | OSError):
        reason = "can't be reached"
    elif isinstance(error, httpx2.HTTPError):
        reason = "closed the connection in the middle of its reply"
    else:
        reason = "sent a reply that can't be read"
    return ModelError(_describe(reason, str(error), endpoint), "service")


def make_cut_off_failure(content_type: str, endpoint: ModelEndpoint) -> ModelError:
    """Return the failure of a service whose stream has ended before the reply has."""
    if content_type.startswith("text/event-stream"):
        reason = "ended its stream in the middle of a reply"
    else:
        reason = f"answered {content_type or 'nothing'} instead of a stream of events"
    return ModelError(_describe(reason, "", endpoint), "service")


def require_key(endpoint: ModelEndpoint, vendor_host: str, key_variable: str) -> str:
    """Return the key for requests; only the vendor itself can't do without one.

    It is never "": an SDK without a key takes one from the environment, for any server.
    """
    key = endpoint.key.strip()
    if not key and (endpoint.key_variable or vendor_host in endpoint.base_url):
        is_vendor = vendor_host in endpoint.base_url
        host = vendor_host if is_vendor else urlsplit(endpoint.base_url).hostname
        hint = (
            f"set {endpoint.key_variable or key_variable}, or `code.api_key` in your own "
            "configuration; a server on your machine needs none: `--model ollama/NAME`"
        )
        raise ModelError(f"missing API key for {host}", "login", hint=hint)
    return key or "none"


def require_package(name: str, message: str = "the built-in agent needs the package {}") -> None:
    """Raise CubError if a package is not installed that only the agent needs."""
    if find_spec(name) is None:
        hint = f"run `{find_installation().suggest_extra('agent')}`"
        raise CubError(message.format(name), hint=hint)


def parse_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds until a service wants to be asked again; None if it does not say.

    The header has seconds or an HTTP date; `now` is in seconds since the epoch.
    """
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - now
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if isfinite(seconds) else None


def _find_message(body: object) -> str:
    """Return the message in an error's body; "" if there is none, or only a web page."""
    if isinstance(body, dict):
        return next((text for place in _MESSAGE_PLACES if (text := get_text(body, *place))), "")
    text = body if isinstance(body, str) else ""
    return "" if text.lstrip().startswith("<") else text


def _describe(reason: str, details: str, endpoint: ModelEndpoint) -> str:
    """Return one line without secrets: services repeat keys in their messages."""
    text = f"{endpoint.base_url} {reason}" + (f": {details[:_MAX_DETAILS]}" if details else "")
    key = endpoint.key.strip()
    if len(key) >= _MIN_SECRET_CHARS:
        text = text.replace(key, MASK)
    return truncate_text(" ".join(mask_text(text).split()), _MAX_MESSAGE_CHARS)
