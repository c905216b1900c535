from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.harness.events import ClientEvent, Tokens
from cub.harness.protocol import ProtocolStream
from tests.examples import few_examples


def read(line: bytes) -> list[ClientEvent]:
    return list(ProtocolStream().read(line))


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ('{"type":"text","text":"hi"}', ClientEvent("text", "hi\n")),
        ('{"type":"text","text":"hi\\n"}', ClientEvent("text", "hi\n")),
        ('{"type":"tool","text":"ls"}', ClientEvent("tool", "ls")),
        ('{"type":"usage","input":1,"output":2,"cache_read":3,"cache_write":4}',
         ClientEvent("usage", tokens=Tokens(1, 2, 3, 4))),
        ('{"type":"cost","usd":0.5}', ClientEvent("cost", usd=0.5)),
        ('{"type":"session","id":"s-1"}', ClientEvent("session", "s-1")),
        ('{"type":"denied","text":"rm"}', ClientEvent("denied", "rm")),
        ('{"type":"limit","text":"wait"}', ClientEvent("limit", "wait")),
        ('{"type":"result","text":"end","failed":true}', ClientEvent("result", "end", failed=True)),
        ('{"type":"result"}', ClientEvent("result")),
        ('{"type":"new","text":"x"}', ClientEvent("other")),
        ('{"type":["text"]}', ClientEvent("other")),
        ("{}", ClientEvent("other")),
        ("[1]", ClientEvent("text", "[1]\n")),
        ('{"type":"te', ClientEvent("text", '{"type":"te\n')),
        ("plain", ClientEvent("text", "plain\n")),
        ("", ClientEvent("text", "\n")),
        ("\x1b[31mred\x1b[0m", ClientEvent("text", "red\n")),
        ("10%\r20%", ClientEvent("text", "20%\n")),
    ],
)  # fmt: skip
def test_a_line_is_an_event(line: str, event: ClientEvent) -> None:
    assert read(line.encode()) == [event]


@pytest.mark.parametrize(
    "line",
    [
        '{"type":"usage"}',
        '{"type":"usage","input":-1,"output":true,"cache_read":"5","cache_write":1e3}',
        '{"type":"usage","input":NaN,"output":99999999999999999}',
        '{"type":"cost","usd":NaN}',
        '{"type":"cost","usd":Infinity}',
        '{"type":"cost","usd":-1}',
        '{"type":"cost","usd":true}',
        '{"type":"cost","usd":"1"}',
    ],
)
def test_numbers_that_make_no_sense_say_nothing(line: str) -> None:
    assert read(line.encode()) == []


def test_other_fields_count_all_the_same() -> None:
    line = b'{"type":"usage","input":-1,"output":7}'
    assert read(line) == [ClientEvent("usage", tokens=Tokens(output=7))]
    assert read(b'{"type":"result","text":5,"failed":"yes"}') == [ClientEvent("result")]


def test_half_a_character_does_no_harm() -> None:
    (event,) = read(b'{"type":"text","text":"\\ud800"}')
    assert event.text == "?\n"


EVENTS = st.one_of(
    st.builds(
        ClientEvent, st.sampled_from(["tool", "denied", "limit", "session"]), st.text(max_size=9)
    ),
    st.builds(ClientEvent, st.just("text"), st.text(max_size=9).map(lambda said: said + "\n")),
    st.builds(ClientEvent, st.just("result"), st.text(max_size=9), failed=st.booleans()),
    st.builds(ClientEvent, st.just("cost"), usd=st.floats(0, 999)),
    st.builds(
        ClientEvent,
        st.just("usage"),
        tokens=st.builds(Tokens, st.integers(1, 9), *[st.integers(0, 9)] * 3),
    ),
)


@few_examples
@given(EVENTS)
def test_an_event_is_one_line_that_reads_the_same(event: ClientEvent) -> None:
    line = event.to_json()
    assert line.isascii()
    assert "\n" not in line
    assert read(line.encode()) == [event]


@few_examples
@given(st.binary(max_size=200) | st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.dictionaries(
        st.sampled_from(["type", "text", "usd", "input", "id", "failed"]), inner, max_size=5
    ) | st.lists(inner, max_size=3),
).map(lambda tree: json.dumps(tree).encode()))  # fmt: skip
def test_no_line_is_an_error(line: bytes) -> None:
    for event in read(line):
        event.to_json()
        event.text.encode()


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"usage","input":' + b"9" * 900_000 + b"}",
        b'{"a":' * 200_000,
        b'{"a":' + b"[" * 900_000,
        b"\x1b[1m" * 250_000,
        b"\x1b" + b"a" * 999_000,
        b"\r" * 1_000_000,
        b"\xff" * 1_000_000,
        b"\x1b]" + b"x" * 999_000,
    ],
    ids=range(8),
)
def test_long_lines_take_no_long_time(line: bytes) -> None:
    started = time.process_time()
    assert [event.kind for event in read(line)] == ["text"]
    assert time.process_time() - started < 2
