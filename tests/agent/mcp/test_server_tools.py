from __future__ import annotations

import json
import re
import sys
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cub.agent.conversation import ImageBlock
from cub.agent.mcp import server_tools
from cub.agent.mcp.server_config import McpServerConfig, ServerState, ServerStatus
from cub.agent.mcp.server_tools import make_server_tools
from cub.agent.mcp.servers import McpServers
from cub.agent.model import ToolDefinition
from cub.agent.permission_rules import parse_rule
from cub.agent.permissions import Permissions
from cub.agent.tools.tool import Tool, ToolContext
from cub.agent.tools.tool_arguments import ToolError
from cub.edit.plan import PlanWarning
from cub.processes.command import StopRequest
from tests.agent.mcp.pools import WHERE, make_config, open_servers

pytest.importorskip("mcp", reason="the extra mcp is not installed")
from tests.agent.mcp.package_server import PNG

SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}}
PACKAGE_SERVER = Path(__file__).parent / "package_server.py"


class ListedServers:
    """Lists servers as `McpServers` does, and has no connection."""

    def __init__(self, *rows: ServerStatus) -> None:
        self.rows = list(rows)

    def list_servers(self) -> list[ServerStatus]:
        return self.rows


def list_tools(*names: str, schema: Mapping[str, Any] = SCHEMA) -> tuple[ToolDefinition, ...]:
    return tuple(ToolDefinition(name, f"Does {name}.", schema) for name in names)


def make_row(
    name: str,
    tools: Iterable[ToolDefinition] = (),
    state: ServerState = "connected",
    reason: str = "",
) -> ServerStatus:
    return ServerStatus(name, WHERE, state, tuple(tools), reason)


class OfferedTools(NamedTuple):
    tools: dict[str, Tool]
    warnings: list[PlanWarning]


def offer(*rows: ServerStatus, deny: Iterable[str] = ()) -> OfferedTools:
    servers, warnings = cast("McpServers", ListedServers(*rows)), list[PlanWarning]()
    tools = make_server_tools(servers, [parse_rule(text) for text in deny], warnings)
    return OfferedTools(tools, warnings)


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ToolContext]:
    stop = StopRequest()
    yield ToolContext(tmp_path.resolve(), tmp_path.resolve(), {}, stop)
    stop.close()


@pytest.mark.parametrize(
    ("server", "tool", "name", "rule"),
    [
        ("tickets", "ask", "mcp__tickets__ask", "mcp__tickets"),
        ("my-tickets", "get-one", "mcp__my-tickets__get-one", "mcp__my-tickets__*"),
        ("my tickets.de", "ask/all", "mcp__my_tickets_de__ask_all", "mcp__my_tickets_de"),
        ("a__b_", "_c__d", "mcp__a_b___c__d", "mcp__a_b"),
        ("é", "é", "mcp__server___", "mcp__server"),
    ],
)
def test_a_tool_has_a_name_that_services_take_and_rules_of_its_server(
    server: str, tool: str, name: str, rule: str, context: ToolContext
) -> None:
    (made,) = offer(make_row(server, list_tools(tool))).tools.values()
    assert made.name == name
    assert Permissions().decide(made, {}, context).answer == "ask"
    for allow in (rule, name):
        permissions = Permissions(allow=[parse_rule(allow)])
        assert permissions.decide(made, {}, context).answer == "allow"
    assert offer(make_row(server, list_tools(tool)), deny=[rule]).tools == {}
    assert offer(make_row(server, list_tools(tool)), deny=["mcp__other"]).tools != {}


@settings(max_examples=30)
@given(st.lists(st.tuples(st.text(max_size=70), st.text(max_size=70)), max_size=4, unique=True))
def test_names_are_valid_different_and_the_same_each_time(pairs: list[tuple[str, str]]) -> None:
    rows = [make_row(server, list_tools(tool)) for server, tool in pairs]
    tools = offer(*rows).tools
    assert len(tools) == len(pairs)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in tools)
    assert all(tool.name == name for name, tool in tools.items())
    assert list(offer(*rows).tools) == list(tools)


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "string"}, "its arguments are not an object"),
        ({}, "its arguments are not an object"),
        ({"type": "object", "properties": {"a": {"type": "text"}}}, "its schema is not valid"),
        ({"type": "object", "properties": ["a"]}, "its schema is not valid"),
        ({"type": "object", "properties": {"a b": {}}}, "an argument is called 'a b'"),
    ],
)
def test_a_tool_that_no_service_takes_is_left_out_with_a_warning(
    schema: dict[str, Any], problem: str
) -> None:
    rows = make_row("one", [*list_tools("bad", schema=schema), *list_tools("good")])
    offered = offer(rows)
    assert list(offered.tools) == ["mcp__one__good"]
    (warning,) = offered.warnings
    start = "the MCP server one has tools that can't be used: 'bad' ("
    assert warning.message.startswith(start + problem)
    assert warning.location == WHERE


