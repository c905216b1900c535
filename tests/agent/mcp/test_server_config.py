from __future__ import annotations

import json
from typing import Any

import pytest

from cub.agent.mcp.server_config import McpServerConfig, parse_server_object, parse_servers
from cub.errors import CubError

ENVIRON = {"KEY": "k1", "EMPTY": "", "HOST": "wiki.example"}


def parse(entry: Any, name: str = "one") -> McpServerConfig:
    data = json.dumps({"mcpServers": {name: entry}}).encode()
    found = parse_servers(json.loads(data), data, "f.json", ENVIRON)
    assert found.warnings == []
    return found.configs[name]


def explain(entry: Any) -> str:
    data = json.dumps({"mcpServers": {"one": entry}}).encode()
    found = parse_servers(json.loads(data), data, "f.json", ENVIRON)
    assert found.configs == {}
    (warning,) = found.warnings
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


@pytest.mark.parametrize(
    ("entry", "is_sse"),
    [
        ({"type": "http", "url": "https://${HOST}/mcp"}, False),
        ({"type": "streamable-http", "url": "https://wiki.example/mcp"}, False),
        ({"url": "https://wiki.example/mcp"}, False),
        ({"type": "sse", "url": "https://wiki.example/mcp"}, True),
    ],
)
def test_an_address_has_a_type_and_headers(entry: dict[str, Any], is_sse: bool) -> None:
    config = parse({**entry, "headers": {"Authorization": "Bearer ${KEY}"}})
    assert config == McpServerConfig(
        "one",
        "f.json:1",
        url="https://wiki.example/mcp",
        is_sse=is_sse,
        headers={"Authorization": "Bearer k1"},
    )


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("npx", "it is not an object"),
        ({}, "command is missing"),
        ({"command": " "}, "command is missing"),
        ({"command": ["npx"]}, "command is missing"),
        ({"command": "npx", "args": "-y"}, "args is not a list of strings"),
        ({"command": "npx", "args": [1]}, "args is not a list of strings"),
        ({"command": "npx", "env": ["A=b"]}, "env is not an object of strings"),
        ({"command": "npx", "env": {"A": 1}}, "env is not an object of strings"),
        ({"command": "npx", "env": {"A": "${NONE}"}}, "the variable NONE is not set"),
        ({"command": "npx", "timeout": True}, "timeout is not a number of milliseconds"),
        ({"command": "npx", "timeout": 0}, "timeout is not a number of milliseconds"),
        ({"type": "ws", "url": "ws://x"}, "unknown type 'ws'"),
        ({"type": "http"}, "url is missing"),
        ({"url": "file:///etc"}, "its url is not a web address"),
        ({"url": "${NONE}"}, "the variable NONE is not set"),
        ({"url": "http://x", "headers": {"A": None}}, "headers is not an object of strings"),
    ],
)
def test_a_server_that_cannot_be_used_is_a_warning_with_a_hint(entry: Any, message: str) -> None:
    assert explain(entry) == message


def test_one_that_cannot_be_used_costs_no_other_and_has_its_line() -> None:
    data = b'{\n "mcpServers": {\n  "a": {"command": "x"},\n  "b\\u00e9": {},\n  "c" : {}\n }\n}'
    found = parse_servers(parse_server_object(data, "f"), data, "f", {})
    assert {name: config.where for name, config in found.configs.items()} == {"a": "f:3"}
    assert [warning.line for warning in found.warnings] == [
        1,
        5,
    ]  # one name is written in another way


def test_one_that_is_switched_off_is_left_out() -> None:
    tree = {"mcpServers": {"a": {"command": "x", "disabled": True}, "b": {"command": "y"}}}
    assert list(parse_servers(tree, b"", "f", {}).configs) == ["b"]


@pytest.mark.parametrize(
    ("data", "where", "message"),
    [
        (b'{\n "a": 1,\n}', "f:3", "not valid JSON: expecting property name"),
        (b"", "f:1", "not valid JSON: expecting value"),
        (b"[1]", "f", "not a JSON object"),
        (b"[" * 100_000, "f", "not valid JSON"),
        (b"1" * 5000, "f", "not valid JSON"),
    ],
)
def test_a_file_that_is_none_is_an_error_with_its_line(
    data: bytes, where: str, message: str
) -> None:
    with pytest.raises(CubError, match=message) as caught:
        parse_server_object(data, "f")
    assert caught.value.where == where


def test_servers_that_are_no_object_are_a_warning() -> None:
    (warning,) = parse_servers({"mcpServers": []}, b"", "f", {}).warnings
    assert warning.message == "mcpServers is not an object"


def test_a_file_may_have_a_byte_order_mark_and_no_servers() -> None:
    assert parse_servers(parse_server_object(b"\xef\xbb\xbf{}", "f"), b"", "f", {}).configs == {}
