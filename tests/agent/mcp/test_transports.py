from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from cub.agent.mcp.server_config import McpServerConfig
from cub.agent.tools.tool_arguments import ToolError
from cub.processes.command import StopRequest
from tests.agent.mcp.pools import WHERE, find_status, open_servers

pytest.importorskip("mcp", reason="the extra mcp is not installed")
from tests.agent.mcp.package_server import serve_over_http

NOTIFICATION = b'data: {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}\n\n'
SCHEMA = {"type": "object"}
HEADERS: list[str | None] = []
SESSIONS: list[str] = []


class _OddServer(BaseHTTPRequestHandler):
    """Answer as its path says, and as no server should."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        HEADERS.append(self.headers["x-key"])
        match self.path:
            case "/denied":
                self._answer(401)
            case "/missing":
                self._answer(404)
            case "/broken":
                self._answer(500)
            case "/elsewhere":
                self._answer(307, location="http://localhost:1/mcp")
            case "/forgetful":
                self._answer_call(body)
            case "/page":
                self._answer(200, b"<html>Log in</html>", "text/html")
            case "/flood":
                self._answer(200, b"x" * 17_000_000)
            case "/garbage":
                self._answer(200, b"data: x\n\n", "text/event-stream")
            case "/events":
                self._answer(200, NOTIFICATION * 1_000, "text/event-stream")

    def _answer_call(self, body: dict[str, Any]) -> None:
        """Answer as a server that is started anew after the first session has begun."""
        if body["method"] == "initialize":
            SESSIONS.append(f"s{len(SESSIONS)}")
        if body["method"] == "tools/call" and self.headers["mcp-session-id"] == "s0":
            return self._answer(404)
        if "id" not in body:
            return self._answer(202)
        result = {
            "protocolVersion": "2025-06-18",
            "serverInfo": {"name": "odd", "version": "1"},
            "capabilities": {},
            "tools": [{"name": "odd", "inputSchema": {}}, {"name": "ask", "inputSchema": SCHEMA}],
            "content": [{"type": "text", "text": "done"}],
        }
        answer = {"jsonrpc": "2.0", "id": body["id"], "result": result}
        return self._answer(200, json.dumps(answer).encode(), session=(SESSIONS or [""])[-1])

    def do_GET(self) -> None:
        self._answer(405)

    def log_message(self, *_: object) -> None:
        pass

    def _answer(
        self,
        status: int,
        body: bytes = b"",
        kind: str = "application/json",
        *,
        location: str = "",
        session: str = "",
    ) -> None:
        self.send_response(status)
        for name, value in (
            ("content-type", kind),
            ("content-length", str(len(body))),
            ("location", location),
            ("mcp-session-id", session),
        ):
            if value:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def odd_server() -> Iterator[str]:
    HEADERS.clear()
    SESSIONS.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _OddServer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_a_server_is_called_over_http(tmp_path: Path) -> None:
    stop = StopRequest()
    with serve_over_http() as url:
        config = McpServerConfig("web", WHERE, url=url)
        with open_servers(tmp_path, config) as servers:
            row = find_status(servers, "web")
            assert (row.state, row.reason) == ("connected", "")
            assert [tool.name for tool in row.tools] == ["add", "show", "fail"]
            result = servers.call_tool("web", "add", {"first": 1, "second": 2}, stop)
            assert result.content[0].type == "text"
            assert result.content[0].text == "3"
    stop.close()


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/denied", "it answered 401 Unauthorized; put a token into its `headers`"),
        ("/missing", "it answered 404 Not Found"),
        ("/broken", "it answered 500 Internal Server Error"),
        ("/elsewhere", "Redirect to http://localhost:1/mcp not followed"),
        ("/page", "Unexpected content type: text/html"),
        ("/flood", "it sent more than 16,000,000 bytes without an answer"),
        ("/garbage", "Failed to parse SSE message"),
        ("/events", "SSE stream ended without a response"),
    ],
)
def test_an_address_that_is_no_server_says_why(
    odd_server: str, path: str, reason: str, tmp_path: Path
) -> None:
    config = McpServerConfig("web", WHERE, url=odd_server + path, headers={"X-Key": "k1"})
    with open_servers(tmp_path, config) as servers:
        row = find_status(servers, "web")
    assert row.state == "failed"
    assert row.reason.startswith(reason)
    assert set(HEADERS) == {"k1"}


def test_nobody_at_an_address_fails_at_once(tmp_path: Path) -> None:
    stop = StopRequest()
    config = McpServerConfig("web", WHERE, url="http://127.0.0.1:1/mcp")
    with open_servers(tmp_path, config) as servers:
        assert find_status(servers, "web").reason == "All connection attempts failed"
        with pytest.raises(ToolError, match="the MCP server web is not connected: All conn"):
            servers.call_tool("web", "add", {}, stop)
    stop.close()


def test_a_session_that_a_server_has_forgotten_begins_again(
    odd_server: str, tmp_path: Path
) -> None:
    config = McpServerConfig("web", WHERE, url=f"{odd_server}/forgetful")
    with closing(StopRequest()) as stop, open_servers(tmp_path, config) as servers:
        with pytest.raises(ToolError, match="the server has forgotten the session"):
            servers.call_tool("web", "ask", {}, stop)
        assert servers.call_tool("web", "ask", {}, stop).content[0].type == "text"
        assert [tool.name for tool in find_status(servers, "web").tools] == ["odd", "ask"]
    assert SESSIONS == ["s0", "s1"]
