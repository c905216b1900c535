"""What both models make of the streams of a server, good and bad ones."""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from typing import Any, NamedTuple

import pytest

from cub.agent.conversation import (
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    ToolResult,
    make_user_message,
)
from cub.agent.model import Model, ModelEndpoint, ModelError, ReplyEnd, TextDelta
from cub.agent.service_stream import make_tool_call
from cub.errors import CubError
from cub.installation import find_installation
from cub.model_server.exchange import RecordedRequest, ScriptedCall
from cub.tokens import TokenUsage
from tests.agent.services import (
    KEY,
    SERVICES,
    Service,
    add_between,
    ask,
    cut_every,
    make_request,
    stop_after,
)
from tests.model_server.faults import ModelServer, Reply

TWO_CALLS = (ScriptedCall("Read", {"path": "a/ü.py"}), ScriptedCall("Bash", {"command": "ls\n"}))


@pytest.fixture(params=SERVICES)
def service(request: pytest.FixtureRequest) -> Service:
    return SERVICES[request.param]


def _summarize(events: list[Any]) -> tuple[str, list[tuple[str, Any]], ReplyEnd]:
    """Return the text, the calls, and the end, which is the last event."""
    end = events.pop()
    assert isinstance(end, ReplyEnd)
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert len({call.id for call in calls}) == len(calls)
    return text, [(call.name, call.arguments) for call in calls], end


def _fail(service: Service, reply: Reply, timeout: float = 5.0) -> ModelError:
    with ModelServer([reply]) as server, pytest.raises(ModelError) as caught:
        ask(service.connect(server, timeout))
    assert len(server.requests) == 1
    assert "\n" not in caught.value.message
    assert len(caught.value.message) <= 300
    return caught.value


def test_a_text_comes_in_pieces_and_then_its_end(service: Service) -> None:
    reply = Reply("Grüße aus 東京\n", input_tokens=70, output_tokens=7, cached_tokens=30)
    with ModelServer([reply]) as server:
        events = ask(service.connect(server))
    assert len(events) > 2
    assert _summarize(events) == (
        "Grüße aus 東京\n",
        [],
        ReplyEnd("end_turn", TokenUsage(40, 7, 30)),
    )


@pytest.mark.parametrize("size", [*range(1, 8), 64, 10_000])
def test_calls_are_read_however_the_bytes_are_cut(service: Service, size: int) -> None:
    with ModelServer([Reply("Ü", calls=TWO_CALLS, deliver=cut_every(size))]) as server:
        text, calls, end = _summarize(ask(service.connect(server)))
    assert (text, calls, end.stop_reason) == ("Ü", [*map(tuple, TWO_CALLS)], "tool_use")


def test_pings_between_events_are_left_out(service: Service) -> None:
    with ModelServer([Reply("Hi", calls=TWO_CALLS, deliver=add_between(service.ping))]) as server:
        text, calls, _ = _summarize(ask(service.connect(server)))
    assert (text, len(calls)) == ("Hi", 2)


def test_a_call_is_yielded_before_the_reply_has_ended(service: Service) -> None:
    is_received = threading.Event()

    def deliver(events: Iterable[bytes]) -> Iterator[bytes]:
        for event in events:
            yield event
            if b'"Bash"' in event:  # it begins: the call before it is whole
                assert is_received.wait(30)

    with ModelServer([Reply(calls=TWO_CALLS, deliver=deliver)]) as server:
        for event in service.connect(server).stream_reply(make_request()):
            if isinstance(event, ToolCall) and event.name == "Read":
                is_received.set()
        assert is_received.is_set()


@pytest.mark.parametrize("arguments", ["", "{}"])
def test_empty_arguments_are_none(service: Service, arguments: str) -> None:
    with ModelServer([Reply(calls=[ScriptedCall("Read", arguments)])]) as server:
        _, calls, _ = _summarize(ask(service.connect(server)))
    assert calls == [("Read", {})]


