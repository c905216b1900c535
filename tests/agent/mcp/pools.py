"""Real servers for tests: as processes that behave as told, connected by cub."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cub.agent.mcp.server_config import McpServerConfig, ServerStatus, ServerSurroundings
from cub.agent.mcp.servers import McpServers
from cub.processes.command import StopRequest

RAW = Path(__file__).parent / "raw_server.py"
WHERE = ".mcp.json:1"


def make_config(name: str, mode: str = "echo", **changes: Any) -> McpServerConfig:
    """Return a server that raw_server.py is in a mode; -S so that it starts at once."""
    config = McpServerConfig(name, WHERE, (sys.executable, "-I", "-S", str(RAW), mode))
    return config._replace(**changes)


@contextmanager
def open_servers(
    folder: Path, *configs: McpServerConfig, start_seconds: float = 20.0
) -> Iterator[McpServers]:
    """Yield servers that are connected, or have failed."""
    environ = {"PATH": os.environ["PATH"]}
    servers = McpServers(configs, ServerSurroundings(folder, environ, start_seconds))
    stop = StopRequest()
    try:
        servers.wait_until_decided(stop)
        yield servers
    finally:
        servers.close()
        stop.close()


def find_status(servers: McpServers, name: str) -> ServerStatus:
    return next(row for row in servers.list_servers() if row.name == name)
