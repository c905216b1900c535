"""Serve scripted replies of a model over HTTP, and record the requests for them."""

from __future__ import annotations

import json
import re
import socket
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from threading import Condition, Event, Thread
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import unquote

from cub.model_server.anthropic_api import (
    count_tokens_as_messages,
    parse_messages_request,
    render_messages_error,
    render_messages_turn,
)
from cub.model_server.chat_api import parse_chat_request, render_chat_turn
from cub.model_server.exchange import (
    FINAL_REPLY,
    SIDE_REPLY,
    ModelTurn,
    RecordedRequest,
    Reply,
    build_turn,
)
from cub.model_server.gemini_api import (
    count_tokens_as_gemini,
    parse_gemini_request,
    render_gemini_error,
    render_gemini_turn,
)
from cub.model_server.responses_api import (
    parse_responses_request,
    render_openai_error,
    render_responses_turn,
)

_POLL_SECONDS = 0.02  # how long closing may take
_MAX_BODY = 64 << 20
_SECRET_HEADERS = re.compile(r"authorization|cookie|key|secret|token", re.IGNORECASE)
_MODELS = {"object": "list", "data": [], "models": [], "has_more": False}


class _Api(NamedTuple):
    """Hold an API: the paths that ask for a reply, and how to read and write its messages."""

    path: re.Pattern[str]
    parse: Callable[[str, Mapping[str, Any]], RecordedRequest]
    render_turn: Callable[[ModelTurn, bool], list[bytes]]
    render_error: Callable[[int, str], bytes]


_ANTHROPIC = _Api(
    re.compile(r".*/messages"),
    parse_messages_request,
    render_messages_turn,
    render_messages_error,
)
_GEMINI = _Api(
    re.compile(r".*/models/[^/]+:(streamGenerateContent|generateContent)"),
    parse_gemini_request,
    render_gemini_turn,
    render_gemini_error,
)
_CHAT = _Api(
    re.compile(r".*/chat/completions"), parse_chat_request, render_chat_turn, render_openai_error
)
_RESPONSES = _Api(
    re.compile(r".*/responses"),
    parse_responses_request,
    render_responses_turn,
    render_openai_error,
)
_APIS = (_ANTHROPIC, _GEMINI, _RESPONSES, _CHAT)
# Requests to count tokens: agents do it to know how full their context is.
_COUNTERS = (
    (re.compile(r".*/messages/count_tokens"), _ANTHROPIC, count_tokens_as_messages),
    (re.compile(r".*/models/[^/]+:countTokens"), _GEMINI, count_tokens_as_gemini),
)


