"""A model server on this machine: whether it answers, and has the model."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from cub.agent.local_server import check_local_server, find_local_window
from cub.agent.model import ModelEndpoint, ModelError


@contextmanager
def serve(body: bytes, status: int = 200, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """A server that answers requests, or those for a path, with these bytes.

    Yields its address, and what was asked.
    """
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.path} {self.headers.get('Authorization')}")
            self.send_response(status if path in ("", self.path) else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", asked
        finally:
            server.shutdown()


def list_models(*names: str) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": name} for name in names]}).encode()


def test_a_model_that_the_server_lists_passes() -> None:
    with serve(list_models("qwen3:latest", "llama")) as (url, asked):
        for name in ("qwen3", "qwen3:latest", "llama"):
            check_local_server(ModelEndpoint(name, url, "key-1"), lists_models=True)
        check_local_server(ModelEndpoint("other", url), lists_models=False)
    assert asked == ["/v1/models Bearer key-1"] * 3


def test_a_key_that_can_not_be_sent_is_not() -> None:
    with serve(list_models("llama")) as (url, asked):
        check_local_server(ModelEndpoint("llama", url, "two\nlines"), lists_models=True)
    assert asked == []


def test_a_server_of_https_gets_no_key_in_clear() -> None:
    with serve(list_models("llama")) as (url, asked):
        check_local_server(ModelEndpoint("qwen3", f"https{url[4:]}", "key-1"), lists_models=True)
    assert asked == []


@pytest.mark.parametrize(
    ("name", "hint"),
    [("qwen3:latst", "did you mean qwen3:latest?"), ("xyz", "choose from qwen3:latest")],
)
def test_a_model_that_the_server_lacks_is_named_with_those_it_has(name: str, hint: str) -> None:
    with (
        serve(list_models("qwen3:latest", "llama")) as (url, _),
        pytest.raises(ModelError, match=f"has no model '{name}'") as caught,
    ):
        check_local_server(ModelEndpoint(name, url), lists_models=True)
    assert caught.value.hint.startswith(hint)
    assert caught.value.kind == "request"


@pytest.mark.parametrize(
    ("body", "status"), [(b"no", 404), (b"<html>", 200), (b"[]", 200), (list_models(), 200)]
)
def test_a_server_without_a_list_passes(body: bytes, status: int) -> None:
    with serve(body, status) as (url, _):
        check_local_server(ModelEndpoint("qwen3", url), lists_models=True)


def test_a_server_that_is_gone_fails_with_the_command_that_starts_it() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(ModelError, match=f"can't reach the model server at {url}") as caught:
            check_local_server(ModelEndpoint("q", url), "ollama serve", lists_models=True)
    assert "start it (`ollama serve`), or set `code.base_url`" in caught.value.hint
    assert caught.value.kind == "service"


@pytest.mark.parametrize(
    "url",
    ["", "https://api.example.com/v1", "http://[", "http://127.0.0.1:x", "file:///x", "words"],
)
def test_other_addresses_are_not_asked(url: str) -> None:
    check_local_server(ModelEndpoint("q", url), lists_models=True)


@pytest.mark.parametrize(
    ("path", "answer", "window"),
    [
        ("/api/ps", {"models": [{"name": "qwen3:latest", "context_length": 4096}]}, 4096),
        ("/api/ps", {"models": [{"name": "other", "context_length": 4096}]}, None),
        ("/api/v0/models", {"data": [{"id": "qwen3", "max_context_length": 131072,
                                      "loaded_context_length": 8192}]}, 8192),
        ("/api/v0/models", {"data": [{"id": "qwen3", "max_context_length": 32768}]}, 32768),
        ("/props", {"default_generation_settings": {"n_ctx": 16384}}, 16384),
        ("/v1/models", {"data": [{"id": "x"}, {"id": "qwen3", "max_model_len": 40960}]}, 40960),
        ("/v1/models", {"data": [{"id": "qwen3"}]}, None),
        ("/v1/models", {"data": [{"id": "qwen3", "max_model_len": -1}]}, None),
        ("/v1/models", [], None),
        ("/none", {}, None),
    ],
)  # fmt: skip
def test_a_local_server_says_how_much_its_model_reads(
    path: str, answer: object, window: int | None
) -> None:
    with serve(json.dumps(answer).encode(), path=path) as (url, _):
        assert find_local_window(ModelEndpoint("qwen3", url)) == window


def test_a_server_that_is_gone_says_nothing_of_a_window() -> None:
    with serve(b"{}") as (url, _):
        pass
    assert find_local_window(ModelEndpoint("qwen3", url)) is None
    assert find_local_window(ModelEndpoint("qwen3", "https://api.example.com/v1")) is None