def test_a_deeply_nested_schema_is_left_out() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(2_000):
        schema = {"type": "object", "properties": {"a": schema}}
    assert (
        "its schema" in offer(make_row("one", list_tools("x", schema=schema))).warnings[0].message
    )


def test_a_schema_is_passed_on_but_for_what_no_service_takes() -> None:
    schema = {"type": "object", "anyOf": [{"required": ["a"]}], "$defs": {"x": {}}}
    (tool,) = offer(make_row("one", list_tools("x", schema=schema))).tools.values()
    assert tool.schema == {"type": "object", "$defs": {"x": {}}, "properties": {}}


def test_a_long_description_is_cut_and_a_question_shows_all_arguments() -> None:
    tools = [ToolDefinition("ask", "x" * 5_000, SCHEMA)]
    (tool,) = offer(make_row("one", tools)).tools.values()
    assert len(tool.definition.description) == 2_000
    assert tool.get_subject({"a": [1], "b": "é\ud800"}) == '{"a": [1], "b": "é�"}'
    assert tool.get_subject({}) == ""


def test_servers_that_are_not_connected_are_warnings_unless_they_were_skipped() -> None:
    offered = offer(
        make_row("one", state="failed", reason="it exited"),
        make_row("three", state="skipped", reason="not trusted"),
    )
    assert [warning.message for warning in offered.warnings] == [
        "the MCP server one is not connected: it exited",
    ]


def test_many_tools_are_bounded_and_their_size_is_said() -> None:
    names = [f"tool{number}" for number in range(server_tools.MAX_TOOLS + 2)]
    offered = offer(make_row("one", list_tools(*names)))
    assert len(offered.tools) == server_tools.MAX_TOOLS
    (warning,) = offered.warnings
    left_out = "mcp__one__tool100, mcp__one__tool101"
    assert warning.message == f"only 100 tools of MCP servers are offered, without {left_out}"
    large = {**SCHEMA, "description": "one two " * 2_000}
    (warning,) = offer(make_row("one", list_tools("a", "b", "c", schema=large))).warnings
    assert re.fullmatch(
        r"3 tools of MCP servers add about 1\d,\d{3} tokens to each request", warning.message
    )
    assert "--deny mcp__SERVER" in warning.hint


def test_a_server_of_the_package_shows_what_models_can_see(context: ToolContext) -> None:
    config = McpServerConfig("one", WHERE, (sys.executable, str(PACKAGE_SERVER)))
    with open_servers(context.root, config) as servers:
        tools = make_server_tools(servers, [], [])
        output = tools["mcp__one__show"].bind({})(context)
        assert output.images == (ImageBlock("image/png", b64encode(PNG).decode()),)
        assert output.text.splitlines() == [
            "first",
            "[image/png, 28 bytes]",
            "[an image that models can't be shown, 0 bytes]",
            "[an image that models can't be shown, 6 bytes]",
            "[audio/wav, which can't be shown]",
            "[log: file:///log]: all of it",
            "[file:///a]",
            "a line",
            "[file:///b: a/b, 3 bytes]",
        ]
        assert tools["mcp__one__add"].bind({"first": 1, "second": 2})(context).text == "3"
        with pytest.raises(ToolError, match="validation error"):
            tools["mcp__one__add"].bind({"first": "x"})(context)


def test_a_failure_is_an_error_and_a_secret_is_masked(context: ToolContext) -> None:
    with open_servers(context.root, make_config("one")) as servers:
        tools = make_server_tools(servers, [], [])
        with pytest.raises(ToolError, match="there is no such ticket"):
            tools["mcp__one__fail"].bind({})(context)
        secret = "ghp_" + "a1B2" * 9
        shown = tools["mcp__one__echo"].bind({"text": f"token {secret}"})(context).text
        assert "token" in json.loads(shown)["text"]
        assert secret not in shown
        long = tools["mcp__one__echo"].bind({"text": "x" * 250_000})(context).text
        assert len(long) < 201_000