@pytest.mark.parametrize(
    "arguments",
    [
        '{"path": ',
        "[1]",
        '"a"',
        "null",
        "[" * 10_000,
        '{"a": NaN}',
        '{"a": 1}{"a": 1}',
        r'["\ud800"]',
        r'{"a": "\ud800"}',
    ],
)
def test_broken_arguments_are_a_fault_of_the_call(service: Service, arguments: str) -> None:
    with ModelServer([Reply(calls=[ScriptedCall("Read", arguments), *TWO_CALLS])]) as server:
        broken, *others, _ = ask(service.connect(server))
    assert isinstance(broken, ToolCall)
    assert broken.arguments == {}
    assert "the arguments are not" in broken.fault
    assert [call.fault for call in others if isinstance(call, ToolCall)] == ["", ""]


def test_a_line_break_in_arguments_may_not_be_escaped(service: Service) -> None:
    with ModelServer([Reply(calls=[ScriptedCall("Bash", '{"command": "a\nb"}')])]) as server:
        _, calls, _ = _summarize(ask(service.connect(server)))
    assert calls == [("Bash", {"command": "a\nb"})]


@pytest.mark.parametrize("reason", ["max_tokens", "refusal"])
def test_a_reply_may_end_too_soon(service: Service, reason: str) -> None:
    with ModelServer([Reply("Hm", stop_reason=reason)]) as server:
        _, _, end = _summarize(ask(service.connect(server)))
    assert end.stop_reason == reason


@pytest.mark.parametrize(
    ("status", "kind", "is_retryable"),
    [(400, "request", False), (401, "login", False), (403, "login", False), (404, "request", False),
     (408, "service", True), (409, "service", True),
     (413, "request", False), (429, "limit", True), (500, "service", True), (503, "service", True),
     (529, "service", True)],
)  # fmt: skip
def test_a_status_says_what_has_failed(
    service: Service, status: int, kind: str, is_retryable: bool
) -> None:
    error = _fail(service, Reply(status=status, message="It is so."))
    assert (error.kind, error.status, error.is_retryable) == (kind, status, is_retryable)
    assert error.message.endswith(f"answered {status}: It is so")
    assert error.retry_after is None


def test_the_service_may_say_when_to_ask_again(service: Service) -> None:
    error = _fail(service, Reply(status=429, headers={"retry-after": "7"}))
    assert error.retry_after == 7
    date = formatdate(time.time() + 100, usegmt=True)
    error = _fail(service, Reply(status=529, headers={"retry-after": date}))
    assert error.retry_after is not None
    assert 90 < error.retry_after <= 100


def test_a_key_in_a_message_is_masked(service: Service) -> None:
    reply = Reply(status=401, message="wrong: my-own-key\n" * 50)
    with ModelServer([reply]) as server, pytest.raises(ModelError) as caught:
        ask(service.open(ModelEndpoint("m", server.url + service.path, "my-own-key")))
    error = caught.value
    assert "wrong: [masked] wrong" in error.message
    assert "my-own-key" not in error.message
    assert len(error.message) == 300
    assert error.hint == "check the key of this service"


def test_a_server_that_sends_nothing_has_failed(service: Service) -> None:
    error = _fail(service, Reply(hangs=True), timeout=0.1)
    assert (error.kind, error.status, error.is_retryable) == ("service", None, True)
    assert "sent nothing for 0.1 s" in error.message


def test_a_server_that_falls_silent_has_failed(service: Service) -> None:
    is_over = threading.Event()

    def deliver(events: Iterable[bytes]) -> Iterator[bytes]:
        yield next(iter(events))
        is_over.wait(30)

    with ModelServer([Reply("Hi", deliver=deliver)]) as server:
        with pytest.raises(ModelError, match=r"sent nothing for 0\.1 s"):
            ask(service.connect(server, timeout=0.1))
        is_over.set()


def test_a_server_that_is_not_there_has_failed(service: Service) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # it does not listen, and nobody else gets its number
        address = f"http://127.0.0.1:{taken.getsockname()[1]}{service.path}"
        with pytest.raises(ModelError, match="can't be reached") as caught:
            ask(service.open(ModelEndpoint("m", address, KEY)))
    assert (caught.value.kind, caught.value.is_retryable) == ("service", True)


