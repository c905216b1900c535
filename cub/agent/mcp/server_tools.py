"""Offer the tools of MCP servers to the model, and show it what they return.

What a server says of its tools is a description by a stranger: it is bounded, and no permission
follows from it.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from cub.agent.conversation import ImageBlock
from cub.agent.mcp.server_config import make_server_prefix
from cub.agent.mcp.servers import McpServers
from cub.agent.model import ToolDefinition
from cub.agent.permission_rules import PermissionRule
from cub.agent.tools.read_file import MAX_IMAGE_BYTES, detect_image
from cub.agent.tools.tool import Tool, ToolContext, ToolOutput
from cub.agent.tools.tool_arguments import ToolError
from cub.agent.tools.tool_text import MAX_RESULT_CHARS, make_valid_text
from cub.edit.plan import PlanWarning
from cub.json_values import JsonObject
from cub.masking import mask_text
from cub.text import cut_middle, join_first, truncate_text
from cub.tokens import estimate_tokens

if TYPE_CHECKING:
    from mcp.types import CallToolResult

MAX_TOOLS = 100  # services take 128 at most, those of cub included
MAX_TOOL_TOKENS = 10_000  # of all tools, before a warning says so
_MAX_NAME_CHARS = 64
_MAX_DESCRIPTION_CHARS = 2_000
_MAX_IMAGES = 10
_COMBINATIONS = ("anyOf", "oneOf", "allOf")  # which no service takes at the top of a schema
_ARGUMENT_NAME = re.compile(r"[\w.-]{1,64}", re.ASCII)


def make_server_tools(
    servers: McpServers, deny: Iterable[PermissionRule], warnings: list[PlanWarning]
) -> dict[str, Tool]:
    """Return the tools of the connected servers by their names, but for those that a rule denies.

    `warnings` gets servers that failed, and tools that no service would take.
    """
    tools, denied = dict[str, Tool](), {rule.tool for rule in deny}
    for server in servers.list_servers():
        if server.state == "failed":
            message = f"the MCP server {server.name} is not connected: {server.reason}"
            warnings.append(PlanWarning(message, server.where))
        problems = list[str]()
        for listed in server.tools:
            try:
                tool = _make_tool(servers, server.name, listed, tools)
            except ValueError as error:
                problems.append(f"{truncate_text(listed.name, 40)!r} ({error})")
                continue
            if denied.isdisjoint(tool.rule_names):
                tools[tool.name] = tool
        if problems:
            message = f"the MCP server {server.name} has tools that can't be used: "
            warnings.append(PlanWarning(message + join_first(problems), server.where))
    return _bound_tools(tools, warnings)


def _make_tool(
    servers: McpServers, server: str, listed: ToolDefinition, others: Container[str]
) -> Tool:
    """Return a tool with a name that none of the others has. Raises ValueError."""
    schema = _check_schema(listed.schema)

    def bind(values: JsonObject) -> Callable[[ToolContext], ToolOutput]:
        return partial(_call_tool, servers, server, listed.name, values)

    name = f"{make_server_prefix(server)}__{re.sub(r'[^A-Za-z0-9_-]', '_', listed.name)}"
    if len(name) > _MAX_NAME_CHARS or name in others:
        digest = sha256(f"{server}\0{listed.name}".encode()).hexdigest()[:8]
        name = f"{name[: _MAX_NAME_CHARS - 9]}_{digest}"
    description = truncate_text(make_valid_text(listed.description), _MAX_DESCRIPTION_CHARS)
    return Tool(name, description, schema, bind, "unknown")


def _check_schema(schema: JsonObject) -> JsonObject:
    """Return the schema as services take it; ValueError for one that no service takes.

    A service answers one such tool with an error, and the whole session with it.
    """
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
    from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]

    try:
        Draft202012Validator.check_schema(schema)
    except (SchemaError, RecursionError) as error:
        raise ValueError("its schema is not valid") from error
    properties = schema.get("properties", {})
    if schema.get("type") != "object" or not isinstance(properties, dict):
        raise ValueError("its arguments are not an object")
    if bad := next((name for name in properties if not _ARGUMENT_NAME.fullmatch(name)), None):
        raise ValueError(f"an argument is called {truncate_text(bad, 40)!r}")
    rest = {key: value for key, value in schema.items() if key not in _COMBINATIONS}
    return {**rest, "properties": properties}


def _bound_tools(tools: dict[str, Tool], warnings: list[PlanWarning]) -> dict[str, Tool]:
    """Return as many tools as services take; warn of others, and of those that cost much."""
    hint = "deny those that you don't need, such as with `--deny mcp__SERVER`"
    names = list(tools)
    if excess := names[MAX_TOOLS:]:
        message = f"only {MAX_TOOLS} tools of MCP servers are offered, without {join_first(excess)}"
        warnings.append(PlanWarning(message, hint=hint))
    offered = {name: tools[name] for name in names[:MAX_TOOLS]}
    definitions = (json.dumps(tool.definition._asdict()) for tool in offered.values())
    tokens = sum(map(estimate_tokens, definitions))
    if tokens > MAX_TOOL_TOKENS:
        message = f"{len(offered)} tools of MCP servers add about {tokens:,} tokens to each request"
        warnings.append(PlanWarning(message, hint=hint))
    return offered


def _call_tool(
    servers: McpServers, server: str, tool: str, values: JsonObject, context: ToolContext
) -> ToolOutput:
    """Call a tool, and return what the model gets. Raises ToolError, also if the tool failed."""
    result = servers.call_tool(server, tool, values, context.stop)
    images = list[ImageBlock]()
    text = "\n".join(_show_content(result, images))
    # Cut before it is masked, which takes its time; the middle is left out in any case.
    text = mask_text(cut_middle(make_valid_text(text), 2 * MAX_RESULT_CHARS))
    if result.is_error:
        raise ToolError(text or "the tool failed and does not say why")
    return ToolOutput(text, tuple(images))


def _show_content(result: CallToolResult, images: list[ImageBlock]) -> Iterator[str]:
    """Yield the texts of a result, and add its images to `images`."""
    for block in result.content:
        match block.type:
            case "text":
                yield block.text
            case "image":
                yield _take_image(block.data, images)
            case "audio":
                yield f"[{block.mime_type}, which can't be shown]"
            case "resource_link":
                description = f": {block.description}" if block.description else ""
                yield f"[{block.name}: {block.uri}]{description}"
            case "resource":
                yield _show_resource(block.resource)
    if not result.content and result.structured_content is not None:
        yield json.dumps(result.structured_content, ensure_ascii=False)


def _take_image(text: str, images: list[ImageBlock]) -> str:
    """Add an image if models see it; return what the text says of it."""
    data = b""
    with suppress(ValueError):
        data = b64decode(text, validate=True)
    media_type = detect_image(data)
    if not media_type or len(data) > MAX_IMAGE_BYTES or len(images) == _MAX_IMAGES:
        return f"[an image that models can't be shown, {len(data):,} bytes]"
    images.append(ImageBlock(media_type, text))
    return f"[{media_type}, {len(data):,} bytes]"


def _show_resource(resource: Any) -> str:
    if (text := getattr(resource, "text", None)) is not None:
        return f"[{resource.uri}]\n{text}"
    size = len(resource.blob) * 3 // 4
    return f"[{resource.uri}: {resource.mime_type or 'unknown type'}, {size:,} bytes]"
