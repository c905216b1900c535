from __future__ import annotations

import io
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.store.jsonl import Record, decode_record, encode_record, iter_lines
from tests.examples import few_examples
from tests.store.records import TEXTS, VALUES


def texts(data: bytes) -> list[bytes]:
    return [line.text for line in iter_lines(io.BytesIO(data))]


@few_examples
@given(
    st.dictionaries(TEXTS | st.text(), VALUES | st.floats(allow_nan=False, allow_infinity=False))
)
def test_what_is_written_is_read_again(record: Record) -> None:
    line = encode_record(record)
    assert b"\n" not in line
    found = decode_record(line)
    assert found == record
    assert encode_record(found) == line  # and so in the order of its keys


def test_letters_stand_as_they_are_and_halves_of_them_as_json_says_them() -> None:
    line = '{"é":"\u2028\u00a0","h":"\\ud83d","n":"\\u0000"}'.encode()
    assert encode_record(decode_record(line)) == line


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"a":NaN}', "NaN is not valid JSON"),
        (b'{"a":-Infinity}', "-Infinity is not valid JSON"),
        (b'{"a":1e999}', "a number is too large"),
        (b'{"a":"\xff"}', "this is not UTF-8"),
        (b'["a"]', "not a JSON object"),
        (b'{"a":1', "invalid JSON: a comma or a closing bracket is missing, column 7"),
        (b'{"a":1}{"b":2}', "invalid JSON: there is text after the end, column 8"),
        (b'{"a":' + b"[" * 100_000, "this is nested too deep"),
        (b'{"a":' + b"[" * 300 + b"]" * 300 + b"}", "this is nested too deep"),
        (b'{"a":' + b'{"b":' * 300 + b"1" + b"}" * 301, "this is nested too deep"),
    ],
)
def test_a_line_that_is_no_record_says_why(line: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
        decode_record(line)


def test_a_number_of_too_many_digits_is_refused() -> None:
    with pytest.raises(ValueError, match="digit"):
        decode_record(b'{"a":' + b"9" * (sys.get_int_max_str_digits() + 1) + b"}")


def test_many_brackets_side_by_side_are_not_deep() -> None:
    assert decode_record(b'{"a":[' + b"[]," * 1000 + b'"[[[["]}')["a"][-1] == "[[[["


def test_what_is_read_can_be_written_from_deep_inside() -> None:
    record = decode_record(b'{"a":' + b"[" * 198 + b"]" * 198 + b"}")

    def deep(calls: int) -> bytes:
        return deep(calls - 1) if calls else encode_record(record)

    assert decode_record(deep(400)) == record


def test_both_sides_of_a_conflict_are_taken() -> None:
    data = b"a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other branch\nd"
    assert texts(data) == [b"a", b"b", b"c", b"d"]


def test_what_both_sides_began_with_is_left_out() -> None:
    data = b"<<<<<<< o\r\nb\r\n||||||| 12ab\r\nx\r\ny\r\n=======\r\nc\r\n>>>>>>> t\r\nd\r\n"
    assert texts(data) == [b"b", b"c", b"d"]


@pytest.mark.parametrize(
    "data",
    [
        b"a\n||||||| x\nb\n\nc\n",
        b'a\n||||||| x\n\n{"b":1}\n>>>>>>> y\nc\n',
        b"a\n||||||| x\nb\n<<<<<<< y\nc\n||||||| z\ngone\n=======\n>>>>>>> w\n",
        b"a\n||||||| x\nb\n||||||| x\nc",
    ],
)
def test_a_base_that_nothing_ends_is_no_base(data: bytes) -> None:
    found = texts(data)
    assert len(found) == 3 if b"<" in data or b"{" in data else found == [b"a", b"b", b"c"]
    assert b"" not in found
    assert b"gone" not in found


def test_markers_are_markers_only_as_git_writes_them() -> None:
    data = b"<<<<<<<x\n========\n>>>>>>>>>\n|||||||:\n======\n"
    assert texts(data) == data.split()


def test_a_bom_ends_of_lines_and_blank_lines_are_no_part_of_a_line() -> None:
    data = b'\xef\xbb\xbf{"id":1}\r\n\n \t\r\n  {"id":2} \n{"id":3}'
    found = list(iter_lines(io.BytesIO(data)))
    assert [line.text for line in found] == [b'{"id":1}', b'{"id":2}', b'{"id":3}']
    assert [line.number for line in found] == [1, 4, 5]
    for line in found:
        assert data[line.offset : line.offset + len(line.text)] == line.text


@few_examples
@given(st.lists(st.binary(max_size=9) | st.sampled_from([b"||||||| x", b"=======", b"{}"])))
def test_every_line_is_where_it_says(parts: list[bytes]) -> None:
    data = b"\n".join(parts)
    for line in iter_lines(io.BytesIO(data)):
        assert data[line.offset : line.offset + len(line.text)] == line.text
        whole = data.split(b"\n")[line.number - 1]
        first = line.number == 1
        assert line.text == (whole.removeprefix(b"\xef\xbb\xbf") if first else whole).strip()