@pytest.mark.parametrize("status", [200, 404, 502])
def test_a_web_page_is_no_reply(service: Service, status: int) -> None:
    page = "<!doctype html>\n<html><body>data: 1</body></html>\n\n"
    error = _fail(service, Reply(status=status, body=page, headers={"Content-Type": "text/html"}))
    assert "<" not in error.message
    assert error.status == (None if status == 200 else status)
    assert ("web page" in error.message) == (status == 200)
    assert ("code.base_url" in error.hint) == (status != 502)
    assert error.is_retryable == (status == 502)


def test_a_redirect_is_not_followed(service: Service) -> None:
    with ModelServer() as other, socket.create_server(("127.0.0.1", 0)) as listener:
        answer = f"HTTP/1.1 307 Go\r\nLocation: {other.url}{service.path}\r\n\r\n".encode()
        thread = threading.Thread(target=_answer_once, args=(listener, answer))
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(ModelError, match=f"answered 307 .* redirect to {other.url}") as caught:
            ask(service.open(ModelEndpoint("m", address, KEY, 5.0)))
        assert "code.base_url" in caught.value.hint
        thread.join()
    assert other.requests == ()


def _answer_once(listener: socket.socket, answer: bytes) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.sendall(answer)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1 << 16):  # a request that is not read would reset the connection
            pass


def test_json_that_is_nested_too_deeply_is_a_failure(service: Service) -> None:
    body = "event: message_start\ndata: " + '{"a":' * 200_000 + "\n\n"
    assert "can't be read" in _fail(service, Reply(body=body)).message


@pytest.mark.parametrize("last", [b"", b'data: {"cho', b"event: content_bl", b"data: {\n\n"])
@pytest.mark.parametrize("resets", [False, True])
def test_a_stream_that_ends_in_the_middle_has_failed(
    service: Service, last: bytes, resets: bool
) -> None:
    reply = Reply("Hello world", deliver=stop_after(b"wor", last, resets=resets))
    error = _fail(service, reply)
    assert (error.kind, error.status, error.is_retryable) == ("service", None, True)
    assert re.search("ended its stream|closed the connection|can't be read", error.message)


@pytest.mark.parametrize(
    ("name", "kind", "is_retryable"),
    [(b"overloaded_error", "service", True), (b"rate_limit_error", "limit", True),
     (b"api_error", "service", True), (b"invalid_request_error", "request", False),
     (b"authentication_error", "login", False)],
)  # fmt: skip
def test_an_error_may_come_in_the_middle_of_a_stream(
    service: Service, name: bytes, kind: str, is_retryable: bool
) -> None:
    error = _fail(service, Reply("Hello world", deliver=stop_after(b"wor", service.error % name)))
    assert (error.kind, error.status, error.is_retryable) == (kind, None, is_retryable)
    assert "broke off its reply: busy" in error.message


def test_a_reply_that_is_complete_is_not_lost(service: Service) -> None:
    def deliver(events: Iterable[bytes]) -> Iterator[bytes]:
        yield from events
        raise ConnectionResetError

    with ModelServer([Reply("Hi", calls=TWO_CALLS, deliver=deliver)]) as server:
        _, calls, end = _summarize(ask(service.connect(server)))
    assert (len(calls), end.stop_reason) == (2, "tool_use")


def test_half_a_surrogate_pair_is_not_sent(service: Service) -> None:
    """The name of a file whose bytes are not UTF-8, as Python reads it."""
    with ModelServer() as server:
        ask(service.connect(server), make_user_message("a\udcff.py: ü"))
        [request] = server.requests
    assert request.texts[-1] == "a?.py: ü"
    assert server.headers[0]["content-type"] == "application/json"


