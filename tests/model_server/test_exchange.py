"""Shell tools of agents, and the texts of messages as they really come."""

from __future__ import annotations

from typing import Any

import pytest

from cub.model_server.apis import (
    parse_chat_request,
    parse_gemini_request,
    parse_messages_request,
    parse_responses_request,
)
from cub.model_server.exchange import Reply, build_turn
from tests.model_server.faults import read_system

STRING = {"type": "string"}


def _arguments(tool: str, schema: dict[str, Any]) -> tuple[str, Any]:
    tools = [{"name": "other"}, {"name": tool, "input_schema": schema}]
    request = parse_messages_request("/v1/messages", {"tools": tools})
    turn = build_turn(1, request, Reply(command="make"))
    return turn.calls[0]


@pytest.mark.parametrize(
    ("tool", "properties", "required", "arguments"),
    [
        ("Bash", {"command": STRING, "timeout": {"type": "number"}}, ["command"], {}),
        ("exec_command", {"cmd": STRING, "tty": {"type": "boolean"}}, ["cmd"], {"cmd": "make"}),
        ("shell", {"command": {"type": "array"}}, [], {"command": ["bash", "-c", "make"]}),
        ("bash", {"command": STRING, "description": STRING}, ["command", "description"],
         {"command": "make", "description": "Run a command"}),
        ("run_shell_command", {"command": STRING, "is_background": {"type": "boolean"}},
         ["command", "is_background"], {"command": "make", "is_background": False}),
    ],
)  # fmt: skip
def test_a_command_fits_the_schema_of_the_tool(
    tool: str, properties: dict[str, Any], required: list[str], arguments: dict[str, Any]
) -> None:
    schema = {"type": "object", "properties": properties, "required": required}
    assert _arguments(tool, schema) == (tool, arguments or {"command": "make"})


def test_a_tool_without_a_schema_gets_a_command() -> None:
    assert _arguments("Bash", {}) == ("Bash", {"command": "make"})


def test_messages_of_anthropic() -> None:
    """Claude has system messages among the others; results of tools are texts or parts."""
    call = {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "own"}}
    results = [
        {"type": "tool_result", "tool_use_id": "1", "content": "result"},
        {"type": "tool_result", "tool_use_id": "2", "content": [{"type": "text", "text": "part"}]},
    ]
    messages = [
        {"role": "user", "content": "user"},
        {"role": "assistant", "content": [{"type": "text", "text": "own"}, call]},
        {"role": "system", "content": "late"},
        {"role": "user", "content": results},
    ]
    request = parse_messages_request("/v1/messages", {"system": "system", "messages": messages})
    assert request.texts == ("system", "user", "late", "result", "part")
    assert read_system(request) == "system\n\nlate"


def test_messages_of_responses() -> None:
    items = [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "d"}]},
        {"role": "user", "content": "user"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "o"}]},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "1"},
        {"type": "function_call_output", "call_id": "1", "output": "result"},
        {"type": "function_call_output", "call_id": "2", "output": [{"text": "part"}]},
    ]
    request = parse_responses_request("/responses", {"instructions": "i", "input": items})
    assert request.texts == ("i", "d", "user", "result", "part")
    assert read_system(request) == "i\n\nd"
    assert parse_responses_request("/responses", {"input": "plain"}).texts == ("plain",)


def test_messages_of_chat() -> None:
    messages = [
        {"role": "system", "content": "system"},
        {"role": "user", "content": [{"type": "text", "text": "user"}]},
        {"role": "assistant", "content": "own", "tool_calls": []},
        {"role": "tool", "content": "result"},
    ]
    request = parse_chat_request("/chat/completions", {"messages": messages})
    assert request.texts == ("system", "user", "result")


def test_messages_of_gemini() -> None:
    response = {"name": "run_shell_command", "response": {"output": "result"}}
    contents = [
        {"role": "user", "parts": [{"text": "user"}]},
        {"role": "model", "parts": [{"text": "own"}]},
        {"role": "user", "parts": [{"functionResponse": response}]},
    ]
    system = {"parts": [{"text": "system"}]}
    body = {"systemInstruction": system, "contents": contents}
    request = parse_gemini_request("/v1beta/models/gemini-2.5-pro:generateContent", body)
    assert request.texts == ("system", "user", "result")
    assert (request.model, request.is_streamed) == ("gemini-2.5-pro", False)


def test_side_requests_of_agents() -> None:
    tools = [{"name": "Bash", "input_schema": {}}]
    user = {"role": "user", "content": "[SUGGESTION MODE: Suggest what the user might type]"}
    probe = {"tools": tools, "max_tokens": 1}
    assert parse_messages_request("", probe).is_side_request
    assert parse_messages_request("", {"tools": tools, "messages": [user]}).is_side_request
    assert not parse_messages_request("", {"tools": tools}).is_side_request
    summary = {"role": "system", "content": "*Briefly* summarize this partial conversation"}
    assert parse_chat_request("", {"messages": [summary]}).is_side_request
    work = {"role": "system", "content": "Act as an expert software developer."}
    assert not parse_chat_request("", {"messages": [work]}).is_side_request
