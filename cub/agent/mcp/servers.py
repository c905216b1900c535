"""Keep the connections of a session with its MCP servers, in one thread for all of them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Iterable
from concurrent.futures import CancelledError
from contextlib import AsyncExitStack, nullcontext, suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from cub import __version__
from cub.agent.mcp.server_config import McpServerConfig, ServerStatus, ServerSurroundings
from cub.agent.mcp.transports import open_command_streams, open_http_streams
from cub.agent.model import ToolDefinition
from cub.agent.tools.tool_arguments import ToolError
from cub.errors import CubError
from cub.json_values import JsonObject
from cub.masking import mask_text
from cub.processes.command import StopRequest
from cub.text import describe_os_error, find_first_line, truncate_text

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

T = TypeVar("T")
_MAX_REASON = 500
# What the package says of any answer over HTTP with such a status.
_WITHOUT_STATUS = ("Not Found", "Server returned an error response")
_REASON_SECONDS = 2.0  # until a connection that was closed says why
_CLOSE_SECONDS = 10.0  # more than all the steps of ending a server take


@dataclass(slots=True)
class _Connection:
    """Connect with a server, and again at a call once that has ended.

    All methods belong to the thread of one event loop; anybody may read the status.
    """

    config: McpServerConfig
    surroundings: ServerSurroundings
    status: ServerStatus
    _client: Client | None = None
    _answers: deque[str] = field(default_factory=lambda: deque(maxlen=1))  # over HTTP, an error
    is_decided: asyncio.Event = field(default_factory=asyncio.Event)  # connected, or not
    _has_ended: asyncio.Event = field(default_factory=asyncio.Event)
    _task: asyncio.Task[None] = field(init=False)

    def open(self) -> None:
        """Start to connect."""
        self.status = self.status._replace(state="starting", reason="")
        self.is_decided.clear()
        self._has_ended.clear()
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Close the connection, and end a command with all that it started."""
        if not self.is_decided.is_set():
            self._task.cancel()
        self._end("it was stopped")
        await asyncio.wait([self._task])

    async def call_tool(self, name: str, arguments: JsonObject) -> CallToolResult:
        """Call a tool. Raises ToolError."""
        client = await self._take_client()
        seconds = self.config.call_seconds
        try:
            async with asyncio.timeout(seconds):
                return await client.call_tool(name, dict(arguments))
        except TimeoutError:
            hint = f"its time limit is `timeout` in {self.config.where}, in milliseconds"
            raise self._make_error(f"did not answer in {seconds:g} seconds", hint) from None
        except Exception as error:
            from mcp.types import CONNECTION_CLOSED

            if getattr(error, "code", None) != CONNECTION_CLOSED:
                raise self._make_error(f"refused the call: {self._describe(error)}") from error
            await asyncio.wait([self._task], timeout=_REASON_SECONDS)
            self._end("the connection was closed")
            raise self._make_error(f"failed during the call: {self.status.reason}") from error

    def _make_error(self, what: str, hint: str = "") -> ToolError:
        text = truncate_text(mask_text(what), _MAX_REASON)
        return ToolError(f"the MCP server {self.config.name} {text}", hint=hint)

    def _describe(self, error: BaseException) -> str:
        """Say on one line what went wrong, in the first of a group of exceptions.

        Where the package leaves out the status of an answer, it is that.
        """
        from pydantic import ValidationError

        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, OSError):
            return describe_os_error(error)
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False)[0]
            return f"its answer is not valid: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        reason = find_first_line(str(error)) or type(error).__name__
        return self._answers[-1] if self._answers and reason in _WITHOUT_STATUS else reason

    async def _take_client(self) -> Client:
        """Return the connected client; a server that has ended is started again."""
        if self._has_ended.is_set():
            await asyncio.wait([self._task])
            if self._task.done():  # no other call was faster
                self.open()
        await self.is_decided.wait()
        if self._client is None:
            raise self._make_error(f"is not connected: {self.status.reason}")
        return self._client

    async def _run(self) -> None:
        """Keep the connection open until it is closed, or has failed."""
        seconds = self.surroundings.start_seconds
        try:
            async with AsyncExitStack() as stack:
                client = await self._start(stack)
                try:
                    async with asyncio.timeout(seconds):
                        await stack.enter_async_context(client)
                        tools = await _list_tools(client)
                except TimeoutError:
                    hint = "raise `code.mcp.timeout` if it needs longer"
                    raise CubError(f"it did not start in {seconds:g} seconds; {hint}") from None
                self._client = client
                self.status = self.status._replace(state="connected", tools=tools)
                self.is_decided.set()
                await self._has_ended.wait()
        except Exception as error:  # noqa: BLE001 - whatever a server does costs a message only
            self._end(self._describe(error))
        finally:
            self._end("it was stopped")

    async def _start(self, stack: AsyncExitStack) -> Client:
        """Start a command, which ends when the stack is closed; return a client that can connect.

        That the package is imported here takes seconds, which don't count as the server's.
        """
        if self.config.url:
            opened = open_http_streams(self.config, self._answers.append)
        else:
            opened = open_command_streams(self.config, self.surroundings, self._end)
        streams = await stack.enter_async_context(opened)
        await asyncio.sleep(0)  # all commands start before the package is imported
        import mcp

        from cub.agent.mcp.tool_lists import ToolListStream

        received = ToolListStream(streams[0], lambda: client.protocol_version)
        client = mcp.Client(
            nullcontext((received, streams[1])),
            # Old commands do not answer what they don't know.
            mode="auto" if self.config.url else "legacy",
            cache=None,
            client_info=mcp.Implementation(name="cub", version=__version__),
        )
        return client

    def _end(self, reason: str) -> None:
        """Note why there is no connection: the first reason counts."""
        if self._has_ended.is_set():
            return
        reason = truncate_text(mask_text(reason), _MAX_REASON)
        self.status = self.status._replace(state="failed", reason=reason)
        self._client = None
        self._has_ended.set()
        self.is_decided.set()


