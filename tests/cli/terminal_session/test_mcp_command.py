from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from cub.actions.mcp_servers import SessionServers
from cub.agent.mcp.server_config import ServerStatus
from cub.agent.model import ToolDefinition
from cub.cli.terminal_session.session_commands import show_servers
from cub.cli.terminal_session.terminal_state import TerminalState
from tests.agent.mcp.pools import RAW
from tests.cli.typed_session import open_session

TOOL = ToolDefinition("ask", "", {})


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], ["There are no MCP servers."]),
        (
            [
                ServerStatus("tickets", ".mcp.json:3", "connected", (TOOL,)),
                ServerStatus("wiki", "~/.claude.json:8", "failed", reason="it exited"),
                ServerStatus("two", ".mcp.json", "skipped", reason="not trusted"),
            ],
            ["1 tool ", "it exited", "not trusted", ".mcp.json:3", "skipped"],
        ),
    ],
)
def test_servers_are_listed_with_what_they_lack(
    rows: list[ServerStatus], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    prepared = SimpleNamespace(servers=SessionServers(skipped=rows))
    show_servers(cast("TerminalState", SimpleNamespace(prepared=prepared)), "")
    shown = "".join(capsys.readouterr())
    assert all(word in shown for word in words)
    assert len(shown.splitlines()) == max(1, len(rows))


def test_a_session_has_one_server_whatever_model_it_takes(project: Path, home: Path) -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    server = {"command": sys.executable, "args": ["-I", "-S", str(RAW), "log"]}
    (project / "servers.json").write_text(json.dumps({"mcpServers": {"tickets": server}}))
    (project / "replies.yaml").write_text(
        "conversations: [{when: Again, replies: [{text: Yes.}]}, {replies: [{text: Hi.}]}]"
    )
    words = ("code", "--model", "scripted/replies.yaml", "--mcp-config", "servers.json")
    with open_session(*words, cwd=project, home=home) as session:
        session.send("Hello.", "Hi.")
        session.send("/mcp", "connected  11 tools  servers.json:1")
        session.send("/model scripted/replies.yaml", "model scripted/replies.yaml")
        assert (project / "starts").read_text() == "x"
        session.send("/clear", "New conversation.")
        session.send("Again.", "Yes.")
        assert (project / "starts").read_text() == "xx"
        assert (project / "ends").read_text() == "x"
        session.type("/quit\r")
        assert session.finish() == 0
    assert (project / "ends").read_text() == "xx"


def test_only_the_first_prompt_waits_for_a_server_that_hangs(project: Path, home: Path) -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    server = {"command": sys.executable, "args": ["-I", "-S", str(RAW), "hang-start"]}
    (project / "servers.json").write_text(json.dumps({"mcpServers": {"tickets": server}}))
    (project / "replies.yaml").write_text("conversations: [{replies: [{text: Hi.}]}]")
    words = ("code", "--model", "scripted/replies.yaml", "--mcp-config", "servers.json")
    with open_session(*words, cwd=project, home=home) as session:
        session.send("/mcp", "tickets  starting")
        session.type("Hello.\r")
        session.type("\x03", "waiting for MCP servers: tickets")
        session.wait_for("The agent stopped: cancelled")
        session.wait_for_prompt()
        session.type("/quit\r")
        assert session.finish() == 0
