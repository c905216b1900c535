"""The server over HTTP, by small clients of the four APIs."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, IncompleteRead, RemoteDisconnected
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from cub.model_server.exchange import RecordedRequest, ScriptedCall
from tests.model_server.apis import CLIENTS, Client, send
from tests.model_server.faults import ModelServer, Reply, count_occurrences, find_api, read_system

TOOL = "Bash"
ERRORS: dict[str, dict[int, Any]] = {
    "anthropic": {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"},
    "responses": {401: "invalid_api_key", 429: "rate_limit_exceeded", 500: "server_error"},
    "chat": {401: "invalid_api_key", 429: "rate_limit_exceeded", 500: "server_error"},
    "gemini": {401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"},
}


@pytest.fixture(params=CLIENTS)
def api(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def client(api: str) -> Client:
    return CLIENTS[api]


@pytest.fixture(autouse=True)
def _no_thread_stays() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


def test_a_text_is_streamed_with_its_usage(client: Client) -> None:
    reply = Reply("Grüße\n", input_tokens=70, output_tokens=7, cached_tokens=30)
    with ModelServer([reply]) as server:
        answer = client.ask(server.url, tool=TOOL)
    assert answer.headers["Content-Type"] == "text/event-stream"
    assert client.read(answer.events) == ("Grüße\n", None, 40, 30, 7)


def test_a_command_calls_the_shell_tool_after_the_text(client: Client) -> None:
    with ModelServer([Reply("I edit.", "echo 'a b' > c")]) as server:
        said = client.read(client.ask(server.url, tool=TOOL).events)
    assert said[:2] == ("I edit.", (TOOL, {"command": "echo 'a b' > c"}))


def test_a_command_is_said_where_no_tool_can_run_it(client: Client) -> None:
    with ModelServer(lambda _: Reply("I edit.", "make")) as server:
        said = client.read(client.ask(server.url, tool="Read").events)
    assert said[:2] == ("I edit.\n\n    make", None)


def test_calls_of_any_tools_come_in_one_reply_after_the_command(client: Client) -> None:
    calls = [ScriptedCall("Read", {"path": "a"}), ScriptedCall("Nothing", {})]
    with ModelServer([Reply("Two.", "make", calls)]) as server:
        answer = client.ask(server.url, tool=TOOL)
    content = answer.content.decode()
    positions = [content.index(f'"name": "{name}"') for name in (TOOL, "Read", "Nothing")]
    assert positions == sorted(positions)


def test_a_body_is_sent_as_it_is(client: Client) -> None:
    reply = Reply("Hi", body="<html></html>", headers={"Content-Type": "text/html"})
    with ModelServer([reply]) as server:
        answer = client.ask(server.url, tool=TOOL)
    assert (answer.status, answer.content) == (200, b"<html></html>")
    assert answer.headers["Content-Type"] == "text/html"


def test_a_stream_is_delivered_piece_by_piece(client: Client) -> None:
    is_received = threading.Event()

    def deliver(events: Iterable[bytes]) -> Iterator[bytes]:
        yield b": first\n\n"
        assert is_received.wait(30)
        yield from events

    body = json.dumps(client.build("Be brief", "Do it", TOOL)).encode()
    with ModelServer([Reply("Hi", deliver=deliver)]) as server:
        request = Request(server.url + client.path, body)
        with build_opener(ProxyHandler({})).open(request, timeout=30) as response:
            assert response.readline() == b": first\n"
            is_received.set()
            assert b"data: {" in response.read()


def test_a_connection_may_break_in_the_middle_of_a_stream(client: Client) -> None:
    def deliver(events: Iterable[bytes]) -> Iterator[bytes]:
        yield next(iter(events))[:20]
        raise ConnectionResetError

    with ModelServer([Reply("Hi", deliver=deliver)]) as server, pytest.raises(IncompleteRead):
        client.ask(server.url, tool=TOOL)


def test_replies_come_in_order_and_then_a_final_text(client: Client) -> None:
    with ModelServer([Reply("1"), Reply(command="true")]) as server:
        said = [client.read(client.ask(server.url, tool=TOOL).events) for _ in range(4)]
    assert [bool(one.call) for one in said] == [False, True, False, False]
    assert [one.text for one in said] == ["1", "", "Done.", "Done."]


def test_an_error_has_the_shape_of_its_api(api: str, client: Client) -> None:
    for status, kind in ERRORS[api].items():
        with ModelServer([Reply(status=status, headers={"retry-after": "9"}, message="no")]) as s:
            answer = client.ask(s.url, tool=TOOL)
        assert (answer.status, answer.headers["retry-after"]) == (status, "9")
        error = answer.tree["error"]
        assert error["message"] == "no"
        assert error["status" if api == "gemini" else "type"] == kind


def test_requests_are_recorded_in_order_without_secrets(api: str, client: Client) -> None:
    secret = {"Authorization": "Bearer s3", "X-Api-Key": "s3", "X-Goog-Api-Key": "s3", "X-A": "1"}
    with ModelServer() as server:
        send(f"{server.url}{client.path}", client.build("Be kind", "First", TOOL), secret)
        client.ask(server.url, user="Second Second", tool=TOOL)
        first, second = server.requests
    assert (find_api(first), first.model, read_system(first)) == (api, "m", "Be kind")
    assert first.texts == ("Be kind", "First")
    assert "?" not in first.path
    assert server.headers[0]["x-a"] == "1"
    assert "s3" not in str(first)
    assert [count_occurrences(second, text) for text in ("Second", "First", "Be")] == [2, 0, 1]
    assert list(second.tools) == [TOOL]


def test_a_side_request_takes_no_reply(client: Client) -> None:
    with ModelServer([Reply("main")]) as server:
        system = "You are a title generator."
        side = client.read(client.ask(server.url, system=system).events)
        main = client.read(client.ask(server.url, tool=TOOL).events)
        assert [r.is_side_request for r in server.requests] == [True, False]
    assert (side.text, main.text) == ("Short note", "main")


def test_a_function_chooses_by_the_request(client: Client) -> None:
    def choose(request: RecordedRequest) -> Reply:
        return Reply(f"n={count_occurrences(request, 'x')}")

    with ModelServer(choose) as server:
        asked = [client.ask(server.url, user=user, tool=TOOL) for user in ("xx", "y")]
    assert [client.read(answer.events).text for answer in asked] == ["n=2", "n=0"]


def test_closing_ends_a_reply_that_hangs(client: Client) -> None:
    with ThreadPoolExecutor(1) as pool:
        is_asked = threading.Event()

        def hang(_: RecordedRequest) -> Reply:
            is_asked.set()
            return Reply(hangs=True)

        with ModelServer(hang) as server:
            future = pool.submit(client.ask, server.url, tool=TOOL)
            assert is_asked.wait(30)
            assert not future.done()
        with pytest.raises(RemoteDisconnected):
            future.result()


def test_a_body_that_cannot_be_read_is_refused_in_the_shape_of_its_api(client: Client) -> None:
    bodies = (b"", b"{", b"[]", b"7", b'"\xff"', b"[" * 100_000, b'{"a":' * 100_000)
    with ModelServer() as server:
        answers = [send(server.url + client.path, body) for body in bodies]
        zipped = send(server.url + client.path, b"{}", {"Content-Encoding": "zstd"})
        assert server.requests == ()
    assert {answer.status for answer in answers} == {400}
    assert all(answer.tree["error"]["message"] for answer in answers)
    assert "compressed" in zipped.tree["error"]["message"]


def test_odd_values_in_a_body_are_no_texts(client: Client) -> None:
    odd = ("system", "messages", "contents", "input", "tools", "instructions", "systemInstruction")
    with ModelServer() as server:
        for value in (None, 1, [None, 1, [2]], {"text": {"a": 1}}, [{"parts": 1, "name": [0]}]):
            answer = send(server.url + client.path, dict.fromkeys(odd, value))
            assert answer.status == 200
        assert {request.texts for request in server.requests} == {()}


def test_a_reply_without_a_stream_is_one_object(api: str, client: Client) -> None:
    path = client.path.replace(":streamGenerateContent?alt=sse", ":generateContent")
    body = client.build("Be brief", "Do it", TOOL) | {"stream": False}
    with ModelServer([Reply("Hello", "true")]) as server:
        answer = send(server.url + path, body)
    assert answer.headers["Content-Type"] == "application/json"
    field = {"anthropic": "content", "responses": "output", "chat": "choices"}
    content = str(answer.tree[field.get(api, "candidates")])
    assert "Hello" in content
    assert TOOL in content


def test_three_megabytes_go_through_both_ways() -> None:
    client, large = CLIENTS["anthropic"], "0123456789" * 300_000
    with ModelServer([Reply(large)]) as server:
        answer = client.ask(server.url, user=large, tool=TOOL)
        assert count_occurrences(server.requests[0], large) == 1
    assert client.read(answer.events).text == large


def test_other_paths_and_methods() -> None:
    with ModelServer() as server:
        with closing(HTTPConnection(server.url.removeprefix("http://"), timeout=30)) as connection:
            connection.request("HEAD", "/")
            assert connection.getresponse().read() == b""
            connection.request("GET", "/v1/models?limit=1000")  # on the same connection
            assert connection.getresponse().status == 200
        count = send(f"{server.url}/v1/messages/count_tokens?beta=true", {"messages": ["x" * 400]})
        assert 100 <= count.tree["input_tokens"] <= 110
        count = send(f"{server.url}/v1beta/models/m:countTokens", {"contents": ["x" * 400]})
        assert 100 <= count.tree["totalTokens"] <= 110
        assert send(f"{server.url}/v1/embeddings", {}).status == 404
        assert send(f"{server.url}/nothing", None).tree["error"]["message"] == "not found: /nothing"
        assert server.requests == ()


def test_closing_ends_connections_that_send_nothing_or_half_a_request() -> None:
    started = time.monotonic()
    with ModelServer() as server:
        address = server.url.removeprefix("http://").split(":")
        silent, slow, late = (
            socket.create_connection((address[0], int(address[1])), 30) for _ in range(3)
        )
        with silent, slow, late:
            slow.sendall(b"POST /v1/messages HTTP/1.1\r\nContent-Length: 9\r\n\r\n{")
            late.sendall(b"GET /v1/models HTTP/1.1\r\n\r\n")
            assert late.recv(12) == b"HTTP/1.1 200"
            server.__exit__(None, None, None)
            assert silent.recv(1) == b""
    assert time.monotonic() - started < 20


def test_parallel_requests_each_take_one_reply() -> None:
    client = CLIENTS["chat"]
    with ModelServer(Reply(str(n)) for n in range(40)) as server, ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(client.ask, server.url, tool=TOOL) for _ in range(40)]
        texts = [client.read(future.result().events).text for future in asked]
        assert len(server.requests) == 40
    assert sorted(texts, key=int) == [str(n) for n in range(40)]


def test_the_server_listens_on_the_loopback_address_only() -> None:
    with ModelServer() as first, ModelServer() as second:
        assert first.url.startswith("http://127.0.0.1:")
        assert first.url != second.url


def test_a_script_that_fails_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    def choose(_: RecordedRequest) -> Reply:
        raise ValueError("wrong script")

    with ModelServer(choose) as server, pytest.raises(RemoteDisconnected):
        CLIENTS["chat"].ask(server.url, tool=TOOL)
    assert "wrong script" in capsys.readouterr().err