async def _list_tools(client: Client) -> tuple[ToolDefinition, ...]:
    """Return the tools of a server; a server may have prompts or resources alone."""
    from mcp import MCPError
    from mcp.types import METHOD_NOT_FOUND

    tools, cursor = list[ToolDefinition](), None
    while True:
        try:
            page = await client.list_tools(cursor=cursor)
        except MCPError as error:
            if error.code == METHOD_NOT_FOUND:
                return ()
            raise
        for tool in page.tools:
            tools.append(ToolDefinition(tool.name, tool.description or "", tool.input_schema))
        cursor = page.next_cursor
        if not cursor:
            return tuple(tools)


class McpServers:
    """Connect with servers from the start on, all at the same time, until `close`.

    Its methods may be called in any thread.
    """

    def __init__(
        self, configs: Iterable[McpServerConfig], surroundings: ServerSurroundings
    ) -> None:
        self._connections = {
            one.name: _Connection(one, surroundings, ServerStatus(one.name, one.where, "starting"))
            for one in configs
        }
        self._loop = asyncio.new_event_loop()
        self._closing = asyncio.Event()
        self._thread = Thread(target=self._run, name="mcp servers", daemon=True)
        self._thread.start()

    def wait_until_decided(self, stop: StopRequest) -> None:
        """Wait until each server is connected or has failed, or a stop is requested."""
        with suppress(ToolError):
            self._wait(self._decide_all(), stop)

    def list_servers(self) -> list[ServerStatus]:
        """Return how each server is doing."""
        return [one.status for one in self._connections.values()]

    def call_tool(
        self, server: str, tool: str, arguments: JsonObject, stop: StopRequest
    ) -> CallToolResult:
        """Return what a tool of a server returns. Raises ToolError."""
        return self._wait(self._connections[server].call_tool(tool, arguments), stop)

    def close(self) -> None:
        """End all servers, and wait for that."""
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(_CLOSE_SECONDS)

    def _wait(self, work: Coroutine[None, None, T], stop: StopRequest) -> T:
        """Return what a coroutine in the thread returns; a requested stop cancels it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)

        def cancel() -> None:
            future.cancel()

        with stop.notify(cancel):
            try:
                return future.result()
            except CancelledError:
                raise ToolError("the call was stopped") from None

    def _run(self) -> None:
        _silence_package()
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        for connection in self._connections.values():
            connection.open()
        await self._closing.wait()
        await asyncio.gather(*(one.close() for one in self._connections.values()))

    async def _decide_all(self) -> None:
        for connection in self._connections.values():
            await connection.is_decided.wait()


def _silence_package() -> None:
    """Keep off the terminal what the package logs: it is in the reasons already."""
    import logging

    for name in ("mcp", "client"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
