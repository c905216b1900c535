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
from threading import Lock, Thread
from typing import Any, Self
from urllib.parse import unquote

from cub.model_server.apis import APIS, ModelApi
from cub.model_server.exchange import (
    FINAL_REPLY,
    SIDE_REPLY,
    ModelTurn,
    RecordedRequest,
    Reply,
    build_turn,
)

_POLL_SECONDS = 0.02  # how long closing may take
_MAX_BODY = 64 << 20
_MODELS = {"object": "list", "data": [], "models": [], "has_more": False}


# Requests to count tokens: agents do it to know how full their context is.
_COUNTERS = (
    (r".*/messages/count_tokens", "input_tokens"),
    (r".*/models/[^/]+:countTokens", "totalTokens"),
)


class ModelServer:
    """Serve a model on a port of 127.0.0.1 while the context is open.

    Main requests take the replies in order, and a final text after the last one; a function
    returns one for each. An agent that repeats a request takes the next reply. Side requests get a
    short text, unless `side_reply` is another one. Closing ends all connections.
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
        self._lock = Lock()
        self._http = _HttpServer(self, self.make_handler())
        self._thread = Thread(target=self._http.serve_forever, args=(_POLL_SECONDS,))

    @property
    def url(self) -> str:
        """Return the address, without a slash at its end."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def requests(self) -> tuple[RecordedRequest, ...]:
        """Return the requests for a reply in the order of their arrival, side requests included."""
        with self._lock:
            return tuple(self._requests)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.close_connections()
        self._http.server_close()  # joins the threads of all connections
        self._thread.join()

    def make_handler(self) -> type[ModelHandler]:
        """Return what answers the requests."""
        return ModelHandler

    def answer(self, request: RecordedRequest) -> ModelTurn:
        """Record a request, and return its turn."""
        with self._lock:
            self._requests.append(request)
            number = len(self._requests)
            reply = self._side_reply if request.is_side_request else self._choose(request)
        return build_turn(number, request, reply)


class _HttpServer(ThreadingTCPServer):
    """Serve connections, each in a thread, and know those that are open."""

    daemon_threads = False  # closing joins them
    request_queue_size = 64

    def __init__(self, model: ModelServer, handler: type[ModelHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
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


class ModelHandler(BaseHTTPRequestHandler):
    """Answer the requests of one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are two packets
    server: _HttpServer

    def do_HEAD(self) -> None:
        """Answer a test of the connection."""
        self.send(200, b"")

    def do_GET(self) -> None:
        """Answer a request for the list of models: agents use models that it does not name."""
        path = self._get_path()
        if path.endswith("/models"):
            self.send(200, json.dumps(_MODELS).encode())
        else:
            self._refuse(404, f"not found: {path}")

    def do_POST(self) -> None:
        """Answer a request for a reply, or to count tokens."""
        path = self._get_path()
        api = next((one for one in APIS if re.fullmatch(one.path, path)), None)
        counters = [name for pattern, name in _COUNTERS if re.fullmatch(pattern, path)]
        try:
            body = self._read_body()
            request = api.parse(path, body) if api else None
        except (ValueError, RecursionError) as error:
            self.close_connection = True
            self._refuse(400, f"the body can't be read: {error}")
            return
        if api and request:
            self.send_reply(api, request)
        elif counters:
            count = int(self.headers["Content-Length"]) // 4
            self.send(200, json.dumps({counters[0]: count}).encode())
        else:
            self._refuse(404, f"not found: {path}")

    def send_reply(self, api: ModelApi, request: RecordedRequest) -> None:
        """Answer a request for a reply."""
        self.send_turn(api, request, self.server.model.answer(request))

    def send_turn(self, api: ModelApi, request: RecordedRequest, turn: ModelTurn) -> None:
        """Write a turn as its API does."""
        pieces = api.render_turn(turn, request.is_streamed)
        if request.is_streamed:
            self.send_stream(pieces)
        else:
            self.send(200, b"".join(pieces))

    def send_stream(self, pieces: Iterable[bytes], headers: Mapping[str, str] = {}) -> None:
        """Write each piece at once, as a chunk; an empty one would end the body."""
        fields = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked", **headers}
        self._send_headers(200, fields)
        for piece in pieces:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def send(self, status: int, content: bytes, headers: Mapping[str, str] = {}) -> None:
        """Write a whole body."""
        fields = {"Content-Type": "application/json", "Content-Length": str(len(content))}
        self._send_headers(status, {**fields, **headers})
        self.wfile.write(content)

    def _refuse(self, status: int, message: str) -> None:
        self.send(status, json.dumps({"error": {"message": message}}).encode())

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
