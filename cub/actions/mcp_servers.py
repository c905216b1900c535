"""Find the MCP servers of a session, and start those that may run.

--mcp-config FILE             | a name that comes first counts
~/.claude.json, this project  |
.mcp.json, if it is trusted   |
~/.claude.json                v
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cub.actions.command_options import CodeOptions
from cub.actions.tasks.stores import Stores
from cub.agent.events import ServersConnect
from cub.agent.loop import AgentSession
from cub.agent.mcp.server_config import (
    SERVERS_HINT,
    McpServerConfig,
    ServerFile,
    ServerStatus,
    ServerSurroundings,
    make_server_prefix,
    parse_server_file,
    parse_servers,
)
from cub.agent.permissions import Permissions
from cub.agent.tools.command_environment import remove_secrets
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.files.single_file import read_single_file
from cub.installation import find_installation
from cub.json_values import get_object
from cub.project.config_layers import abbreviate_home
from cub.project.executable_config import AgentFile
from cub.project.project import find_home
from cub.project.trust_store import load_trust
from cub.text import join_first

if TYPE_CHECKING:
    from cub.agent.mcp.servers import McpServers

PROJECT_FILE = ".mcp.json"
_CLAUDE_FILE = ".claude.json"
_ENABLED = "code.mcp.enabled"
_NOT_ALLOWED = "no rule allows their calls and there is no terminal to ask on"


@dataclass(slots=True)
class SessionServers:
    """Hold the servers to start, those that are not, and what a person should know of them."""

    configs: list[McpServerConfig] = field(default_factory=list)
    skipped: list[ServerStatus] = field(default_factory=list)
    warnings: list[PlanWarning] = field(default_factory=list)
    _started: McpServers | None = None
    _is_connected: bool = False

    def skip(self, name: str, where: str, reason: str) -> None:
        """Note that a server is not started."""
        self.skipped.append(ServerStatus(name, where, "skipped", reason=reason))

    def list_servers(self) -> list[ServerStatus]:
        """Return how each server is doing, skipped ones last."""
        return [*(self._started.list_servers() if self._started else ()), *self.skipped]

    def start(self, session: AgentSession, start_seconds: float) -> None:
        """Start servers beside a session, which ends them when it is closed.

        They run in the project's root, without the secrets that commands don't get.
        """
        if not self.configs:
            return
        from cub.agent.mcp.servers import McpServers  # imports asyncio

        context = session.toolbox.context
        environ = {**remove_secrets(context.environ), "CLAUDE_PROJECT_DIR": context.root.as_posix()}
        surroundings = ServerSurroundings(context.root, environ, start_seconds)
        self._started = McpServers(self.configs, surroundings)
        session.resources.callback(self._started.close)

    def connect(self, session: AgentSession) -> Iterator[ServersConnect]:
        """Wait until each server is connected or has failed, and add their tools to the session.

        A stop ends the wait; the next call goes on with it.
        """
        servers, stop = self._started, session.toolbox.context.stop
        if servers is None or self._is_connected:
            return
        from cub.agent.mcp.server_tools import make_server_tools

        rows = servers.list_servers()
        if names := tuple(row.name for row in rows if row.state == "starting"):
            yield ServersConnect(names)
        servers.wait_until_decided(stop)
        if stop.is_requested:
            return
        self._is_connected = True
        warnings = list[PlanWarning]()
        tools = make_server_tools(servers, session.toolbox.permissions.deny, warnings)
        session.toolbox = replace(session.toolbox, tools={**session.toolbox.tools, **tools})
        yield ServersConnect((), tuple(warnings))


def find_servers(
    stores: Stores,
    options: CodeOptions,
    environ: Mapping[str, str],
    permissions: Permissions,
    values: Mapping[str, Any],
    *,
    can_ask: bool,
) -> SessionServers:
    """Return the servers of a session, without those whose every call would be denied.

    `can_ask` tells whether a person can allow calls. Raises CubError for a file of `--mcp-config`
    that can't be read; others become warnings.
    """
    found, configs = SessionServers(), dict[str, McpServerConfig]()
    for file in _iter_files(stores, options, environ, found) if values[_ENABLED] else ():
        for row in parse_servers(file, environ):
            if isinstance(row, McpServerConfig):
                configs.setdefault(row.name, row)
            else:
                found.warnings.append(row)
    for config in configs.values():
        if reason := _explain_denial(config, permissions, can_ask=can_ask):
            found.skip(config.name, config.where, reason)
        else:
            found.configs.append(config)
    if unusable := [row.name for row in found.skipped if row.reason == _NOT_ALLOWED]:
        message = f"MCP servers are not started, because {_NOT_ALLOWED}: {join_first(unusable)}"
        hint = "allow a server, such as with `--allow mcp__SERVER`"
        found.warnings.append(PlanWarning(message, hint=hint))
    if found.configs and find_spec("mcp") is None:
        names = join_first([one.name for one in found.configs])
        hint = f"run `{find_installation().suggest_extra('mcp')}`, or set `code.mcp.enabled: false`"
        message = f"MCP servers need the package mcp, which is not installed: {names}"
        found.warnings.append(PlanWarning(message, hint=hint))
        found.configs.clear()
    return found


def _explain_denial(config: McpServerConfig, permissions: Permissions, *, can_ask: bool) -> str:
    """Return why no call of a server's tools would be carried out; "" if one may be."""
    prefix = make_server_prefix(config.name)
    if any(rule.tool == prefix for rule in permissions.deny):
        return "a permission rule denies it"
    if can_ask or permissions.mode == "bypass":
        return ""
    is_allowed = any(f"{rule.tool}__".startswith(f"{prefix}__") for rule in permissions.allow)
    return "" if is_allowed else _NOT_ALLOWED


