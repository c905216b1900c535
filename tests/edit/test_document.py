from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.edit.document import (
    MAX_BYTES,
    Document,
    count_lines,
    decode_with_lf,
    normalize_lines,
    split_lines,
)
from cub.errors import CubError
from tests.edit.strategies import ANYTHING
from tests.examples import few_examples


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", ()),
        (b"a", (b"a",)),
        (b"a\n", (b"a\n",)),
        (b"a\r\nb\rc\nd", (b"a\r\n", b"b\r", b"c\n", b"d")),
        (b"\r\r\n", (b"\r", b"\r\n")),
        ("a\x0cb\x85c\u2028d\x0b\n".encode(), ("a\x0cb\x85c\u2028d\x0b\n".encode(),)),
    ],
)
def test_only_commonmark_line_ends_cut_lines(data: bytes, lines: tuple[bytes, ...]) -> None:
    assert split_lines(data) == lines


@pytest.mark.parametrize(
    ("data", "newline"),
    [
        (b"", b"\n"),
        (b"a\r\n", b"\r\n"),
        (b"a\rb\rc\n", b"\r"),
        (b"a\r\nb\nc\nd", b"\n"),
        (b"a\r\nb\n", b"\r\n"),
    ],
)
def test_the_dominant_line_end_wins_and_the_first_of_equals(data: bytes, newline: bytes) -> None:
    assert Document(data).newline == newline


@pytest.mark.parametrize(
    ("data", "head"),
    [
        (b"# T\n", b""),
        (b"\xef\xbb\xbf# T\n", b"\xef\xbb\xbf"),
        (b"---\na: 1\n---\ntext\n", b"---\na: 1\n---\n"),
        (b"\xef\xbb\xbf---\r\na: 1\r\n...\r\nx", b"\xef\xbb\xbf---\r\na: 1\r\n...\r\n"),
        (
            b"---\nlist:\n- a\n  b\n\n# note\n'k': {\n}\n---",
            b"---\nlist:\n- a\n  b\n\n# note\n'k': {\n}\n---",
        ),
        (b"---\n---\nx\n", b"---\n---\n"),
        (b"---\n\n# Title\n\nSome text.\n\n---\n", b""),
        (b"---\ntext without a key\n---\n", b""),
        (b"---\n# Title\n---\n", b""),
        (b"---\na: 1\n", b""),
        (b"----\na: 1\n----\n", b""),
        (b"text\n---\na: 1\n---\n", b""),
    ],
)
def test_front_matter_is_yaml_between_two_lines_at_the_start(data: bytes, head: bytes) -> None:
    assert data[: Document(data).head_size] == head


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_wide_encodings_are_refused_with_a_hint(codec: str) -> None:
    with pytest.raises(CubError) as caught:
        Document.parse("# Title\n\nSome rules.\n".encode(codec), "AGENTS.md")
    assert caught.value.where == "AGENTS.md"
    assert "UTF-8" in caught.value.hint


def test_a_file_has_a_largest_size() -> None:
    largest = b"x" * MAX_BYTES
    assert Document.parse(largest).data == largest
    with pytest.raises(CubError, match="1,048,577 bytes, more than the 1,048,576") as caught:
        Document.parse(largest + b"x", "AGENTS.md")
    assert caught.value.where == "AGENTS.md"


@pytest.mark.parametrize("data", [b"\0", b"a\0b\n", b"\xff\n", b"\x80" * 40, b"\0" * 64, b"a"])
def test_other_bytes_are_taken_as_they_are(data: bytes) -> None:
    assert Document.parse(data).data == data


def test_text_for_the_parser_keeps_line_numbers() -> None:
    document = Document(b"\xef\xbb\xbf---\r\na: `\r\n---\r\n# T\0\rx\xff")
    assert document.text == "\n\n\n# T\ufffd\nx\udcff"
    assert [block.start for block in document.blocks] == [3, 4]


def test_normalized_lines_drop_what_formatters_change() -> None:
    assert normalize_lines(b"\r\n  \n a \t\r\n\nb\r") == [b" a", b"", b"b"]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"a", "a"),
        (b"a\r\nb\rc\n", "a\nb\nc\n"),
        (b"a\n\rb\r\r\n", "a\n\nb\n\n"),
        (b"a\x0b\x0c\xc2\x85\xe2\x80\xa8b", "a\x0b\x0c\x85\u2028b"),
        (b"caf\xe9\xff", "caf\udce9\udcff"),
    ],
)
def test_text_with_lf_has_the_lines_of_the_bytes(data: bytes, text: str) -> None:
    assert decode_with_lf(data) == text


@few_examples
@given(ANYTHING, st.sampled_from([b"CUB", b"a", b"<!--", b"-"]))
def test_lines_with_a_word_are_found_in_the_bytes(data: bytes, word: bytes) -> None:
    document = Document(data)
    assert count_lines(data) == len(document.lines)
    assert list(document.find_lines_with(word)) == [
        number for number, line in enumerate(document.lines) if word in line
    ]
