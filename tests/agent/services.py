"""Both models, against a model server on the loopback address, and how its streams may be cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from cub.agent.anthropic_model import AnthropicModel
from cub.agent.conversation import Message, make_user_message
from cub.agent.model import Model, ModelEndpoint, ModelRequest, ReplyEvent, ToolDefinition
from cub.agent.openai_model import OpenAIModel
from tests.model_server.faults import ModelServer

READ = ToolDefinition("Read", "Read a file.", {"type": "object", "properties": {}})
KEY = "sk-proj-4f9Xq2LmB7vT1cZ8"
OPEN_MODELS: list[Model] = []


class Service(NamedTuple):
    """How a model is made for a server, and what is special in the bytes of its API."""

    model: Callable[[ModelEndpoint], Model]
    path: str
    ping: bytes
    error: bytes

    def connect(self, server: ModelServer, timeout: float = 5.0, key: str = KEY) -> Model:
        return self.open(ModelEndpoint("m", server.url + self.path, key, timeout))

    def open(self, endpoint: ModelEndpoint) -> Model:
        """A model, which is closed at the end of the test."""
        model = self.model(endpoint)
        OPEN_MODELS.append(model)
        return model


SERVICES = {
    "anthropic": Service(
        AnthropicModel,
        "",
        b'event: ping\ndata: {"type": "ping"}\n\n',
        b'event: error\ndata: {"type": "error", "error": {"type": "%b", "message": "busy"}}\n\n',
    ),
    "openai": Service(
        OpenAIModel,
        "/v1",
        b": keep-alive\n\n",
        b'data: {"error": {"type": "%b", "message": "busy"}}\n\n',
    ),
}


def make_request(*messages: Message, system: str = "Be brief.") -> ModelRequest:
    return ModelRequest(system, messages or (make_user_message("Do it."),), (READ,), 100)


def ask(model: Model, *messages: Message) -> list[ReplyEvent]:
    return list(model.stream_reply(make_request(*messages)))


def cut_every(size: int) -> Callable[[Iterable[bytes]], Iterator[bytes]]:
    def deliver(events: Iterable[bytes]) -> Iterator[bytes]:
        content = b"".join(events)
        for start in range(0, len(content), size):
            yield content[start : start + size]

    return deliver


def add_between(extra: bytes) -> Callable[[Iterable[bytes]], Iterator[bytes]]:
    def deliver(events: Iterable[bytes]) -> Iterator[bytes]:
        for event in events:
            yield extra
            yield event

    return deliver


def stop_after(
    marker: bytes, last: bytes = b"", *, resets: bool = False
) -> Callable[[Iterable[bytes]], Iterator[bytes]]:
    """End a stream after the event with a marker and some more bytes, or break the connection."""

    def deliver(events: Sequence[bytes] | Iterable[bytes]) -> Iterator[bytes]:
        for event in events:
            yield event
            if marker in event:
                break
        if last:
            yield last
        if resets:
            raise ConnectionResetError

    return deliver
