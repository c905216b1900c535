"""Define what passes between an agent and the model server: requests, replies, and model turns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cub.json_values import get_object, list_texts

# Arguments of a shell tool that hold the command line; the first one that its schema has counts.
_COMMAND_ARGUMENTS = ("command", "cmd")
# Tools that run a shell line: of Claude Code, Codex (three), Gemini CLI and Qwen Code, opencode.
_SHELL_TOOLS = ("Bash", "exec_command", "shell_command", "shell", "run_shell_command", "bash")
_TEXT_KEYS = ("text", "content", "output", "parts", "functionResponse", "response")


class RecordedRequest(NamedTuple):
    """Hold a request for a model's reply.

    `path` has no query; `body` has the model and `stream` also where the path says them. `texts` is
    each text that reaches the model, in order: system, developer and user messages and results of
    tools. `tools` maps the name of a tool to the JSON Schema of its arguments. A side request is
    one for a title, a summary or a test of the connection.
    """

    path: str
    body: Mapping[str, Any]
    texts: tuple[str, ...]
    tools: Mapping[str, Mapping[str, Any]]
    is_side_request: bool

    @property
    def model(self) -> str:
        """Return the name of the model."""
        return str(self.body.get("model", ""))

    @property
    def is_streamed(self) -> bool:
        """Return whether it asks for a stream."""
        return self.body.get("stream") is True


class ScriptedCall(NamedTuple):
    """Hold a call of a tool; arguments in a text are sent as they are, which may be broken JSON."""

    tool: str
    arguments: Mapping[str, Any] | str


@dataclass(frozen=True)
class Reply:
    """Hold what the model answers: a text, then a shell command, then calls.

    A request without a tool for shell commands gets the command as text. `stop_reason` is
    max_tokens, refusal, or "" for the one that the content has. The Responses API has a kind of
    text for a refusal instead. `input_tokens` includes `cached_tokens`.
    """

    text: str = ""
    command: str = ""
    calls: Sequence[ScriptedCall] = ()
    stop_reason: str = ""
    input_tokens: int = 1000
    output_tokens: int = 50
    cached_tokens: int = 0


FINAL_REPLY = Reply("Done.")
SIDE_REPLY = Reply("Short note", input_tokens=10, output_tokens=2)


class ModelTurn(NamedTuple):
    """Hold what the APIs write of a reply, with its command as a call or in the text."""

    number: int
    model: str
    text: str
    calls: tuple[ScriptedCall, ...]
    reply: Reply


def build_turn(number: int, request: RecordedRequest, reply: Reply) -> ModelTurn:
    """Return a reply as a turn, with the command as a call of the request's own shell tool."""
    tool = next((name for name in _SHELL_TOOLS if name in request.tools), "") * bool(reply.command)
    text, calls = reply.text, list(reply.calls)
    if tool:
        arguments = _build_arguments(reply.command, request.tools[tool])
        calls.insert(0, ScriptedCall(tool, arguments))
    elif reply.command:
        text = f"{text}\n\n    {reply.command}".strip()
    return ModelTurn(number, request.model, text, tuple(calls), reply)


def _build_arguments(command: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments for a command, with a value for all others that the schema requires."""
    properties = get_object(schema, "properties")
    name = next((name for name in _COMMAND_ARGUMENTS if name in properties), "command")
    is_list = get_object(properties, name).get("type") == "array"
    others = {
        key: False if get_object(properties, key).get("type") == "boolean" else "Run a command"
        for key in list_texts(schema, "required")
        if key != name
    }
    return {name: ["bash", "-c", command] if is_list else command, **others}


def iterate_texts(value: Any) -> Iterator[str]:
    """Yield the texts of a message or a part of one, in any of the APIs."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from iterate_texts(item)
    elif isinstance(value, dict):
        for key in _TEXT_KEYS:
            yield from iterate_texts(value.get(key))


def list_message_texts(messages: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return all texts of messages except the model's own."""
    others = (one for one in messages if one.get("role") not in ("assistant", "model"))
    return tuple(text for one in others for text in iterate_texts(one))


def render_arguments(arguments: Mapping[str, Any] | str) -> str:
    """Return the arguments of a call as JSON."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def cut_text(text: str) -> Iterator[str]:
    """Yield a text in up to four pieces, as a model writes it bit by bit."""
    size = len(text) // 4 + 1
    yield from (text[start : start + size] for start in range(0, len(text), size))


def render_stream(events: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield server-sent events; those with a type have it as their name, too."""
    for event in events:
        name = f"event: {event['type']}\n" if "type" in event else ""
        yield f"{name}data: {json.dumps(event)}\n\n".encode()
