"""Read a model's reply through the vendor's SDK: its events as JSON, and the calls in it.

Both SDKs have the same `post`, which takes bytes and yields JSON. Their typed methods would yield
objects that lack the fields which another server leaves out.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar, Protocol

from cub.agent.conversation import ToolCall
from cub.agent.model import ModelEndpoint, ModelRequest, ReplyEnd, ReplyEvent, StopReason
from cub.agent.model_failures import (
    convert_failure,
    make_cut_off_failure,
    require_key,
    require_package,
)
from cub.json_values import JsonObject
from cub.tokens import TokenUsage

if TYPE_CHECKING:
    from httpx2 import Response

CONNECT_SECONDS = 10.0  # a host that is switched off answers nothing at all
_NOT_IN_NAMES = re.compile(r"[^\w-]", re.ASCII)
_MAX_NAME_CHARS = 64


class EventStream(Protocol):
    """Hold the events of a reply, as either SDK has them."""

    response: Response

    def __iter__(self) -> Iterator[object]:
        """Yield what the data of each event is as JSON."""

    def close(self) -> None:
        """Close the connection unless all was read."""


class ServiceModel(ABC):
    """Hold what the models of both SDKs have in common. Raises CubError if theirs is missing."""

    package: ClassVar[str]
    vendor_host: ClassVar[str]
    vendor_url: ClassVar[str]
    key_variable: ClassVar[str]

    def __init__(self, endpoint: ModelEndpoint) -> None:
        require_package(self.package)
        self.endpoint = endpoint._replace(base_url=endpoint.base_url or self.vendor_url)
        self.key = require_key(self.endpoint, self.vendor_host, self.key_variable)

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self.endpoint.model

    @abstractmethod
    def stream_reply(self, request: ModelRequest) -> Iterator[ReplyEvent]:
        """Yield a reply as it comes. Raises ModelError."""

    def close(self) -> None:
        """Close the connections to the service, if a client was made."""
        if client := vars(self).get("client"):
            client.close()


def read_events(
    open_stream: Callable[[], EventStream],
    is_last: Callable[[JsonObject], bool],
    endpoint: ModelEndpoint,
    sdk_error: type[Exception],
) -> Iterator[JsonObject]:
    """Yield the events of a reply.

    Raises ModelError if the SDK or its HTTP client fails, or the stream ends, before an event that
    `is_last`: a reply that is complete is not lost.
    """
    from contextlib import closing

    import httpx2

    is_complete, content_type = False, ""
    try:
        with closing(open_stream()) as stream:
            content_type = stream.response.headers.get("content-type", "")
            for event in stream:
                if isinstance(event, dict):
                    is_complete = is_complete or is_last(event)
                    yield event
    except (
        sdk_error, httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, RecursionError,
    ) as error:  # fmt: skip
        if not is_complete:
            raise convert_failure(error, endpoint) from error
    if not is_complete:
        raise make_cut_off_failure(content_type, endpoint)


def render_body(body: JsonObject) -> bytes:
    """Return the body of a request; names of files may have bytes that UTF-8 can't have."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def make_tool_call(call_id: str, name: str, text: str) -> ToolCall:
    """Return a call with its arguments as the model wrote them, in JSON; "" means none.

    A name that a service would refuse in the next request gets other characters.
    """
    name = _NOT_IN_NAMES.sub("_", name[:_MAX_NAME_CHARS]) or "unnamed"
    try:
        arguments = json.loads(text or "{}")
        # NaN can't be sent back, and half a surrogate pair can't be written to a file.
        json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        return ToolCall(call_id, name, {}, f"the arguments are not valid JSON: {error}")
    if not isinstance(arguments, dict):
        return ToolCall(call_id, name, {}, "the arguments are not a JSON object")
    return ToolCall(call_id, name, arguments)


def make_reply_end(stop_reason: StopReason, usage: TokenUsage, *, has_calls: bool) -> ReplyEnd:
    """Return the end of a reply; some servers say `end_turn` after calls as well."""
    if has_calls and stop_reason == "end_turn":
        stop_reason = "tool_use"
    return ReplyEnd(stop_reason, usage)
