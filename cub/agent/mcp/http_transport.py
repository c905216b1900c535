"""Connect with an MCP server over HTTP, without reading more of an answer than the limit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx2

from cub.agent.mcp.server_config import McpServerConfig, ServerSurroundings

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_TIMEOUT = httpx2.Timeout(30.0, read=300.0)  # a server may keep a stream open without a word

_EVENT_LINE_BYTES = 800  # the package takes a millisecond for an event, however short


class _BoundedStream(httpx2.AsyncByteStream):
    """Read an answer up to the limit; a line of it counts as `line_bytes` more."""

    def __init__(
        self, stream: httpx2.AsyncByteStream, line_bytes: int, surroundings: ServerSurroundings
    ) -> None:
        self._stream = stream
        self._line_bytes = line_bytes
        self._surroundings = surroundings

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk) + self._line_bytes * chunk.count(b"\n")
            if size > self._surroundings.max_bytes:
                raise httpx2.ReadError(self._surroundings.flood_reason)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def _find_problem(response: httpx2.Response) -> str:
    if response.status_code in (401, 403):
        answer = f"it answered {response.status_code} {response.reason_phrase}"
        return f"{answer}; put a token into its `headers`"
    if response.status_code == 404 and "mcp-session-id" in response.request.headers:
        return "the server has forgotten the session"
    # Of a compressed answer, the size would not be known.
    is_plain = response.headers.get("content-encoding", "identity") == "identity"
    return "" if is_plain else "the answer is compressed"


@asynccontextmanager
async def open_http_streams(
    config: McpServerConfig, surroundings: ServerSurroundings
) -> AsyncIterator[TransportStreams]:
    """Yield what the server sends, and what takes messages for it."""
    from mcp.client.sse import sse_client
    from mcp.client.streamable_http import streamable_http_client

    async def check_response(response: httpx2.Response) -> None:
        """Bound an answer; an error that ends the connection gets the words that it lacks."""
        if problem := _find_problem(response):
            raise httpx2.ReadError(problem, request=response.request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        line_bytes = _EVENT_LINE_BYTES * is_stream
        response.stream = _BoundedStream(response.stream, line_bytes, surroundings)

    def make_client(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers={**(headers or {}), "Accept-Encoding": "identity"},
            timeout=timeout,
            auth=auth,
            event_hooks={"response": [check_response]},
        )

    headers = dict(config.headers)
    if config.is_sse:
        async with sse_client(config.url, headers, httpx_client_factory=make_client) as streams:
            yield streams
        return
    async with (
        make_client(headers, _TIMEOUT) as client,
        streamable_http_client(
            config.url, http_client=client, max_sse_event_size=surroundings.max_bytes
        ) as streams,
    ):
        yield streams
