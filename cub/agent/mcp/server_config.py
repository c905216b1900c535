"""Read which MCP servers a file configures, in the format of `.mcp.json`.

{"mcpServers": {"tickets": {"command": "npx", "args": ["tickets-mcp"], "env": {"KEY": "${KEY}"}},
"wiki": {"type": "http", "url": "https://wiki.example/mcp", "headers": {}}}}
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from cub.agent.model import ToolDefinition
from cub.agent.tools.tool import OUTSIDE_PREFIX
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.json_values import JsonObject
from cub.syntax_errors import describe_json_error

DEFAULT_CALL_SECONDS = 60.0
_TYPES = ("stdio", "http", "streamable-http")
SERVERS_HINT = 'write {"mcpServers": {"NAME": {"command": …}}}'
# Keys with their types, in Python and in words, and an example.
_SHAPES: Mapping[str, tuple[type, str, str]] = {
    "command": (str, "a string", '"npx"'),
    "url": (str, "a string", '"https://wiki.example/mcp"'),
    "args": (list, "a list of strings", '["-y", "package"]'),
    "env": (dict, "an object of strings", '{"LEVEL": "debug"}'),
    "headers": (dict, "an object of strings", '{"Authorization": "Bearer ${TOKEN}"}'),
}
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}", re.ASCII)
_WEB_ADDRESS = re.compile(r"https?://[^\s/]", re.IGNORECASE)


class McpServerConfig(NamedTuple):
    """Describe a server: a command, or an address. `call_seconds` limits a call of a tool.

    `where` is the file with its line; `argv` is () for an address, `url` is "" for a command.
    """

    name: str
    where: str
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    url: str = ""
    headers: Mapping[str, str] = {}
    call_seconds: float = DEFAULT_CALL_SECONDS


class ServerSurroundings(NamedTuple):
    """Hold where servers run, with which variables, and how many seconds each has to start."""

    folder: Path
    environ: Mapping[str, str]
    start_seconds: float


# `skipped`: it is not trusted, or denied, and was not started.
ServerState = Literal["starting", "connected", "failed", "skipped"]


class ServerStatus(NamedTuple):
    """Describe a server for people: its tools, and why it is not connected, or ""."""

    name: str
    where: str
    state: ServerState
    tools: tuple[ToolDefinition, ...] = ()
    reason: str = ""


def make_server_prefix(server: str) -> str:
    """Return the name of a server as it is in rules and in the names of its tools."""
    # Without `__` in it, the server's part ends at the first `__` after the prefix.
    return OUTSIDE_PREFIX + (re.sub(r"[^A-Za-z0-9-]+", "_", server).strip("_") or "server")


class ServerFile(NamedTuple):
    """Hold an object with `mcpServers`, and the file that it is from."""

    tree: JsonObject
    data: bytes
    path: str


def parse_server_file(data: bytes, path: str) -> ServerFile:
    """Return the JSON object in a file; raises CubError, with the line, if it has none."""
    try:
        tree = json.loads(data.decode("utf-8-sig", "replace"))
    except json.JSONDecodeError as error:
        message = f"invalid JSON: {describe_json_error(error.msg)}"
        raise CubError(message, where=f"{path}:{error.lineno}") from None
    except (ValueError, RecursionError):
        raise CubError("invalid JSON", where=path) from None
    if not isinstance(tree, dict):
        raise CubError("not a JSON object", where=path, hint=SERVERS_HINT)
    return ServerFile(tree, data, path)


def parse_servers(
    file: ServerFile, environ: Mapping[str, str]
) -> Iterator[McpServerConfig | PlanWarning]:
    """Yield the servers below `mcpServers`; a warning for each that can't be used."""
    entries = file.tree.get("mcpServers", {})
    if not isinstance(entries, dict):
        yield PlanWarning("mcpServers is not an object", file.path, hint=SERVERS_HINT)
        return
    for name, entry in entries.items():
        if isinstance(entry, dict) and entry.get("disabled") is True:
            continue
        line = _find_line(file.data, name)
        try:
            yield _parse_server(name, _expand(entry, environ), f"{file.path}:{line}")
        except CubError as error:
            message = f"the MCP server {name} can't be used: {error.message}"
            yield PlanWarning(message, file.path, line, error.hint)


def _find_line(data: bytes, name: str) -> int:
    """Return the line of a server in a file; 1 if its name is written in another way."""
    key = json.dumps(name, ensure_ascii=False).encode()
    match = re.search(re.escape(key) + rb"\s*:\s*\{", data)
    return data.count(b"\n", 0, match.start()) + 1 if match else 1


def _parse_server(name: str, entry: Any, where: str) -> McpServerConfig:
    """Return a server whose variables are replaced. Raises CubError."""
    if not isinstance(entry, dict):
        raise CubError("it is not an object", hint='write {"command": …} or {"url": …}')
    for key, (shape, words, example) in _SHAPES.items():
        value = entry.get(key, shape())
        if not isinstance(value, shape) or not all(isinstance(one, str) for one in _list(value)):
            raise CubError(f"{key} is not {words}", hint=f"write it like {example}")
    kind = entry.get("type", "http" if "url" in entry and "command" not in entry else "stdio")
    if kind not in _TYPES:
        raise CubError(f"unknown type {kind!r}", hint=f"choose from {', '.join(_TYPES)}")
    needed = "command" if kind == "stdio" else "url"
    if not entry.get(needed, "").strip():
        raise CubError(f"{needed} is missing", hint=f"write it like {_SHAPES[needed][2]}")
    milliseconds = entry.get("timeout", DEFAULT_CALL_SECONDS * 1000)
    if type(milliseconds) not in (int, float) or not 0 < milliseconds < 10**9:
        raise CubError("timeout is not a number of milliseconds", hint="write it like 60000")
    config = McpServerConfig(name, where, call_seconds=milliseconds / 1000)
    if kind == "stdio":
        argv = (entry["command"], *entry.get("args", ()))
        return config._replace(argv=argv, env=entry.get("env", {}))
    if not _WEB_ADDRESS.match(entry["url"]):
        raise CubError("its url is not a web address", hint="use http:// or https://")
    return config._replace(url=entry["url"], headers=entry.get("headers", {}))


def _list(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _expand(value: Any, environ: Mapping[str, str]) -> Any:
    """Return a value with `${VAR}` and `${VAR:-default}` replaced in all its strings.

    Raises CubError for a variable that is not set.
    """

    def replace(match: re.Match[str]) -> str:
        default: str | None = match[2]
        text = environ.get(match[1], default)
        if text is None:
            hint = f"set it, or write ${{{match[1]}:-default}}"
            raise CubError(f"the variable {match[1]} is not set", hint=hint)
        return text

    match value:
        case str():
            return _VARIABLE.sub(replace, value)
        case list():
            return [_expand(one, environ) for one in value]
        case dict():
            return {key: _expand(one, environ) for key, one in value.items()}
    return value
