"""Ask a model's service over HTTP: send a request, read the events of its reply as JSON."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from cub import __version__
from cub.agent.conversation import Block, Message, ReasoningBlock, ToolCall
from cub.agent.model import ModelEndpoint, ModelError, ModelRequest, ReplyEvent
from cub.agent.model_failures import (
    check_answer,
    explain_connection,
    explain_error,
    make_failure,
    require_package,
)
from cub.json_values import JsonObject

if TYPE_CHECKING:
    from httpx2 import Client, EventSource

_CONNECT_SECONDS = 10.0  # a host that is switched off answers nothing at all
_MAX_EVENT_BYTES = 1 << 25  # some servers send a whole call as one event
_NOT_IN_NAMES = re.compile(r"[^\w-]", re.ASCII)
_MAX_NAME_CHARS = 64
_ABOUT_REASONING = re.compile("reasoning|thinking|thought|signature|extra_content", re.IGNORECASE)
_UNKNOWN_FIELD = re.compile(
    "unsupported|not permitted|unknown|unrecognized|unexpected", re.IGNORECASE
)


class ServiceModel(ABC):
    """Hold what the models of both APIs have in common. Raises CubError if httpx2 is missing.

    Requests go to `path`; only the vendor's own service always needs the key of `key_variable`.
    """

    vendor_url: ClassVar[str]
    path: ClassVar[str]
    key_variable: ClassVar[str]

    def __init__(self, endpoint: ModelEndpoint) -> None:
        require_package("httpx2")
        base_url = endpoint.base_url or self.vendor_url
        self.endpoint = endpoint._replace(base_url=base_url)
        self._require_key()
        self._refused = dict[int, Block]()  # by their id(), which stays theirs in here
        self._takes_reasoning = True

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self.endpoint.model

    @property
    def is_vendor(self) -> bool:
        """Return whether the service is the vendor's own."""
        return str(urlsplit(self.vendor_url).hostname) in self.endpoint.base_url

    @property
    @abstractmethod
    def headers(self) -> Mapping[str, str]:
        """Return the headers that this API wants, with the key unless there is none."""

    @abstractmethod
    def build_body(self, request: ModelRequest) -> JsonObject:
        """Return a request as the API takes it."""

    @abstractmethod
    def read_reply(self, events: Iterator[JsonObject]) -> Iterator[ReplyEvent]:
        """Yield what the events of a reply say."""

    @abstractmethod
    def is_last(self, event: JsonObject) -> bool:
        """Return whether a reply is complete with an event."""

    @cached_property
    def client(self) -> Client:
        """Return the HTTP client, made with the first request; proxies are the environment's."""
        import httpx2

        headers = {"Content-Type": "application/json", "User-Agent": f"cub/{__version__}"}
        timeout = httpx2.Timeout(self.endpoint.timeout, connect=_CONNECT_SECONDS)
        return httpx2.Client(headers={**headers, **self.headers}, timeout=timeout)

    def close(self) -> None:
        """Close the connections to the service, if a client was made."""
        if client := vars(self).get("client"):
            client.close()

    def _require_key(self) -> None:
        """Raise ModelError if a key is missing that the service needs, or can't be sent."""
        key, variable = self.endpoint.key, self.endpoint.key_variable
        host = urlsplit(self.vendor_url if self.is_vendor else self.endpoint.base_url).hostname
        if not key and (variable or self.is_vendor):
            hint = (
                f"set {variable or self.key_variable}, or `code.api_key` in your own "
                "configuration; a server on your machine needs none: `--model ollama/NAME`"
            )
            raise ModelError(f"missing API key for {host}", "login", hint=hint)
        if not (key.isascii() and key.isprintable()):
            hint = "copy the key again: a key has only ASCII characters, and no line break"
            raise ModelError(f"the API key for {host} is not valid", "login", hint=hint)

    def stream_reply(self, request: ModelRequest) -> Iterator[ReplyEvent]:
        """Yield a reply as it comes. Raises ModelError.

        If the service refuses the reasoning that it is sent back, the request is made once more
        without: it may be another account's, or something before it has changed.
        """
        body = self._render_body(request)
        try:
            yield from self.read_reply(self._read_events(body))
        except ModelError as error:
            if error.status not in (400, 422) or not _ABOUT_REASONING.search(error.message):
                raise
            blocks = (block for message in request.messages for block in message.blocks)
            self._refused |= {id(block): block for block in blocks}
            shorter = self._render_body(request)
            if shorter == body:
                raise
            self._takes_reasoning = not _UNKNOWN_FIELD.search(error.message)
            yield from self.read_reply(self._read_events(shorter))

    def _render_body(self, request: ModelRequest) -> bytes:
        """Return the body of a request; names of files may have bytes that UTF-8 can't have."""
        messages = [
            message._replace(blocks=tuple(self._select_blocks(message)))
            for message in request.messages
        ]
        body = self.build_body(request._replace(messages=messages))
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")

    def _select_blocks(self, message: Message) -> Iterator[Block]:
        """Yield the blocks of a message, without reasoning that is not for this service."""
        for block in message.blocks:
            is_taken = self._takes_reasoning and id(block) not in self._refused
            if isinstance(block, ToolCall) and not is_taken:
                yield block._replace(extra={})
            elif not isinstance(block, ReasoningBlock) or (is_taken and block.model == self.name):
                yield block

    def _read_events(self, body: bytes) -> Iterator[JsonObject]:
        """Yield the events of a reply.

        Raises ModelError if the request fails, or the stream ends, before an event that `is_last`:
        a reply that is complete is not lost.
        """
        import httpx2

        is_complete = False
        url = self.endpoint.base_url.rstrip("/") + self.path
        try:
            with self.client.sse(
                url, method="POST", content=body, max_event_size=_MAX_EVENT_BYTES
            ) as source:
                check_answer(source.response, self.endpoint)
                for data in _iter_data(source):
                    if data == "[DONE]":
                        is_complete = True
                        break
                    event = json.loads(data or "{}")
                    if not isinstance(event, dict):
                        continue
                    if event.get("error") and not is_complete:
                        raise explain_error(data, self.endpoint)
                    is_complete = is_complete or self.is_last(event)
                    yield event
        except (
            httpx2.HTTPError, httpx2.InvalidURL, ImportError, OSError, ValueError, RecursionError,
        ) as error:  # fmt: skip
            if not is_complete:
                raise explain_connection(error, self.endpoint) from error
        if not is_complete:
            raise make_failure(self.endpoint, "ended its stream in the middle of a reply")


