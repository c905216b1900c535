"""Connect with one MCP server, list its tools, call them, and connect again if it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cub import __version__
from cub.agent.mcp.server_config import (
    ListedTool,
    McpServerConfig,
    ServerState,
    ServerSurroundings,
)
from cub.agent.mcp.server_process import ServerProcess
from cub.agent.tools.tool_arguments import ToolError
from cub.debug_log import log_debug
from cub.json_values import JsonObject
from cub.masking import mask_text
from cub.text import describe_os_error, find_first_line, truncate_text

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

_MAX_RESTARTS = 3  # of a server in a session
_MAX_PAGES = 50  # of a list of tools
_MAX_REASON = 500
_REASON_SECONDS = 2.0  # until a connection that was closed says why
# What the package reports there is in the reasons already, and would go to the terminal.
_LOGGERS = ("mcp", "client")


@dataclass(slots=True)
class ServerConnection:
    """Connect with a server. `reason` says why it is not connected, or "".

    All methods belong to the thread of one event loop; anybody may read the fields.
    """

    config: McpServerConfig
    surroundings: ServerSurroundings
    state: ServerState = "starting"
    reason: str = ""
    tools: list[ListedTool] = field(default_factory=list)
    _client: Client | None = None
    _task: asyncio.Task[None] | None = None
    _is_decided: asyncio.Event = field(default_factory=asyncio.Event)  # connected, or not
    _closing: asyncio.Event = field(default_factory=asyncio.Event)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _restarts: int = 0

    def open(self) -> None:
        """Start to connect."""
        self._is_decided.clear()
        self._closing.clear()
        self.state, self.reason = "starting", ""
        self._task = asyncio.create_task(self._run())

    async def wait_until_decided(self) -> None:
        """Wait until the server is connected, or has failed."""
        await self._is_decided.wait()

    async def close(self) -> None:
        """Close the connection, and end a command with all that it started."""
        self._closing.set()
        if self._task:
            if not self._is_decided.is_set():
                self._task.cancel()
            await asyncio.wait([self._task])

    async def call_tool(self, name: str, arguments: JsonObject) -> CallToolResult:
        """Call a tool; a server that has ended is started again. Raises ToolError."""
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED

        client = await self._take_client()
        seconds = self.config.call_seconds
        try:
            async with asyncio.timeout(seconds):
                return await client.call_tool(name, dict(arguments))
        except TimeoutError:
            hint = f"its time limit is `timeout` in {self.config.where}, in milliseconds"
            raise self._make_error(f"did not answer in {seconds:g} seconds", hint) from None
        except MCPError as error:
            if error.code != CONNECTION_CLOSED:
                raise self._make_error(f"refused the call: {error.message}") from error
            if self._task:  # it knows why
                await asyncio.wait([self._task], timeout=_REASON_SECONDS)
            self._end("the connection was closed")
            raise self._make_error(f"failed during the call: {self.reason}") from error
        except Exception as error:
            raise self._make_error(f"failed: {describe_exception(error)}") from error

    def _make_error(self, what: str, hint: str = "") -> ToolError:
        text = truncate_text(mask_text(what), _MAX_REASON)
        return ToolError(f"the MCP server {self.config.name} {text}", hint=hint)

    async def _take_client(self) -> Client:
        """Return the connected client; starts a server again that was connected before."""
        async with self._lock:
            if self.state == "failed" and self.tools and self._restarts < _MAX_RESTARTS:
                self._restarts += 1
                await self.close()
                log_debug(f"start the MCP server {self.config.name} again")
                self.open()
            await self._is_decided.wait()
        if self._client is None:
            raise self._make_error(f"is not connected: {self.reason}")
        return self._client

    async def _run(self) -> None:
        """Keep the connection open until it is closed, or has failed."""
        try:
            async with AsyncExitStack() as stack:
                process = self._start_process(stack)
                await asyncio.sleep(0)  # all servers start while the package is imported
                import mcp  # noqa: F401

                _silence_loggers()
                seconds = self.surroundings.start_seconds
                timer = asyncio.get_running_loop().call_later(seconds, self._give_up)
                stack.callback(timer.cancel)
                self._client = await self._connect(stack, process)
                timer.cancel()
                self.state = "connected"
                self._is_decided.set()
                await self._closing.wait()
        except Exception as error:  # noqa: BLE001 - whatever a server does costs a message only
            self._end(describe_exception(error))
        finally:
            self._end("it was stopped")

    def _give_up(self) -> None:
        """End a start that takes too long."""
        assert self._task is not None
        hint = "raise `code.mcp.timeout` if it needs longer"
        self._end(f"it did not start in {self.surroundings.start_seconds:g} seconds; {hint}")
        self._task.cancel()

    def _end(self, reason: str) -> None:
        """Note why there is no connection: the first reason counts."""
        self._client = None
        self.reason = self.reason or truncate_text(mask_text(reason), _MAX_REASON)
        self.state = "failed"
        self._is_decided.set()
        self._closing.set()

    def _start_process(self, stack: AsyncExitStack) -> ServerProcess | None:
        if self.config.url:
            return None
        process = ServerProcess(self.config, self.surroundings, self._end)
        stack.push_async_callback(process.close)
        return process

    async def _connect(self, stack: AsyncExitStack, process: ServerProcess | None) -> Client:
        """Return a client that has listed the server's tools; the stack closes it."""
        from mcp import Client
        from mcp.types import Implementation

        if process:
            transport = process.open_streams()
        else:
            from cub.agent.mcp.http_transport import open_http_streams

            transport = open_http_streams(self.config, self.surroundings)
        # Old servers do not answer what they don't know, so only HTTP is asked for its version.
        is_new = bool(self.config.url) and not self.config.is_sse
        client = Client(
            transport,
            mode="auto" if is_new else "legacy",
            cache=None,
            client_info=Implementation(name="cub", version=__version__),
        )
        await stack.enter_async_context(client)
        self.tools = [tool async for tool in _list_tools(client)]
        return client


def _silence_loggers() -> None:
    import logging

    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


async def _list_tools(client: Client) -> AsyncIterator[ListedTool]:
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            yield ListedTool(tool.name, tool.description or "", tool.input_schema)
        cursor = page.next_cursor
        if not cursor:
            return


def describe_exception(error: BaseException) -> str:
    """Say on one line what went wrong, in the first of a group of exceptions."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, OSError):
        return describe_os_error(error)
    return find_first_line(str(error)) or type(error).__name__
