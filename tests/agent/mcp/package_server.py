"""An MCP server made with the package: over stdio as a process, over HTTP in a thread."""

from __future__ import annotations

import socket
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from mcp.server import MCPServer
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def make_server() -> MCPServer:
    server = MCPServer("package")

    @server.tool()
    def add(first: int, second: int) -> int:
        """Add two numbers."""
        return first + second

    @server.tool(structured_output=False)
    def show() -> list[ContentBlock]:
        """Show one block of each kind."""
        return [
            TextContent(text="first"),
            ImageContent(data=b64encode(PNG).decode(), mime_type="image/png"),
            ImageContent(data="!", mime_type="image/png"),
            ImageContent(data=b64encode(b"<svg/>").decode(), mime_type="image/svg+xml"),
            AudioContent(data="AAAA", mime_type="audio/wav"),
            ResourceLink(name="log", uri="file:///log", description="all of it"),
            EmbeddedResource(resource=TextResourceContents(uri="file:///a", text="a line")),
            EmbeddedResource(
                resource=BlobResourceContents(uri="file:///b", blob="AAAA", mime_type="a/b")
            ),
        ]

    @server.tool()
    def fail() -> str:
        """Fail."""
        raise ValueError("no such ticket")

    return server


@contextmanager
def serve_over_http() -> Iterator[str]:
    """Yield the address of a server in a thread."""
    import uvicorn

    app = make_server().streamable_http_app()
    runner = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=runner.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            runner.should_exit = True
            thread.join(10)


if __name__ == "__main__":
    make_server().run("stdio")
