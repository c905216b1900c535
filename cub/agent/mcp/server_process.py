"""Run the command of an MCP server, and exchange messages with it: one line of JSON each.

The package's own transport bounds neither what a server sends nor what it leaves running.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from io import FileIO
from typing import TYPE_CHECKING

from cub.agent.mcp.server_config import McpServerConfig, ServerSurroundings
from cub.checks.terminal_text import to_plain_text
from cub.context.context_commands import describe_failure
from cub.errors import CubError
from cub.masking import mask_text
from cub.processes.command import CommandSpec, ProcessResult, explain_missing_program
from cub.processes.keeper_handle import start_keeper
from cub.text import truncate_text

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

_CHUNK_BYTES = 65_536
_EXIT_SECONDS = 1.0  # for a server to end by itself
_GRACE = (0.2, 0.5)
_MAX_WORDS = 300  # characters of the last line that a server wrote for people


class ServerProcess:
    """Run a server with all that it starts; `report_end` is told once why it says nothing more.

    Belongs to one event loop. Raises CubError if it can't be started.
    """

    def __init__(
        self,
        config: McpServerConfig,
        surroundings: ServerSurroundings,
        report_end: Callable[[str], None],
    ) -> None:
        folder, environ = surroundings.folder, {**surroundings.environ, **config.env}
        if problem := explain_missing_program(config.argv[0], folder, environ):
            raise CubError(problem)
        command = CommandSpec(config.argv, folder, environ)
        self._handle = start_keeper(command, _GRACE, merge_streams=False, opens_stdin=True)
        self._surroundings = surroundings
        self._report_end = report_end
        self._last_words = ""
        self._has_flooded = False

    @asynccontextmanager
    async def open_streams(self) -> AsyncIterator[TransportStreams]:
        """Yield what the server sends, and what takes messages for it."""
        import anyio
        from mcp.shared.message import SessionMessage

        received, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write_stream, unsent = anyio.create_memory_object_stream[SessionMessage](0)
        async with received, read_stream, write_stream, unsent, anyio.create_task_group() as tasks:
            tasks.start_soon(self._receive_messages, received)
            tasks.start_soon(self._send_messages, unsent)
            tasks.start_soon(self._read_stderr)
            try:
                yield read_stream, write_stream
            finally:
                tasks.cancel_scope.cancel()

    async def close(self) -> None:
        """End the server: its stdin ends, then INT, TERM, and KILL for all that it started."""
        if self._handle.stdin:
            self._handle.stdin.close()
        if not self._has_flooded:
            await self._wait_for_end()
        await asyncio.to_thread(self._handle.close)

    async def _receive_messages(
        self, received: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        """Hand on answers and requests; whatever else the server writes is passed over."""
        from mcp.shared.message import SessionMessage
        from mcp_types import JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter

        pieces: list[bytes] = []
        size = 0
        async with received:
            async for data in _read_chunks(self._handle.out):
                size += len(data)
                if size > self._surroundings.max_bytes:
                    self._has_flooded = True
                    self._report_end(self._surroundings.flood_reason)
                    return
                *lines, rest = data.split(b"\n")
                if lines:
                    lines[0] = b"".join([*pieces, lines[0]])
                    pieces.clear()
                pieces.append(rest)
                for line in lines:
                    if b'"id"' not in line:  # a notification, and nothing here waits for one
                        self._remember_words(line * (not line.lstrip().startswith(b"{")))
                        continue
                    with suppress(ValueError):
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                        if not isinstance(message, JSONRPCNotification | JSONRPCRequest):
                            size = 0
                        await received.send(SessionMessage(message))
            self._report_end(await self._explain_end())

    async def _send_messages(self, unsent: MemoryObjectReceiveStream[SessionMessage]) -> None:
        import anyio

        assert self._handle.stdin is not None
        stdin = self._handle.stdin.fileno()
        os.set_blocking(stdin, False)
        async for item in unsent:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            rest = memoryview(f"{text}\n".encode())
            while rest:
                try:
                    rest = rest[os.write(stdin, rest) :]
                except BlockingIOError:
                    await anyio.wait_writable(stdin)
                except OSError:  # the end of its stdout says why
                    break

    async def _read_stderr(self) -> None:
        assert self._handle.err is not None
        async for data in _read_chunks(self._handle.err):
            for line in data.splitlines():
                self._remember_words(line)

    def _remember_words(self, line: bytes) -> None:
        """Keep the last line for people that is not empty, to say why the server has failed."""
        if words := to_plain_text(line[: 4 * _MAX_WORDS].decode("utf-8", "replace")).strip():
            self._last_words = words

    async def _explain_end(self) -> str:
        result = await self._wait_for_end()
        if result is None:
            reason = "it closed its stdout"
        elif result.exit_code == 0:
            reason = "it exited"
        else:
            reason = f"it {describe_failure(result, 0)}"
        words = truncate_text(mask_text(self._last_words), _MAX_WORDS)
        return f"{reason}: {words}" if words else reason

    async def _wait_for_end(self) -> ProcessResult | None:
        """Return how the server has ended; None if it still runs after a second."""
        import anyio

        with suppress(TimeoutError, CubError, OSError, ValueError):  # a file that is closed
            async with asyncio.timeout(_EXIT_SECONDS):
                while True:
                    await anyio.wait_readable(self._handle.status.fileno())
                    if result := self._handle.read_report():
                        return result
        return None


async def _read_chunks(file: FileIO) -> AsyncIterator[bytes]:
    """Yield what comes from a pipe, up to its end."""
    import anyio

    os.set_blocking(file.fileno(), False)
    while True:
        try:
            data = os.read(file.fileno(), _CHUNK_BYTES)
        except BlockingIOError:
            await anyio.wait_readable(file.fileno())
            continue
        if not data:
            return
        yield data
        await anyio.lowlevel.checkpoint()  # a server that never pauses must not stop the others
