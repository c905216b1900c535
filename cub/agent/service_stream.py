"""Read a model's reply through the vendor's SDK: its events as JSON, and the calls in it.

Both SDKs have the same `post`, which takes bytes and yields JSON. Their typed methods would yield
objects that lack the fields which another server leaves out.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

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

_CONNECT_SECONDS = 10.0  # a host that is switched off answers nothing at all
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
    """Hold what the models of both SDKs have in common. Raises CubError if theirs is missing.

    `vendor` begins the names of the SDK's classes, and requests go to `path`.
    """

    package: ClassVar[str]
    vendor: ClassVar[str]
    vendor_host: ClassVar[str]
    vendor_url: ClassVar[str]
    path: ClassVar[str]
    key_variable: ClassVar[str]

    def __init__(self, endpoint: ModelEndpoint) -> None:
        require_package(self.package)
        self.endpoint = endpoint._replace(base_url=endpoint.base_url or self.vendor_url)
        self.key = require_key(self.endpoint, self.vendor_host, self.key_variable)

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self.endpoint.model

    @property
    def is_vendor(self) -> bool:
        """Return whether the service is the vendor's own."""
        return self.vendor_host in self.endpoint.base_url

    @abstractmethod
    def build_body(self, request: ModelRequest) -> JsonObject:
        """Return a request as the API takes it."""

    @abstractmethod
    def read_reply(self, events: Iterator[JsonObject]) -> Iterator[ReplyEvent]:
        """Yield what the events of a reply say."""

    @abstractmethod
    def is_last(self, event: JsonObject) -> bool:
        """Return whether a reply is complete with an event."""

    def stream_reply(self, request: ModelRequest) -> Iterator[ReplyEvent]:
        """Yield a reply as it comes. Raises ModelError."""
        body = render_body(self.build_body(request))
        return self.read_reply(self._read_events(body))

    @cached_property
    def client(self) -> Any:
        """Return the SDK's client, which is made with the first request."""
        sdk = import_module(self.package)
        return getattr(sdk, self.vendor)(
            api_key=self.key,
            base_url=self.endpoint.base_url,
            timeout=sdk.Timeout(self.endpoint.timeout, connect=_CONNECT_SECONDS),
            max_retries=0,
        )

    def close(self) -> None:
        """Close the connections to the service, if a client was made."""
        if client := vars(self).get("client"):
            client.close()

    def _read_events(self, body: bytes) -> Iterator[JsonObject]:
        """Yield the events of a reply.

        Raises ModelError if the SDK or its HTTP client fails, or the stream ends, before an event
        that `is_last`: a reply that is complete is not lost.
        """
        import httpx2

        sdk_error = getattr(import_module(self.package), f"{self.vendor}Error")
        is_complete, content_type = False, ""
        try:
            with closing(self._open_stream(body)) as stream:
                content_type = stream.response.headers.get("content-type", "")
                for event in stream:
                    if isinstance(event, dict):
                        is_complete = is_complete or self.is_last(event)
                        yield event
        except (
            sdk_error, httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, RecursionError,
        ) as error:  # fmt: skip
            if not is_complete:
                raise convert_failure(error, self.endpoint) from error
        if not is_complete:
            raise make_cut_off_failure(content_type, self.endpoint)

    def _open_stream(self, body: bytes) -> EventStream:
        stream: EventStream = self.client.post(
            self.path,
            content=body,
            options={"follow_redirects": False},  # what is sent stays at this address
            cast_to=object,
            stream=True,
            stream_cls=import_module(self.package).Stream[object],
        )
        return stream


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
