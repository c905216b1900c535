"""Read which MCP servers a file configures, in the format of `.mcp.json`.

{"mcpServers": {"tickets": {"command": "npx", "args": ["tickets-mcp"], "env": {"KEY": "${KEY}"}},
"wiki": {"type": "http", "url": "https://wiki.example/mcp", "headers": {}}}}
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from cub.agent.tools.tool import OUTSIDE_PREFIX
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.json_values import JsonObject

DEFAULT_CALL_SECONDS = 60.0
_URL_TYPES = ("http", "streamable-http", "sse")
_TYPES = ("stdio", *_URL_TYPES)
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
    is_sse: bool = False
    headers: Mapping[str, str] = {}
    call_seconds: float = DEFAULT_CALL_SECONDS


class ServerSurroundings(NamedTuple):
    """Hold where servers run, with which variables, and how many seconds each has to start.

    A server that sends more than `max_bytes` between two answers is ended, an answer included.
    """

    folder: Path
    environ: Mapping[str, str]
    start_seconds: float
    max_bytes: int = 16_000_000

    @property
    def flood_reason(self) -> str:
        """Return why a server is ended that sends more."""
        return f"it sent more than {self.max_bytes:,} bytes without an answer"


class ListedTool(NamedTuple):
    """Hold what a server says of a tool."""

    name: str
    description: str
    schema: JsonObject


# `skipped`: it is not trusted, or denied, and was not started.
ServerState = Literal["starting", "connected", "failed", "skipped"]


class ServerStatus(NamedTuple):
    """Describe a server for people: its tools, and why it is not connected, or ""."""

    name: str
    where: str
    state: ServerState
    tools: tuple[ListedTool, ...] = ()
    reason: str = ""


class _ConfigError(ValueError):
    """Say why a server can't be used; its first argument is the message, the second a hint."""


class ServerFile(NamedTuple):
    """Hold the servers of a file by their names, in its order, and what is wrong with others."""

    configs: dict[str, McpServerConfig]
    warnings: list[PlanWarning]


def make_server_prefix(server: str) -> str:
    """Return the name of a server as it is in rules and in the names of its tools."""
    # Without `__` in it, the server's part ends at the first `__` after the prefix.
    return OUTSIDE_PREFIX + (re.sub(r"[^A-Za-z0-9-]+", "_", server).strip("_") or "server")


def parse_server_object(data: bytes, path: str) -> dict[str, Any]:
    """Return the JSON object in a file; raises CubError, with the line, if it has none."""
    text = data.decode("utf-8-sig", "replace")
    try:
        tree = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{path}:{error.lineno}"
        raise CubError(
            f"not valid JSON: {error.msg[:1].lower()}{error.msg[1:]}", where=where
        ) from (error)
    except (ValueError, RecursionError) as error:
        raise CubError("not valid JSON", where=path) from error
    if not isinstance(tree, dict):
        raise CubError("not a JSON object", where=path, hint='write {"mcpServers": {…}}')
    return tree


def parse_servers(
    tree: JsonObject, data: bytes, path: str, environ: Mapping[str, str]
) -> ServerFile:
    """Return the servers below `mcpServers`; `data` is the whole file, to find their lines.

    What can't be used becomes a warning.
    """
    entries, found = tree.get("mcpServers", {}), ServerFile({}, [])
    if not isinstance(entries, dict):
        hint = 'write {"mcpServers": {"NAME": {"command": …}}}'
        return found._replace(
            warnings=[PlanWarning("mcpServers is not an object", path, hint=hint)]
        )
    for name, entry in entries.items():
        line = _find_line(data, name)
        try:
            if config := _parse_server(name, entry, f"{path}:{line}", environ):
                found.configs[name] = config
        except _ConfigError as fault:
            message, hint = fault.args
            message = f"the MCP server {name} can't be used: {message}"
            found.warnings.append(PlanWarning(message, path, line, hint))
    return found


def _find_line(data: bytes, name: str) -> int:
    """Return the line of a server in a file; 1 if its name is written in another way."""
    match = re.search(
        re.escape(json.dumps(name, ensure_ascii=False)).encode() + rb"\s*:\s*\{", data
    )
    return data.count(b"\n", 0, match.start()) + 1 if match else 1


def _parse_server(
    name: str, entry: Any, where: str, environ: Mapping[str, str]
) -> McpServerConfig | None:
    """Return a server; None for one that is switched off. Raises _ConfigError."""
    if not isinstance(entry, dict):
        raise _ConfigError("it is not an object", 'write {"command": …} or {"url": …}')
    if entry.get("disabled") is True:
        return None
    kind = entry.get("type", "http" if "url" in entry and "command" not in entry else "stdio")
    if kind not in _TYPES:
        raise _ConfigError(f"unknown type {kind!r}", f"choose from {', '.join(_TYPES)}")
    config = McpServerConfig(name, where, call_seconds=_parse_timeout(entry))
    if kind in _URL_TYPES:
        url = _expand(_take_text(entry, "url"), environ)
        if not _WEB_ADDRESS.match(url):
            raise _ConfigError("its url is not a web address", "use http:// or https://")
        headers = dict(_take_pairs(entry, "headers", environ))
        return config._replace(url=url, is_sse=kind == "sse", headers=headers)
    arguments = entry.get("args", [])
    if not isinstance(arguments, list) or not all(isinstance(one, str) for one in arguments):
        raise _ConfigError("args is not a list of strings", 'write it like ["-y", "package"]')
    words = [_take_text(entry, "command"), *arguments]
    argv = tuple(_expand(word, environ) for word in words)
    return config._replace(argv=argv, env=dict(_take_pairs(entry, "env", environ)))


def _parse_timeout(entry: JsonObject) -> float:
    milliseconds = entry.get("timeout", DEFAULT_CALL_SECONDS * 1000)
    if type(milliseconds) not in (int, float) or not 0 < milliseconds < 10**9:
        raise _ConfigError("timeout is not a number of milliseconds", "write it like 60000")
    return float(milliseconds) / 1000


def _take_text(entry: JsonObject, key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        raise _ConfigError(f"{key} is missing", f'write it like {{"{key}": "…"}}')
    return value


def _take_pairs(
    entry: JsonObject, key: str, environ: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    pairs = entry.get(key, {})
    if not isinstance(pairs, dict) or not all(isinstance(value, str) for value in pairs.values()):
        raise _ConfigError(f"{key} is not an object of strings", f'write it like {{"{key}": {{}}}}')
    return ((name, _expand(value, environ)) for name, value in pairs.items())


def _expand(text: str, environ: Mapping[str, str]) -> str:
    """Return a text with `${VAR}` and `${VAR:-default}` replaced; _ConfigError for one not set."""

    def replace(match: re.Match[str]) -> str:
        default: str | None = match[2]
        value = environ.get(match[1], default)
        if value is None:
            hint = f"set it, or write ${{{match[1]}:-default}}"
            raise _ConfigError(f"the variable {match[1]} is not set", hint)
        return value

    return _VARIABLE.sub(replace, text)