def _iter_files(
    stores: Stores, options: CodeOptions, environ: Mapping[str, str], found: SessionServers
) -> Iterator[ServerFile]:
    """Yield what has servers and is trusted, the one that counts most first."""
    for path in options.mcp_files:
        data = read_single_file(path, str(path))
        if data is None:
            raise CubError("there is no such file", where=str(path))
        file = parse_server_file(data, str(path))
        if "mcpServers" not in file.tree:
            message = "there are no mcpServers in it"
            raise CubError(message, where=str(path), hint=SERVERS_HINT)
        yield file
    if options.strict_mcp_config:
        return
    folder = Path(environ.get("CLAUDE_CONFIG_DIR") or find_home() or "/")
    claude = _read_file(folder / _CLAUDE_FILE, found.warnings)
    if claude:
        root = stores.project.root.resolve().as_posix()
        yield claude._replace(tree=get_object(claude.tree, "projects", root))
    project = _read_file(stores.project.root / PROJECT_FILE, found.warnings, PROJECT_FILE)
    if project and _is_trusted(stores, options, project, found):
        yield project
    if claude:
        yield claude


def _read_file(path: Path, warnings: list[PlanWarning], name: str = "") -> ServerFile | None:
    """Return what is in a file; None if it is not there, or can't be read, with a warning."""
    name = name or abbreviate_home(path)
    try:
        data = read_single_file(path, name)
        if data is None or b"mcpServers" not in data:
            return None
        return parse_server_file(data, name)
    except CubError as error:
        message = f"its MCP servers are not started: {error.message}"
        warnings.append(PlanWarning(message, error.where or name, hint=error.hint))
        return None


def _is_trusted(
    stores: Stores, options: CodeOptions, project: ServerFile, found: SessionServers
) -> bool:
    file = AgentFile(PROJECT_FILE, project.data)
    reason = "" if options.trust else load_trust(stores.root).explain_untrusted(file)
    names = list(get_object(project.tree, "mcpServers"))
    if reason and names:
        message = f"the file is {reason}" if reason == "not trusted" else f"the file {reason}"
        message = f"{message}, so its MCP servers are not started: {join_first(names)}"
        hint = "review the file, then run `cub trust`; `--trust` starts them for this session only"
        found.warnings.append(PlanWarning(message, PROJECT_FILE, hint=hint))
        for name in names:
            found.skip(name, PROJECT_FILE, reason)
    return not reason
