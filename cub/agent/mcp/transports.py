"""Exchange messages with an MCP server: by the pipes of a command, or over HTTP.

The package's own ways bound neither what a server sends nor what a command leaves running.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from io import BufferedWriter
from typing import TYPE_CHECKING

import httpx2

from cub.agent.mcp.server_config import McpServerConfig, ServerSurroundings
from cub.checks.terminal_text import to_plain_text
from cub.context.context_commands import describe_failure
from cub.errors import CubError
from cub.processes.command import CommandSpec, TimeLimits, explain_missing_program
from cub.processes.runner import RunningCommand

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

_MAX_SENT_BYTES = 16_000_000  # between two answers, the answer included
_FLOOD_REASON = f"it sent more than {_MAX_SENT_BYTES:,} bytes without an answer"
_EXIT_SECONDS = 1.0  # for a command to end by itself
_LIMITS = TimeLimits(grace=(0.2, 0.5))
_MAX_WORDS = 300  # bytes of the last line that a server wrote for people
_HTTP_TIMEOUT = httpx2.Timeout(30.0, read=300.0)  # a stream may stay open without a word


@asynccontextmanager
async def open_command_streams(
    config: McpServerConfig, surroundings: ServerSurroundings, report_end: Callable[[str], None]
) -> AsyncIterator[TransportStreams]:
    """Start a command, and yield what it sends, and what takes messages for it.

    `report_end` is told why it sends nothing more. Raises CubError if its program is missing.
    """
    import anyio

    folder, environ = surroundings.folder, {**surroundings.environ, **config.env}
    if problem := explain_missing_program(config.argv[0], folder, environ):
        raise CubError(problem)
    spec = CommandSpec(config.argv, folder, environ)
    received, read_stream = anyio.create_memory_object_stream["SessionMessage | Exception"](0)
    write_stream, unsent = anyio.create_memory_object_stream["SessionMessage"](0)
    has_ended = anyio.Event()

    def deliver(message: SessionMessage) -> None:
        with suppress(anyio.BrokenResourceError):  # nobody waits for it any longer
            anyio.from_thread.run(received.send, message)

    async def receive() -> None:
        async with received:
            reason = await anyio.to_thread.run_sync(_read_messages, command, deliver)
            if received.statistics().open_receive_streams:  # nobody has closed the connection
                report_end(reason)
        has_ended.set()

    with RunningCommand(spec, _LIMITS, opens_stdin=True) as command:
        async with read_stream, write_stream, anyio.create_task_group() as tasks:
            tasks.start_soon(receive)
            tasks.start_soon(_send_messages, command, unsent)
            try:
                yield read_stream, write_stream
            finally:
                read_stream.close()
                write_stream.close()  # and with it, its stdin
                try:
                    with anyio.move_on_after(_EXIT_SECONDS, shield=True):
                        await has_ended.wait()
                finally:  # the thread that reads ends with the command
                    command.terminate()


def _read_messages(command: RunningCommand, deliver: Callable[[SessionMessage], None]) -> str:
    """Hand on answers and requests; return why there are no more."""
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter

    size, rest, words = 0, bytearray(), ""
    for chunk in command.iter_output():
        if chunk.stream == "err":
            words = _find_last_words(chunk.data) or words
            continue
        size += len(chunk.data)
        if size > _MAX_SENT_BYTES:
            return _FLOOD_REASON
        rest += chunk.data
        *lines, rest = rest.split(b"\n") if b"\n" in chunk.data else [rest]
        for line in lines:
            if b'"id"' not in line:  # a notification, and nothing here waits for one
                continue
            with suppress(ValueError):
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                size *= not isinstance(message, JSONRPCResponse | JSONRPCError)
                deliver(SessionMessage(message))
    failure = describe_failure(command.result, 0)
    return f"it {failure or 'exited'}{': ' * bool(words)}{words}"


def _find_last_words(data: bytes) -> str:
    """Return the last line that is not empty."""
    text = to_plain_text(data[-_MAX_WORDS:].decode("utf-8", "replace"))
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


async def _send_messages(
    command: RunningCommand, unsent: MemoryObjectReceiveStream[SessionMessage]
) -> None:
    """Write messages up to the last one, and close the command's stdin."""
    import anyio

    def write(data: bytes) -> None:
        with suppress(OSError):  # the end of its output says why
            stdin.write(data)
            stdin.flush()

    with suppress(OSError), BufferedWriter(command.stdin) as stdin:
        async with unsent:
            async for item in unsent:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                await anyio.to_thread.run_sync(write, f"{text}\n".encode())


@asynccontextmanager
async def open_http_streams(
    config: McpServerConfig, report_answer: Callable[[str], None]
) -> AsyncIterator[TransportStreams]:
    """Yield what a server at an address sends, and what takes messages for it.

    `report_answer` is told of each status that is an error.
    """
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx2.AsyncClient(
            headers=dict(config.headers),
            timeout=_HTTP_TIMEOUT,
            event_hooks={"response": [partial(_check_response, report_answer)]},
        ) as client,
        streamable_http_client(
            config.url, http_client=client, max_sse_event_size=_MAX_SENT_BYTES
        ) as streams,
    ):
        yield streams


async def _check_response(report_answer: Callable[[str], None], response: httpx2.Response) -> None:
    """Bound an answer; an error that ends the connection gets the words that it lacks."""
    problem, answer = "", f"it answered {response.status_code} {response.reason_phrase}"
    if response.is_error:
        report_answer(answer)
    if response.status_code in (401, 403):
        problem = f"{answer}; put a token into its `headers`"
    elif response.status_code == 404 and "mcp-session-id" in response.request.headers:
        problem = "the server has forgotten the session"
    if problem:
        raise httpx2.ReadError(problem, request=response.request)
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _BoundedStream(response.stream)


class _BoundedStream(httpx2.AsyncByteStream):
    """Read an answer up to the limit."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > _MAX_SENT_BYTES:
                raise httpx2.ReadError(_FLOOD_REASON)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
