from __future__ import annotations

import json
from typing import Any

import pytest

from cub.agent.mcp.server_config import McpServerConfig, parse_server_file, parse_servers
from cub.edit.plan import PlanWarning
from cub.errors import CubError

ENVIRON = {"KEY": "k1", "EMPTY": "", "HOST": "wiki.example"}


def parse_text(text: str) -> list[McpServerConfig | PlanWarning]:
    return list(parse_servers(parse_server_file(text.encode(), "f.json"), ENVIRON))


def parse(entry: Any) -> McpServerConfig:
    (server,) = parse_text(json.dumps({"mcpServers": {"one": entry}}))
    assert isinstance(server, McpServerConfig)
    return server


def explain(entry: Any) -> str:
    (warning,) = parse_text(json.dumps({"mcpServers": {"one": entry}}))
    assert isinstance(warning, PlanWarning)
    assert warning.hint
    assert warning.location == "f.json:1"
    return warning.message.removeprefix("the MCP server one can't be used: ")


def test_a_command_has_its_variables_replaced_wherever_it_may_have_some() -> None:
    entry = {
        "command": "${HOST}",
        "args": ["--key=${KEY}", "${PORT:-80}", "$KEY", "${EMPTY}", "${EMPTY:-x}", "${A-b}"],
        "env": {"TOKEN": "Bearer ${KEY}", "KEY": "${NONE:-}"},
        "timeout": 1500,
    }
    config = parse(entry)
    assert config.argv == ("wiki.example", "--key=k1", "80", "$KEY", "", "", "${A-b}")
    assert config.env == {"TOKEN": "Bearer k1", "KEY": ""}
    assert config.call_seconds == 1.5


@pytest.mark.parametrize("kind", [{"type": "http"}, {"type": "streamable-http"}, {}])
def test_an_address_has_a_type_and_headers(kind: dict[str, str]) -> None:
    headers = {"Authorization": "Bearer ${KEY}"}
    config = parse({**kind, "url": "https://${HOST}/mcp", "headers": headers})
    assert config == McpServerConfig(
        "one",
        "f.json:1",
        url="https://wiki.example/mcp",
        headers={"Authorization": "Bearer k1"},
    )


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("npx", "it is not an object"),
        ({}, "command is missing"),
        ({"command": " "}, "command is missing"),
        ({"command": ["npx"]}, "command is not a string"),
        ({"command": "npx", "args": "-y"}, "args is not a list of strings"),
        ({"command": "npx", "args": [1]}, "args is not a list of strings"),
        ({"command": "npx", "env": ["A=b"]}, "env is not an object of strings"),
        ({"command": "npx", "env": {"A": 1}}, "env is not an object of strings"),
        ({"command": "npx", "env": {"A": "${NONE}"}}, "the variable NONE is not set"),
        ({"command": "npx", "timeout": True}, "timeout is not a number of milliseconds"),
        ({"command": "npx", "timeout": 0}, "timeout is not a number of milliseconds"),
        ({"command": "npx", "args": 1}, "args is not a list of strings"),
        ({"type": "ws", "url": "ws://x"}, "unknown type 'ws'"),
        ({"type": "sse", "url": "http://x"}, "unknown type 'sse'"),
        ({"type": "http"}, "url is missing"),
        ({"url": "file:///etc"}, "its url is not a web address"),
        ({"url": "${NONE}"}, "the variable NONE is not set"),
        ({"url": "http://x", "headers": {"A": None}}, "headers is not an object of strings"),
    ],
)
def test_a_server_that_cannot_be_used_is_a_warning_with_a_hint(entry: Any, message: str) -> None:
    assert explain(entry) == message


def test_one_that_cannot_be_used_costs_no_other_and_has_its_line() -> None:
    rows = parse_text(
        '{\n "mcpServers": {\n  "a": {"command": "x"},\n  "b\\u00e9": {},\n  "c" : {}\n }\n}'
    )
    config, first, second = rows
    assert isinstance(config, McpServerConfig)
    assert config.where == "f.json:3"
    assert isinstance(first, PlanWarning)
    assert isinstance(second, PlanWarning)
    assert (first.line, second.line) == (1, 5)  # the first name is written in another way


def test_one_that_is_switched_off_is_left_out() -> None:
    assert parse_text('{"mcpServers": {"a": {"command": "${NONE}", "disabled": true}}}') == []


@pytest.mark.parametrize(
    ("data", "where", "message"),
    [
        (b'{\n "a": 1,\n}', "f:3", "invalid JSON: a .* is "),
        (b"", "f:1", "invalid JSON: a value is missing"),
        (b"[1]", "f", "not a JSON object"),
        (b"[" * 100_000, "f", "invalid JSON"),
        (b"1" * 5000, "f", "invalid JSON"),
    ],
)
def test_a_file_that_is_none_is_an_error_with_its_line(
    data: bytes, where: str, message: str
) -> None:
    with pytest.raises(CubError, match=message) as caught:
        parse_server_file(data, "f")
    assert caught.value.where == where


def test_servers_that_are_no_object_are_a_warning() -> None:
    (warning,) = parse_text('{"mcpServers": []}')
    assert isinstance(warning, PlanWarning)
    assert warning.message == "mcpServers is not an object"


def test_a_file_may_have_a_byte_order_mark_and_no_servers() -> None:
    assert parse_text("\ufeff{}") == []
