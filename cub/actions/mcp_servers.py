"""Find the MCP servers of a session, and start those that may run.

--mcp-config FILE             | a name that comes first counts
~/.claude.json, this project  |
.mcp.json, if it is trusted   |
mcp.json beside config.yaml   |
~/.claude.json                v
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from cub.actions.command_options import CodeOptions
from cub.actions.tasks.stores import Stores
from cub.agent.loop import AgentSession
from cub.agent.mcp.server_config import (
    McpServerConfig,
    ServerStatus,
    ServerSurroundings,
    make_server_prefix,
    parse_server_object,
    parse_servers,
)
from cub.agent.permission_rules import PermissionRule
from cub.agent.tools.command_environment import remove_secrets
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.files.single_file import read_single_file
from cub.installation import find_installation
from cub.json_values import JsonObject, get_object
from cub.project.config_layers import abbreviate_home, get_user_config_path
from cub.project.executable_config import AgentFile
from cub.project.project import find_home
from cub.project.trust_store import load_trust
from cub.text import join_first

PROJECT_FILE = ".mcp.json"
USER_FILE = "mcp.json"
_CLAUDE_FILE = ".claude.json"
_ENABLED = "code.mcp.enabled"


class FoundServers(NamedTuple):
    """Hold the servers to start, those that are not, and what a person should know of them."""

    configs: list[McpServerConfig]
    skipped: list[ServerStatus]
    warnings: list[PlanWarning]


class _ServerSource(NamedTuple):
    """Hold an object with `mcpServers`, and the file that it is from."""

    tree: JsonObject
    data: bytes
    path: str


def find_servers(
    stores: Stores,
    options: CodeOptions,
    environ: Mapping[str, str],
    deny: Iterable[PermissionRule],
    values: Mapping[str, Any],
) -> FoundServers:
    """Return the servers of a session; a rule that denies all tools of one denies its start.

    Raises CubError for a file of `--mcp-config` that can't be read; others become warnings.
    """
    found = FoundServers([], [], [])
    configs: dict[str, McpServerConfig] = {}
    for source in _iter_sources(stores, options, environ, found) if values[_ENABLED] else ():
        servers = parse_servers(source.tree, source.data, source.path, environ)
        for name, config in servers.configs.items():
            configs.setdefault(name, config)
        found.warnings.extend(servers.warnings)
    denied = {rule.tool for rule in deny if not rule.pattern}
    for config in configs.values():
        if make_server_prefix(config.name) in denied:
            found.skipped.append(_skip(config.name, config.where, "a permission rule denies it"))
        else:
            found.configs.append(config)
    if found.configs and find_spec("mcp") is None:
        names = join_first([one.name for one in found.configs])
        hint = f"run `{find_installation().suggest_extra('mcp')}`, or set `code.mcp.enabled: false`"
        message = f"MCP servers need the package mcp, which is not installed: {names}"
        found.warnings.append(PlanWarning(message, hint=hint))
        found.configs.clear()
    return found


def add_servers(
    session: AgentSession, found: FoundServers, start_seconds: float
) -> Callable[[], list[ServerStatus]]:
    """Start servers, and add their tools to a session, which ends them when it is closed.

    Why some of it is missing becomes a warning. The servers run in the project's root, without the
    secrets that commands don't get. Returns what tells how they are doing, skipped ones last.
    """
    if not found.configs:
        return lambda: found.skipped
    from cub.agent.mcp.server_pool import McpServers  # imports asyncio
    from cub.agent.mcp.server_tools import make_server_tools

    context = session.toolbox.context
    environ = {**remove_secrets(context.environ), "CLAUDE_PROJECT_DIR": context.root.as_posix()}
    servers = McpServers(found.configs, ServerSurroundings(context.root, environ, start_seconds))
    session.resources.callback(servers.close)
    servers.wait_until_decided(context.stop)
    offered = make_server_tools(servers, session.toolbox.permissions.deny)
    found.warnings.extend(offered.warnings)
    tools = {**session.toolbox.tools, **offered.tools}
    session.toolbox = replace(session.toolbox, tools=tools)
    return lambda: [*servers.list_servers(), *found.skipped]


def _skip(name: str, where: str, reason: str) -> ServerStatus:
    return ServerStatus(name, where, "skipped", reason=reason)


def _iter_sources(
    stores: Stores,
    options: CodeOptions,
    environ: Mapping[str, str],
    found: FoundServers,
) -> Iterator[_ServerSource]:
    """Yield what has servers and is trusted, the one that counts most first."""
    for path in options.mcp_files:
        data = read_single_file(path, str(path))
        if data is None:
            raise CubError("there is no such file", where=str(path))
        source = _ServerSource(parse_server_object(data, str(path)), data, str(path))
        if "mcpServers" not in source.tree:
            hint = 'write {"mcpServers": {"NAME": {"command": …}}}'
            raise CubError("there are no mcpServers in it", where=str(path), hint=hint)
        yield source
    if options.strict_mcp_config:
        return
    folder = Path(environ.get("CLAUDE_CONFIG_DIR") or find_home() or "/")
    claude = _read_source(folder / _CLAUDE_FILE, found.warnings)
    root = stores.project.root.resolve().as_posix()
    if claude:
        yield claude._replace(tree=get_object(claude.tree, "projects", root))
    project = _read_source(stores.project.root / PROJECT_FILE, found.warnings, PROJECT_FILE)
    if project and _is_trusted(stores, options, project, found):
        yield project
    own = _read_source(get_user_config_path().parent / USER_FILE, found.warnings)
    yield from (source for source in (own, claude) if source)


def _read_source(path: Path, warnings: list[PlanWarning], name: str = "") -> _ServerSource | None:
    """Return what is in a file; None if it is not there, or can't be read, with a warning."""
    name = name or abbreviate_home(path)
    try:
        data = read_single_file(path, name)
        if data is None or b"mcpServers" not in data:
            return None
        return _ServerSource(parse_server_object(data, name), data, name)
    except CubError as error:
        message = f"its MCP servers are not started: {error.message}"
        warnings.append(PlanWarning(message, error.where or name, hint=error.hint))
        return None


def _is_trusted(
    stores: Stores, options: CodeOptions, project: _ServerSource, found: FoundServers
) -> bool:
    if options.trust:
        return True
    reason = load_trust(stores.root).explain_untrusted(AgentFile(PROJECT_FILE, project.data))
    names = list(get_object(project.tree, "mcpServers"))
    if reason and names:
        message = f"the file is {reason}" if reason == "not trusted" else f"the file {reason}"
        message = f"{message}, so its MCP servers are not started: {join_first(names)}"
        hint = "review the file, then run `cub trust`; `--trust` starts them for this session only"
        found.warnings.append(PlanWarning(message, PROJECT_FILE, hint=hint))
        found.skipped.extend(_skip(name, PROJECT_FILE, reason) for name in names)
    return not reason
