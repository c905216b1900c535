from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.harness.line_splitter import LineSplitter
from tests.examples import few_examples


def cut(pieces: list[bytes], most: int = 1_000_000) -> list[bytes]:
    lines = LineSplitter(most)
    return [*(line for piece in pieces for line in lines.feed(piece)), *lines.flush()]


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ([], []),
        ([b""], []),
        ([b"a"], [b"a"]),
        ([b"a\n"], [b"a"]),
        ([b"a\r\n\r\nb\r"], [b"a", b"", b"b"]),
        ([b"a\r", b"\nb"], [b"a", b"b"]),
        ([b"a\r\r\n"], [b"a\r"]),
        ([b"\n\n"], [b"", b""]),
        ([b"a", b"b\nc", b"\n"], [b"ab", b"c"]),
        ([b"\xff\x00\n"], [b"\xff\x00"]),
    ],
)
def test_pieces_become_lines(pieces: list[bytes], lines: list[bytes]) -> None:
    assert cut(pieces) == lines


def test_the_rest_of_a_long_line_is_dropped() -> None:
    assert cut([b"abcd", b"efg\nabc\r\nabcdefg"], 4) == [b"abcd", b"abc", b"abcd"]


def test_the_rest_comes_once() -> None:
    lines = LineSplitter()
    assert list(lines.feed(b"a")) == []
    assert list(lines.flush()) == [b"a"]
    assert list(lines.flush()) == []


@few_examples
@given(st.lists(st.binary(max_size=20) | st.sampled_from([b"\n", b"\r", b"\r\n"]), max_size=20))
def test_how_the_bytes_come_does_not_matter(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    assert cut(pieces, 8) == cut([whole], 8) == cut([bytes([one]) for one in whole], 8)


def test_a_line_without_end_takes_no_long_time_and_little_memory() -> None:
    lines = LineSplitter(1000)
    started = time.process_time()
    for _ in range(20_000):
        assert list(lines.feed(b"x" * 5_000)) == []
    assert time.process_time() - started < 3
    assert [len(line) for line in lines.flush()] == [1000]
