"""Define what passes between an agent and the model server: requests, replies, and model turns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cub.json_values import get_object, list_texts

# Arguments of a shell tool that hold the command line; the first one that its schema has counts.
_COMMAND_ARGUMENTS = ("command", "cmd")
# Tools that run a shell line: of Claude Code, Codex (three), Gemini CLI and Qwen Code, opencode.
_SHELL_TOOLS = ("Bash", "exec_command", "shell_command", "shell", "run_shell_command", "bash")
_TEXT_KEYS = ("text", "content", "output", "parts", "functionResponse", "response")
_FINAL_TEXT = "Done."
_SIDE_TEXT = "Short note"


class RecordedRequest(NamedTuple):
    """Hold a request for a model's reply.

    `api` is anthropic, responses, chat or gemini; `path` has no query. `texts` is each text that
    reaches the model, in order: system, developer and user messages and results of tools, and
    `system` the first two of these as one text. `tools` maps the name of a tool to the JSON Schema
    of its arguments. A side request is one for a title, a summary or a test of the connection.
    `headers` has lower-case names, and no secrets.
    """

    api: str
    path: str
    model: str
    system: str
    texts: tuple[str, ...]
    tools: Mapping[str, Mapping[str, Any]]
    is_side_request: bool
    is_streamed: bool
    body: Mapping[str, Any]
    headers: Mapping[str, str]

    def count_occurrences(self, text: str) -> int:
        """Return how often a text reached the model with this request."""
        return sum(part.count(text) for part in self.texts)


class ScriptedCall(NamedTuple):
    """Hold a call of a tool; arguments in a text are sent as they are, which may be broken JSON."""

    tool: str
    arguments: Mapping[str, Any] | str


class Reply(NamedTuple):
    """Hold what the model answers: a text, then a shell command, then calls; or an error.

    A request without a tool for shell commands gets the command as text. A status other than 200
    makes an error with `message`, in the API's own shape. A reply that `hangs` sends no byte until
    the server is closed. `input_tokens` includes `cached_tokens`.

    `stop_reason` is max_tokens, refusal, or "" for the one that the content has. The Responses API
    has a kind of text for a refusal instead. `body` is sent instead of all that. `deliver` takes
    the events of a stream and returns the pieces that are written, each at once: it may cut them,
    add some, or wait. If it raises OSError, the connection is closed in the middle of the reply, or
    before one that is no stream.
    """

    text: str = ""
    command: str = ""
    calls: Sequence[ScriptedCall] = ()
    stop_reason: str = ""
    status: int = 200
    headers: Mapping[str, str] = {}
    message: str = ""
    hangs: bool = False
    input_tokens: int = 1000
    output_tokens: int = 50
    cached_tokens: int = 0
    body: str = ""
    deliver: Callable[[Iterable[bytes]], Iterable[bytes]] = iter


FINAL_REPLY = Reply(_FINAL_TEXT)
SIDE_REPLY = Reply(_SIDE_TEXT, input_tokens=10, output_tokens=2)


class ModelTurn(NamedTuple):
    """Hold a reply as the APIs write it."""

    number: int
    model: str
    text: str
    calls: tuple[ScriptedCall, ...]
    stop_reason: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int


def build_turn(number: int, request: RecordedRequest, reply: Reply) -> ModelTurn:
    """Return a reply as a turn, with the command as a call of the request's own shell tool."""
    tool = next((name for name in _SHELL_TOOLS if name in request.tools), "") * bool(reply.command)
    text, calls = reply.text, list(reply.calls)
    if tool:
        arguments = _build_arguments(reply.command, request.tools[tool])
        calls.insert(0, ScriptedCall(tool, arguments))
    elif reply.command:
        text = f"{text}\n\n    {reply.command}".strip()
    return ModelTurn(
        number,
        request.model,
        text,
        tuple(calls),
        reply.stop_reason,
        reply.input_tokens,
        reply.output_tokens,
        reply.cached_tokens,
    )


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


def list_message_texts(
    messages: Iterable[Mapping[str, Any]],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the texts of system and developer messages, and all texts except the model's own."""
    kinds = [(str(m.get("role")), text) for m in messages for text in iterate_texts(m)]
    return (
        tuple(text for role, text in kinds if role in ("system", "developer")),
        tuple(text for role, text in kinds if role not in ("assistant", "model")),
    )


def render_arguments(arguments: Mapping[str, Any] | str) -> str:
    """Return the arguments of a call as JSON."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def cut_text(text: str) -> Iterator[str]:
    """Yield a text in up to four pieces, as a model writes it bit by bit."""
    size = len(text) // 4 + 1
    yield from (text[start : start + size] for start in range(0, len(text), size))


def render_stream(events: Iterable[Mapping[str, Any]], named: bool) -> list[bytes]:
    """Return server-sent events; `named` ones have their type as name too."""
    return [
        (f"event: {event['type']}\n" if named else "").encode()
        + b"data: "
        + json.dumps(event).encode()
        + b"\n\n"
        for event in events
    ]