def _iter_data(source: EventSource) -> Iterator[str]:
    """Yield the data of each event; of a server that does not stream, its whole answer."""
    headers = source.response.headers
    if "json" in headers.get("content-type", ""):
        yield source.response.read().decode("utf-8", "replace")
    else:
        headers["content-type"] = "text/event-stream"  # some frameworks send none, or text/plain
        yield from (item.data for item in source)


def make_tool_call(call_id: str, name: str, text: str, extra: JsonObject | None = None) -> ToolCall:
    """Return a call with its arguments as the model wrote them, in JSON; "" means none.

    A name that a service would refuse in the next request gets other characters.
    """
    name = _NOT_IN_NAMES.sub("_", name[:_MAX_NAME_CHARS]) or "unnamed"
    call = ToolCall(call_id, name, {}, extra=extra or {})
    try:
        arguments = json.loads(text or "{}", strict=False)  # local models write line breaks as such
        if isinstance(arguments, str):  # some models encode them twice
            arguments = json.loads(arguments, strict=False)
        # NaN can't be sent back, and half a surrogate pair can't be written to a file.
        json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        return call._replace(fault=f"the arguments are not valid JSON: {error}")
    if not isinstance(arguments, dict):
        return call._replace(fault="the arguments are not a JSON object")
    return call._replace(arguments=arguments)


def mark_cut_call(call: ToolCall) -> ToolCall:
    """Return the last call of a reply that was cut at its length limit, with that as its fault."""
    if call.arguments:
        return call  # it was whole
    fault = (
        "the reply was cut at its length limit before the call was complete: make smaller calls, "
        "such as writing a large file in several steps"
    )
    return call._replace(fault=fault)