class ModelServer:
    """Serve a model on a port of 127.0.0.1 while the context is open.

    Main requests take the replies in order, and a final text after the last one; a function
    returns one for each. An agent that repeats a request takes the next reply. Side requests get a
    short text, unless `side_reply` is another one. Closing ends what still hangs.
    """

    def __init__(
        self,
        replies: Iterable[Reply] | Callable[[RecordedRequest], Reply] = (),
        side_reply: Reply = SIDE_REPLY,
    ) -> None:
        rest = iter(()) if callable(replies) else iter(replies)
        self._choose = replies if callable(replies) else lambda _: next(rest, FINAL_REPLY)
        self._side_reply = side_reply
        self._requests: list[RecordedRequest] = []
        self._changed = Condition()
        self._closing = Event()
        self._http = _HttpServer(self)
        self._thread = Thread(target=self._http.serve_forever, args=(_POLL_SECONDS,))

    @property
    def url(self) -> str:
        """Return the address, without a slash at its end."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def requests(self) -> tuple[RecordedRequest, ...]:
        """Return the requests for a reply in the order of their arrival, side requests included."""
        with self._changed:
            return tuple(self._requests)

    def wait_for_requests(self, count: int, timeout: float) -> bool:
        """Wait until `count` requests have arrived; return False after `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._requests) >= count, timeout)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.close_connections()
        self._http.server_close()  # joins the threads of all connections
        self._thread.join()

    def answer(self, request: RecordedRequest) -> tuple[ModelTurn, Reply]:
        """Record a request; return its turn and the reply that the turn is made from.

        A reply that hangs comes back when the server closes.
        """
        with self._changed:
            self._requests.append(request)
            number = len(self._requests)
            self._changed.notify_all()
            reply = self._side_reply if request.is_side_request else self._choose(request)
        if reply.hangs:
            self._closing.wait()
        return build_turn(number, request, reply), reply


class _HttpServer(ThreadingTCPServer):
    """Serve connections, each in a thread, and know those that are open."""

    daemon_threads = False  # closing joins them
    request_queue_size = 64

    def __init__(self, model: ModelServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model
        self._connections = set[Any]()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a new connection."""
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        self._connections.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """End what is read from and written to all connections."""
        for connection in tuple(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a connection that its other end has closed; print other errors."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Answer the requests of one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are two packets
    server: _HttpServer

    def do_HEAD(self) -> None:
        """Answer a test of the connection."""
        self._send(200, b"")

    def do_GET(self) -> None:
        """Answer a request for the list of models: agents use models that it does not name."""
        path = self._get_path()
        if path.endswith("/models"):
            self._send(200, json.dumps(_MODELS).encode())
        else:
            self._send_error(_find_api(path), 404, f"not found: {path}")

    def do_POST(self) -> None:
        """Answer a request for a reply, or to count tokens."""
        path = self._get_path()
        api = _find_api(path)
        counters = [render for pattern, _, render in _COUNTERS if pattern.fullmatch(path)]
        try:
            request = api.parse(path, self._read_body())
        except (ValueError, RecursionError) as error:
            self.close_connection = True
            self._send_error(api, 400, f"the body can't be read: {error}")
            return
        if counters:
            self._send(200, counters[0](int(self.headers["Content-Length"]) // 4))
        elif api.path.fullmatch(path):
            self._send_reply(api, request)
        else:
            self._send_error(api, 404, f"not found: {path}")

    def _send_reply(self, api: _Api, request: RecordedRequest) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        public = {k: v for k, v in headers.items() if not _SECRET_HEADERS.search(k)}
        turn, reply = self.server.model.answer(request._replace(headers=public))
        if reply.hangs:
            self.close_connection = True
            return
        if reply.body:
            parts = [reply.body.encode()]
        elif reply.status != 200:
            parts = [api.render_error(reply.status, reply.message)]
        else:
            parts = api.render_turn(turn, request.is_streamed)
        if request.is_streamed and reply.status == 200:
            self._send_stream(reply.deliver(parts), reply.headers)
        else:
            self._send(reply.status, b"".join(reply.deliver(parts)), reply.headers)

    def _send_stream(self, pieces: Iterable[bytes], headers: Mapping[str, str]) -> None:
        """Write each piece at once, as a chunk; an empty one would end the body."""
        fields = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked", **headers}
        self._send_headers(200, fields)
        for piece in pieces:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def _send_error(self, api: _Api, status: int, message: str) -> None:
        self._send(status, api.render_error(status, message))

    def _send(
        self,
        status: int,
        content: bytes,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        fields = {"Content-Type": "application/json", "Content-Length": str(len(content))}
        self._send_headers(status, {**fields, **(headers or {})})
        self.wfile.write(content)

    def _send_headers(self, status: int, fields: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()

    def _get_path(self) -> str:
        return unquote(self.path.partition("?")[0])

    def _read_body(self) -> dict[str, Any]:
        """Return the body of a request. Raises ValueError if it can't be read."""
        if self.headers.get("Content-Encoding", "identity") != "identity":
            raise ValueError("it is compressed")
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > _MAX_BODY:
            raise ValueError("its length is missing or too large")
        body = json.loads(self.rfile.read(int(length)))
        if not isinstance(body, dict):
            raise ValueError("it is not an object")  # noqa: TRY004 - as for other bodies
        return body

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Print nothing."""


def _find_api(path: str) -> _Api:
    """Return the API that a path belongs to, or the one whose errors most agents read."""
    for pattern, api, _ in _COUNTERS:
        if pattern.fullmatch(path):
            return api
    return next((api for api in _APIS if api.path.fullmatch(path)), _CHAT)