def test_an_error_may_come_as_an_answer_with_status_200(service: Service) -> None:
    """As LM Studio answers a request that is too long."""
    headers = {"Content-Type": "application/json"}
    body = '{"error": {"message": "Context size has been exceeded."}}'
    error = _fail(service, Reply(body=body, headers=headers))
    assert error.message.endswith("broke off its reply: Context size has been exceeded")
    assert error.is_too_long
    error = _fail(service, Reply(body='{"choices": []}', headers=headers))
    assert "ended its stream in the middle of a reply" in error.message


@pytest.mark.parametrize("kind", ["", "text/plain", "Text/Event-Stream; charset=utf-8"])
def test_a_stream_may_have_another_type(service: Service, kind: str) -> None:
    with ModelServer([Reply("Hi", headers={"Content-Type": kind})]) as server:
        assert _summarize(ask(service.connect(server)))[0] == "Hi"


def test_an_event_may_be_long(service: Service) -> None:
    text = "x" * (1 << 21)
    with ModelServer([Reply(calls=[ScriptedCall("Write", {"content": text})])]) as server:
        _, calls, _ = _summarize(ask(service.connect(server)))
    assert calls == [("Write", {"content": text})]


@pytest.mark.parametrize("key", ["schl\u00fcssel", "two\nlines"])
def test_a_key_that_can_not_be_sent_is_refused_at_once(service: Service, key: str) -> None:
    with pytest.raises(ModelError, match=r"the API key for 127\.0\.0\.1 is not valid") as caught:
        service.open(ModelEndpoint("m", "http://127.0.0.1:1", key))
    assert caught.value.kind == "login"
    assert key not in caught.value.message


WHOLE, CUT = "all there is", "the reply was cut at its length limit before the call was complete"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [('{"a": 1}', WHOLE), ('{"a": ', CUT), ("", CUT), ('{"a": "b', CUT)],
)
def test_a_call_that_the_length_limit_has_cut_says_so(
    service: Service, arguments: str, expected: str
) -> None:
    calls = [ScriptedCall("Read", '{"a": '), ScriptedCall("Bash", arguments)]
    with ModelServer([Reply("Hm", calls=calls, stop_reason="max_tokens")]) as server:
        *_, broken, cut, end = ask(service.connect(server))
    assert isinstance(broken, ToolCall)
    assert isinstance(cut, ToolCall)
    assert "not valid JSON" in broken.fault
    assert (cut.fault or WHOLE).startswith(expected)
    assert isinstance(end, ReplyEnd)
    assert end.stop_reason == "max_tokens"


THOUGHTS = {
    "anthropic": ("claude-opus-4-6", {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}),
    "openai": ("deepseek-v4-pro", {"reasoning_content": "Hm."}),
}


class _Thinker(NamedTuple):
    """A model that has thought before a call, and what it wants back."""

    service: Service
    model: str
    block: ReasoningBlock
    call: ToolCall

    def ask(self, server: ModelServer, *models: str) -> Model:
        """Ask about a turn that each of the models has made."""
        model = self.service.open(ModelEndpoint(self.model, server.url + self.service.path))
        list(model.stream_reply(make_request(*self.make_turns(*models))))
        return model

    def make_turns(self, *models: str) -> list[Message]:
        turns = [make_user_message("go")]
        for number, name in enumerate(models):
            call = self.call._replace(id=f"c{number}", extra={name: {"extra_content": {"s": 1}}})
            block = self.block._replace(model=name)
            turns += [Message("assistant", (block, TextBlock("I look."), call))]
            turns += [Message("user", (ToolResult(call.id, (TextBlock("a"),)),))]
        return turns


@pytest.fixture
def thinker(request: pytest.FixtureRequest) -> _Thinker:
    name = request.param
    model, data = THOUGHTS[name]
    block = ReasoningBlock(model, "Hm.", data)
    return _Thinker(SERVICES[name], model, block, ToolCall("c", "Read", {"path": "a"}))


both_thinkers = pytest.mark.parametrize("thinker", THOUGHTS, indirect=True)


def _count_thoughts(request: RecordedRequest) -> int:
    return json.dumps(request.body).count('"Hm."')


