"""Keep a tool that is not as the protocol has it from costing all tools of its server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anyio.abc import ObjectReceiveStream
from mcp_types.methods import validate_server_result

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import ReadStream
    from mcp.shared.message import SessionMessage

# The package takes it in each version, and `make_server_tools` leaves it out with a warning.
_NOT_VALID = {"type": "object", "minProperties": "not valid"}


@dataclass
class ToolListStream(ObjectReceiveStream["SessionMessage | Exception"]):
    """Receive what a server sends; a wrong tool in a list has a schema that is known as wrong.

    `find_version` returns the version of the protocol that a connected client speaks.
    """

    stream: ReadStream[SessionMessage | Exception]
    find_version: Callable[[], str]

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        item = await self.stream.receive()
        result = getattr(getattr(item, "message", None), "result", None)
        if isinstance(result, dict) and isinstance(result.get("tools"), list):
            result["tools"] = [self._check_tool(result, tool) for tool in result["tools"]]
        return item

    async def aclose(self) -> None:
        """Close the stream."""
        await self.stream.aclose()

    def _check_tool(self, result: dict[str, Any], tool: Any) -> Any:
        try:
            validate_server_result("tools/list", self.find_version(), {**result, "tools": [tool]})
        except RuntimeError:  # not connected yet, so this answers something else
            return tool
        except ValueError:
            name = tool.get("name") if isinstance(tool, dict) else tool
            return {"name": str(name), "inputSchema": _NOT_VALID}
        return tool
