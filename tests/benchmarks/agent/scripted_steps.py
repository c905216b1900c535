"""What a scripted model does step by step, with whatever tools an agent has; what came of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from cub.model_server.exchange import RecordedRequest, ScriptedCall
from tests.benchmarks.agent.peers import Agent, Run, make_last_reply
from tests.model_server.faults import Reply

Step = Reply | Callable[[RecordedRequest], Reply]
_NAMES = {
    "path": ("file_path", "filePath", "path"),
    "old": ("old_string", "oldString", "oldText"),
    "new": ("new_string", "newString", "newText"),
    "content": ("content",),
}


class NotOfferedError(Exception):
    """The agent has nothing that the scenario could try."""


def take_steps(agent: Agent, *steps: Step) -> Callable[[RecordedRequest], Reply]:
    """Play steps in order; one may look at the request, for the names of its tools."""
    rest = iter(steps)

    def choose(request: RecordedRequest) -> Reply:
        step = next(rest, make_last_reply(agent))
        return step if isinstance(step, Reply) else step(request)

    return choose


def call_tool(kind: str, **values: str) -> Callable[[RecordedRequest], Reply]:
    """Call the agent's own tool `read`, `edit` or `write`, whatever its arguments are called."""

    def choose(request: RecordedRequest) -> Reply:
        name = next((one for one in request.tools if one.lower() == kind), None)
        if name is None:
            raise NotOfferedError("Bash only")
        known = request.tools[name].get("properties", {})
        if "edits" in known:
            edit = {"oldText": values["old"], "newText": values["new"]}
            return Reply("", calls=[ScriptedCall(name, {"path": values["path"], "edits": [edit]})])
        found = {
            next(one for one in _NAMES[key] if one in known): value for key, value in values.items()
        }
        return Reply("", calls=[ScriptedCall(name, found)])

    return choose


def call_with(name: str, arguments: Mapping[str, Any] | str, stop: str = "") -> Step:
    """A call of the tool of the agent with this name, in its own spelling if it has it."""

    def choose(request: RecordedRequest) -> Reply:
        own = next((one for one in request.tools if one.lower() == name), name)
        return Reply("", calls=[ScriptedCall(own, arguments)], stop_reason=stop)

    return choose


def cut_stream(pieces: Iterable[bytes]) -> Iterator[bytes]:
    parts = list(pieces)
    yield from parts[: max(1, len(parts) // 2)]
    raise ConnectionResetError


def add_reasoning(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Put a thought in front of a reply of OpenAI's API."""
    first = True
    for piece in pieces:
        if piece.startswith(b"{"):
            body = json.loads(piece)
            body["choices"][0]["message"]["reasoning_content"] = "THOUGHT-1"
            yield json.dumps(body).encode()
        else:
            if first:
                event = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m",
                         "choices": [{"index": 0, "finish_reason": None, "delta": {
                             "role": "assistant", "reasoning_content": "THOUGHT-1"}}]}  # fmt: skip
                yield b"data: " + json.dumps(event).encode() + b"\n\n"
            first = False
            yield piece


def read_result(run: Run, number: int) -> str:
    """Return what is new in a request that the one before it did not have."""
    before, after = run.main_requests[number - 1].texts, run.main_requests[number].texts
    return "\n".join(after[len(before) :]) or after[-1]


def shorten(text: str) -> str:
    return " ".join(text.replace("|", "¦").split())[:160]


def count_same(one: str, other: str) -> int:
    """Return how many characters at the start are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
