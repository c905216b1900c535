"""`cub code` with the tools of a real MCP server."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.agent.mcp.pools import RAW
from tests.conftest import Cub

pytest.importorskip("mcp", reason="the extra mcp is not installed")

SCRIPT = """\
conversations:
  - replies:
      - calls: [{mcp__tickets__echo: {text: "one"}}]
      - text: It says one.
"""


@pytest.fixture
def shop(project: Path) -> Path:
    """A project with a server, and a model that calls a tool of it."""
    server = {"command": sys.executable, "args": ["-I", "-S", str(RAW), "echo"]}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"tickets": server}}))
    (project / "replies.yaml").write_text(SCRIPT)
    return project


@pytest.mark.usefixtures("shop")
def test_a_trusted_server_is_called_once_a_rule_allows_it(cub: Cub) -> None:
    words = ("code", "--model", "scripted/replies.yaml", "-p", "Go.", "--allow", "mcp__tickets")
    done = cub(*words, "--output-format", "stream-json")
    assert (
        ".mcp.json: the file is not trusted, so its MCP servers are not started: tickets"
        in done.err
    )
    assert "there is no tool 'mcp__tickets__echo'" in done.out
    assert cub("trust").code == 0
    done = cub(*words)
    assert (done.code, done.out) == (0, "It says one.\n")
    assert done.err.splitlines()[0] == 'mcp__tickets__echo {"text": "one"}'


@pytest.mark.usefixtures("shop")
def test_a_call_without_a_rule_is_denied_and_the_session_goes_on(cub: Cub) -> None:
    words = ("code", "--model", "scripted/replies.yaml", "-p", "Go.", "--allow", "mcp__tickets__x")
    done = cub(*words, "--strict-mcp-config", "--mcp-config", ".mcp.json")
    assert (done.code, done.out) == (0, "It says one.\n")
    assert "not allowed: mcp__tickets__echo needs approval" in done.err


def test_a_server_that_nobody_can_allow_is_not_started(shop: Path, cub: Cub) -> None:
    server = {"command": "touch", "args": [str(shop / "started")]}
    (shop / "other.json").write_text(json.dumps({"mcpServers": {"tickets": server}}))
    words = ("code", "--model", "scripted/replies.yaml", "-p", "Go.", "--mcp-config", "other.json")
    assert "no rule allows their calls and there is no terminal" in cub(*words).err
    assert not (shop / "started").exists()
    assert "not connected: it exited" in cub(*words, "--allow", "mcp__tickets").err
    assert (shop / "started").exists()