@both_thinkers
def test_reasoning_is_sent_back_to_its_model_alone(thinker: _Thinker) -> None:
    with ModelServer() as server:
        thinker.ask(server, thinker.model, "another", thinker.model)
        [request] = server.requests
    reply = next(one for one in request.body["messages"] if one["role"] == "assistant")
    assert _count_thoughts(request) == 2
    if thinker.model.startswith("claude"):
        assert reply["content"][0] == thinker.block.data
        assert [block["type"] for block in reply["content"]] == ["thinking", "text", "tool_use"]
    else:
        assert reply["reasoning_content"] == "Hm."
        assert reply["tool_calls"][0]["extra_content"] == {"s": 1}
        assert json.dumps(request.body).count("extra_content") == 2


REFUSALS = [
    "messages.1.content.0: Invalid `signature` in `thinking` block. Bound to another conversation.",
    "Corrupted thought signature.",
]


@both_thinkers
@pytest.mark.parametrize("message", REFUSALS)
def test_reasoning_that_is_refused_is_left_out_from_then_on(
    thinker: _Thinker, message: str
) -> None:
    ok = Reply("Hi")
    with ModelServer([ok, Reply(status=400, message=message), ok, ok]) as server:
        model = thinker.ask(server, thinker.model)
        turns = thinker.make_turns(thinker.model)
        events = list(model.stream_reply(make_request(*turns)))
        newer = thinker.block._replace(text="new", data={**thinker.block.data, "signature": "new"})
        last = Message("assistant", (newer, TextBlock("Done.")))
        list(model.stream_reply(make_request(*turns, last, make_user_message("more"))))
        counts = [_count_thoughts(request) for request in server.requests]
    assert _summarize(events)[0] == "Hi"
    assert counts == [1, 1, 0, 1]


@both_thinkers
def test_a_service_that_does_not_know_the_field_gets_no_reasoning_any_more(
    thinker: _Thinker,
) -> None:
    message = "messages.1.assistant.reasoning: property 'reasoning' is unsupported"
    with ModelServer([Reply(status=400, message=message), Reply("a"), Reply("b")]) as server:
        model = thinker.ask(server, thinker.model)
        turns = thinker.make_turns(thinker.model, thinker.model)
        list(model.stream_reply(make_request(*turns)))
        assert [_count_thoughts(request) for request in server.requests] == [1, 0, 0]


@both_thinkers
def test_another_refusal_is_a_failure(thinker: _Thinker) -> None:
    refusals = [
        (Reply(status=400, message="no such model"), 1, [thinker.model]),
        (Reply(status=500, message="thinking failed"), 1, [thinker.model]),
        (Reply(status=400, message="Unknown reasoning effort"), 1, []),
        (Reply(status=400, message="the signature is wrong"), 2, [thinker.model]),
    ]
    for reply, count, models in refusals:
        with ModelServer([reply, reply]) as server, pytest.raises(ModelError):
            thinker.ask(server, *models)
        assert len(server.requests) == count


def test_what_came_before_a_failure_was_yielded(service: Service) -> None:
    reply = Reply("Hi", calls=TWO_CALLS, deliver=stop_after(b'"Bash"', resets=True))
    events: list[Any] = []
    with ModelServer([reply]) as server, pytest.raises(ModelError):
        events.extend(service.connect(server).stream_reply(make_request()))
    assert isinstance(events[0], TextDelta)
    assert [event.name for event in events if isinstance(event, ToolCall)] == ["Read"]


def test_a_reply_that_nobody_reads_on_is_closed(service: Service) -> None:
    is_closed = threading.Event()

    def deliver(events: Iterable[bytes]) -> Iterator[bytes]:
        try:
            yield from events
            while True:
                yield service.ping
        finally:
            is_closed.set()

    with ModelServer([Reply("Hi", deliver=deliver)]) as server:
        events = service.connect(server).stream_reply(make_request())
        assert isinstance(next(events), TextDelta)
        del events
        assert is_closed.wait(30)


