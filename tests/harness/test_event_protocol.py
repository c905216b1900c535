from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.harness.base import AgentEvent
from cub.harness.event_protocol import EventProtocolReader
from cub.tokens import TokenUsage
from tests.examples import few_examples


def read(line: bytes) -> list[AgentEvent]:
    reader = EventProtocolReader()
    return [*reader.read(line + b"\n"), *reader.finish()]


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ('{"type":"text","text":"hi"}', AgentEvent("text", "hi\n")),
        ('{"type":"text","text":"hi\\n"}', AgentEvent("text", "hi\n")),
        ('{"type":"tool","text":"ls"}', AgentEvent("tool", "ls")),
        ('{"type":"usage","input":1,"output":2,"cache_read":3,"cache_write":4}',
         AgentEvent("usage", tokens=TokenUsage(1, 2, 3, 4))),
        ('{"type":"cost","usd":0.5}', AgentEvent("cost", usd=0.5)),
        ('{"type":"session","id":"s-1"}', AgentEvent("session", "s-1")),
        ('{"type":"denied","text":"rm"}', AgentEvent("denied", "rm")),
        ('{"type":"limit","text":"wait"}', AgentEvent("limit", "wait")),
        ('{"type":"result","text":"end","failed":true}', AgentEvent("result", "end", failed=True)),
        ('{"type":"result"}', AgentEvent("result")),
        ('{"type":"new","text":"x"}', AgentEvent("other")),
        ('{"type":["text"]}', AgentEvent("other")),
        ("{}", AgentEvent("other")),
        ("[1]", AgentEvent("text", "[1]\n")),
        ('{"type":"te', AgentEvent("text", '{"type":"te\n')),
        ("plain", AgentEvent("text", "plain\n")),
        ("", AgentEvent("text", "\n")),
        ("\x1b[31mred\x1b[0m", AgentEvent("text", "red\n")),
        ("10%\r20%", AgentEvent("text", "20%\n")),
    ],
)  # fmt: skip
def test_a_line_is_an_event(line: str, event: AgentEvent) -> None:
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
    assert read(line) == [AgentEvent("usage", tokens=TokenUsage(output=7))]
    assert read(b'{"type":"result","text":5,"failed":"yes"}') == [AgentEvent("result")]


def test_half_a_character_does_no_harm() -> None:
    (event,) = read(b'{"type":"text","text":"\\ud800"}')
    assert event.text == "?\n"


def join_texts(reader: EventProtocolReader, pieces: list[bytes]) -> str:
    events = [event for piece in pieces for event in reader.read(piece)]
    return "".join(event.text for event in [*events, *reader.finish()])


def test_very_many_lines_are_few_events() -> None:
    reader = EventProtocolReader()
    assert len([*reader.read(b"x\n" * 6_000)]) == 6_000
    lines = b"a\n\x1b[31mred\x1b[0m\n10%\r20%\n" * 1_000 + b'{"type":"tool","text":"ls"}\nb\nc\nd'
    assert [*reader.read(lines)] == [
        AgentEvent("text", "a\nred\n20%\n" * 999 + "a\nred\n"),
        AgentEvent("text", "20%\n"),
        AgentEvent("tool", "ls"),
        AgentEvent("text", "b\n"),
        AgentEvent("text", "c\n"),
    ]
    assert [*reader.finish()] == [AgentEvent("text", "d\n")]


@few_examples
@given(st.lists(st.binary(max_size=20) | st.sampled_from([b"\n", b"\r\n", b"\x1b[1m", b"\b"])))
def test_many_lines_say_the_same_as_few(pieces: list[bytes]) -> None:
    many = EventProtocolReader()
    assert [*many.read(b"x\n" * 6_000)]
    whole = b"".join(pieces)
    assert join_texts(many, [whole]) == join_texts(EventProtocolReader(), [whole])
    assert join_texts(EventProtocolReader(), pieces) == join_texts(EventProtocolReader(), [whole])


COUNTS = st.builds(TokenUsage, st.integers(1, 9), *[st.integers(0, 9)] * 3)
EVENTS = st.one_of(
    st.tuples(st.sampled_from(["tool", "denied", "limit", "session"]), st.text(max_size=9)),
    st.tuples(st.just("text"), st.text(max_size=9).map(lambda said: said + "\n")),
    st.tuples(st.just("result"), st.text(max_size=9), st.none(), st.none(), st.booleans()),
    st.tuples(st.just("cost"), st.just(""), st.none(), st.floats(0, 999)),
    st.tuples(st.just("usage"), st.just(""), COUNTS),
).map(lambda values: AgentEvent(*values))


@few_examples
@given(EVENTS)
def test_an_event_is_one_line_that_reads_the_same(event: AgentEvent) -> None:
    line = json.dumps(event.to_dict())
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
        json.dumps(event.to_dict())
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
