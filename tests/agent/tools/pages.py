"""A web server on the loopback address, with pages that behave well and badly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import NamedTuple


class Page(NamedTuple):
    """An answer. `hangs` waits after the body until the server is closed."""

    body: bytes = b""
    media_type: str | None = "text/plain"
    status: int = 200
    headers: Mapping[str, str] = {}
    hangs: bool = False


class Site(NamedTuple):
    """The address of a server, the paths that it was asked for, and what says that it was."""

    url: str
    requests: list[str]
    is_asked: Event


@contextmanager
def serve_pages(choose: Callable[[str], Page]) -> Iterator[Site]:
    """Serve the page that `choose` returns for a path with its query."""
    closing, requests, is_asked = Event(), list[str](), Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = choose(self.path)
            requests.append(self.path)
            self.send_response(page.status)
            if page.media_type is not None:
                self.send_header("Content-Type", page.media_type)
            for name, value in page.headers.items():
                self.send_header(name, value)
            if not page.hangs:
                self.send_header("Content-Length", str(len(page.body)))
            self.end_headers()
            try:
                self.wfile.write(page.body)
                self.wfile.flush()
            except OSError:  # it has read enough
                return
            is_asked.set()
            if page.hangs:
                closing.wait(60)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield Site(f"http://127.0.0.1:{server.server_port}", requests, is_asked)
    finally:
        closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