@pytest.mark.parametrize("address", ["localhost:1", "http://a:b", "ftp://127.0.0.1"])
def test_an_address_that_is_none_is_not_tried_again(service: Service, address: str) -> None:
    model = service.open(ModelEndpoint("m", address, KEY))
    with pytest.raises(ModelError, match="is not the address of a model server") as caught:
        ask(model)
    assert not caught.value.is_retryable


@pytest.mark.filterwarnings("ignore:Exception ignored in")  # of a client that was half made
def test_certificates_that_are_missing_are_a_failure(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent.pem")
    with pytest.raises(ModelError, match=r"certificates can't be read: .*No such file") as caught:
        ask(service.open(ModelEndpoint("m", "https://127.0.0.1:1", KEY)))
    assert not caught.value.is_retryable
    assert "SSL_CERT_FILE" in caught.value.hint


def test_a_socks_proxy_needs_a_package(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(ModelError, match="is reached through a SOCKS proxy") as caught:
        ask(service.open(ModelEndpoint("m", "http://127.0.0.1:1", KEY)))
    assert not caught.value.is_retryable
    assert "socksio" in caught.value.hint


@pytest.mark.parametrize(
    ("service", "address", "variable"),
    [
        ("anthropic", "", "ANTHROPIC_API_KEY"),
        ("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    ],
    indirect=["service"],
)
def test_the_vendor_needs_a_key_and_other_servers_do_not(
    service: Service, address: str, variable: str
) -> None:
    with pytest.raises(ModelError, match="missing API key") as caught:
        service.open(ModelEndpoint("m", address, key=""))
    assert caught.value.kind == "login"
    assert variable in caught.value.hint
    with ModelServer() as server:
        model = service.connect(server, key="")
        assert model.name == "m"
        assert ask(model)


def test_a_missing_package_says_how_to_get_it(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(CubError, match="needs the package httpx2") as caught:
        service.open(ModelEndpoint("m", "http://127.0.0.1:9"))
    assert find_installation().suggest_extra("agent") in caught.value.hint


@pytest.mark.parametrize("key", [KEY, ""])
def test_keys_of_the_environment_reach_no_server(
    service: Service, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for vendor in ("ANTHROPIC", "OPENAI"):
        for name in ("API_KEY", "AUTH_TOKEN", "ADMIN_KEY", "BASE_URL"):
            monkeypatch.setenv(f"{vendor}_{name}", "https://secret")
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        sent = pool.submit(_receive_headers, listener)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(ModelError, match="closed the connection"):
            ask(service.open(ModelEndpoint("m", address, key)))
        headers = sent.result()
    assert (f"\r\nAuthorization: Bearer {KEY}\r\n" in headers) == bool(key)
    assert ("\r\nauthorization:" in headers.lower()) == bool(key)
    assert "secret" not in headers


def _receive_headers(listener: socket.socket) -> str:
    """Take a request and close the connection without an answer."""
    connection, _ = listener.accept()
    with connection, connection.makefile("rb") as content:
        return "".join(line.decode() for line in iter(content.readline, b"\r\n"))


def test_the_fault_of_a_call_says_what_is_wrong() -> None:
    assert make_tool_call("1", "Read", '{"a": 1}') == ToolCall("1", "Read", {"a": 1})
    assert make_tool_call("1", "Read", r'"{\"a\": 1}"') == ToolCall("1", "Read", {"a": 1})
    assert make_tool_call("1", "Read", '"a"').fault.startswith("the arguments are not valid JSON")
    assert "line 1 column 7" in make_tool_call("1", "Read", '{"a": ').fault


@pytest.mark.parametrize(
    ("name", "valid"),
    [("Read", "Read"), ("", "unnamed"), ("functions.Read", "functions_Read"), ("\n\u00e9", "__"),
     ("x" * 100, "x" * 64)],
)  # fmt: skip
def test_a_name_is_one_that_services_take(name: str, valid: str) -> None:
    assert make_tool_call("1", name, "{}").name == valid
