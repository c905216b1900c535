"""Keep the connections of a session with its MCP servers, in one thread for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from concurrent.futures import CancelledError
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from cub.agent.mcp.server_config import McpServerConfig, ServerStatus, ServerSurroundings
from cub.agent.mcp.server_connection import (
    ServerConnection,
)
from cub.agent.tools.tool_arguments import ToolError
from cub.json_values import JsonObject
from cub.processes.command import StopRequest

if TYPE_CHECKING:
    from mcp.types import CallToolResult

T = TypeVar("T")
_CLOSE_SECONDS = 10.0  # more than all the steps of ending a server take


class McpServers:
    """Connect with servers from the start on, all at the same time, until `close`.

    Its methods may be called in any thread.
    """

    def __init__(
        self,
        configs: Iterable[McpServerConfig],
        surroundings: ServerSurroundings,
    ) -> None:
        self._connections = {
            config.name: ServerConnection(config, surroundings) for config in configs
        }
        self._stopping = asyncio.Event()
        self._thread = Thread(target=self._run, name="mcp servers", daemon=True)
        self._loop = asyncio.new_event_loop()
        self._thread.start()

    def wait_until_decided(self, stop: StopRequest) -> None:
        """Wait until each server is connected or has failed, or a stop is requested."""
        with suppress(ToolError):
            self._wait(self._decide_all(), stop)

    def list_servers(self) -> list[ServerStatus]:
        """Return how each server is doing."""
        return [
            ServerStatus(one.config.name, one.config.where, one.state, (*one.tools,), one.reason)
            for one in self._connections.values()
        ]

    def call_tool(
        self, server: str, tool: str, arguments: JsonObject, stop: StopRequest
    ) -> CallToolResult:
        """Return what a tool of a server returns. Raises ToolError."""
        return self._wait(self._connections[server].call_tool(tool, arguments), stop)

    def close(self) -> None:
        """End all servers, and wait for that; closing again does no harm."""
        if self._thread.is_alive():
            with suppress(RuntimeError):  # it has ended in between
                self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(_CLOSE_SECONDS)

    def _wait(self, work: Coroutine[None, None, T], stop: StopRequest) -> T:
        """Return what a coroutine in the thread returns; a requested stop cancels it."""
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:  # the loop is closed
            work.close()
            raise ToolError("the MCP servers of this session have ended") from None

        def cancel() -> None:
            with suppress(RuntimeError):
                future.cancel()

        with stop.notify(cancel):
            try:
                return future.result()
            except CancelledError:
                raise ToolError("the call was stopped") from None

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        for connection in self._connections.values():
            connection.open()
        await self._stopping.wait()
        await asyncio.gather(*(one.close() for one in self._connections.values()))

    async def _decide_all(self) -> None:
        for connection in self._connections.values():
            await connection.wait_until_decided()
