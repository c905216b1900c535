"""A model server whose replies may be errors, hang, break off, or be no replies at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from cub.json_values import list_objects
from cub.model_server import exchange, server
from cub.model_server.apis import ModelApi
from cub.model_server.exchange import ModelTurn, RecordedRequest
from cub.model_server.server import ModelHandler

_API_PATHS = {"/messages": "anthropic", "/responses": "responses", "/completions": "chat"}
_ANTHROPIC_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_OPENAI_ERRORS = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
_GEMINI_ERRORS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


@dataclass(frozen=True)
class Reply(exchange.Reply):
    """What the model answers, or how its service fails.

    A status other than 200 makes an error with `message`, in the API's own shape. A reply that
    `hangs` sends no byte until the server is closed. `body` is sent instead of all that. `deliver`
    takes the events of a stream and returns the pieces that are written, each at once: it may cut
    them, add some, or wait. If it raises OSError, the connection is closed in the middle of the
    reply, or before one that is no stream.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = ""
    hangs: bool = False
    body: str = ""
    deliver: Callable[[Iterable[bytes]], Iterable[bytes]] = iter


class ModelServer(server.ModelServer):
    """A server that can fail. `headers` are those of the requests, with lower-case names."""

    def __init__(
        self,
        replies: Iterable[exchange.Reply] | Callable[[RecordedRequest], exchange.Reply] = (),
        side_reply: exchange.Reply = exchange.SIDE_REPLY,
    ) -> None:
        super().__init__(replies, side_reply)
        self.headers: list[Mapping[str, str]] = []
        self.closing = Event()

    def make_handler(self) -> type[ModelHandler]:
        return _FaultyHandler

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        super().__exit__()


class _FaultyHandler(ModelHandler):
    def send_reply(self, api: ModelApi, request: RecordedRequest) -> None:
        model = self.server.model
        assert isinstance(model, ModelServer)
        model.headers.append({name.lower(): value for name, value in self.headers.items()})
        turn = model.answer(request)
        reply = turn.reply
        if not isinstance(reply, Reply):
            self.send_turn(api, request, turn)
        elif reply.hangs:
            model.closing.wait()
            self.close_connection = True
        elif reply.status != 200:
            content = reply.body.encode() or render_error(request, reply.status, reply.message)
            self.send(reply.status, content, reply.headers)
        else:
            self._deliver(api, request, turn, reply)

    def _deliver(
        self, api: ModelApi, request: RecordedRequest, turn: ModelTurn, reply: Reply
    ) -> None:
        parts = [reply.body.encode()] if reply.body else api.render_turn(turn, request.is_streamed)
        pieces = reply.deliver(parts)
        if request.is_streamed:
            self.send_stream(pieces, reply.headers)
        else:
            self.send(200, b"".join(pieces), reply.headers)


def find_api(request: RecordedRequest) -> str:
    """Return the API that a request is of: anthropic, responses, chat or gemini."""
    found = (name for end, name in _API_PATHS.items() if request.path.endswith(end))
    return next(found, "gemini")


def render_error(request: RecordedRequest, status: int, message: str) -> bytes:
    """An error in the shape of an API."""
    error: dict[str, Any] = {"message": message}
    match find_api(request):
        case "anthropic":
            error["type"] = _ANTHROPIC_ERRORS.get(status, "api_error")
            return json.dumps({"type": "error", "error": error}).encode()
        case "gemini":
            error |= {"code": status, "status": _GEMINI_ERRORS.get(status, "UNKNOWN")}
        case _:
            default = "server_error" if status >= 500 else "invalid_request_error"
            kind = _OPENAI_ERRORS.get(status, default)
            error |= {"type": kind, "param": None, "code": kind}
    return json.dumps({"error": error}).encode()


def count_occurrences(request: RecordedRequest, text: str) -> int:
    """Return how often a text reached the model with a request."""
    return sum(part.count(text) for part in request.texts)


def read_system(request: RecordedRequest) -> str:
    """The texts of system and developer messages, as one."""
    body = request.body
    roles = ("system", "developer")
    messages = [*list_objects(body, "messages"), *list_objects(body, "input")]
    own = [one for one in messages if one.get("role") in roles]
    values = (*(body.get(name) for name in ("system", "instructions", "systemInstruction")), own)
    return "\n\n".join(exchange.iterate_texts(list(values)))
