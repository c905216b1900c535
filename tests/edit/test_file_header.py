from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.edit.file_header import (
    CommentStyle,
    add_file_header,
    parse_file_header,
    strip_file_header,
)
from tests.edit.readers import read_header

BODY = "# Run loop\n\nText.\n"
FRONT = "---\ndescription: Shared\nalwaysApply: true\n---\n"
MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize("comment", ["<!-- {} -->", "# {}"])
@pytest.mark.parametrize("front", ["", FRONT])
def test_a_sealed_file_is_known_again(comment: CommentStyle, front: str) -> None:
    data = add_file_header(BODY, 3, comment, front)
    found = read_header(data)
    assert (found.version, found.is_intact) == (3, True)
    assert found.matches(BODY.encode(), front.encode())
    assert not found.matches(BODY.encode() + b"more\n", front.encode())
    assert data.decode().startswith(front)
    assert data.decode().endswith("\n\n" + BODY)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"\n", b"\r\n"),
        (b"Text.", b"Text.  "),
        (b" -->\n\n", b" -->\n\n\n"),
        (b"---\n<!--", b"---\n\n<!--"),
        (b" -->\n<!--", b" -->\n\n<!--"),
        (b"true\n", b"true \n"),
        (b"Text.\n", b"Text."),
        (b"Text.\n", b"Text.\n\n\n"),
    ],
)
def test_a_formatters_pass_leaves_it_intact(old: bytes, new: bytes) -> None:
    data = add_file_header(BODY, 1, "<!-- {} -->", FRONT)
    assert old in data
    found = read_header(data.replace(old, new))
    assert found.is_intact


@pytest.mark.parametrize("front", ["", FRONT])
def test_a_byte_order_mark_leaves_it_intact(front: str) -> None:
    found = read_header(MARK + add_file_header(BODY, 1, "<!-- {} -->", front))
    assert found.is_intact


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"Text.", b"Mine."),
        (b"alwaysApply: true", b"alwaysApply: false"),
        (b"description: Shared\n", b""),
        (b"---\n<!--", b"globs: '*.py'\n---\n<!--"),
        (FRONT.encode(), b""),
        (b"cub:digest sha256-", b"cub:digest sha256-0"),
    ],
)
def test_an_edit_breaks_the_seal(old: bytes, new: bytes) -> None:
    data = add_file_header(BODY, 1, "<!-- {} -->", FRONT)
    assert old in data
    found = parse_file_header(data.replace(old, new))
    assert found is None or not found.is_intact


@pytest.mark.parametrize("data", [b"", BODY.encode(), FRONT.encode(), (FRONT + BODY).encode()])
def test_without_a_header_there_is_no_seal(data: bytes) -> None:
    assert parse_file_header(data) is None


@pytest.mark.parametrize("front", ["", FRONT])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_the_body_is_what_stands_behind_the_header(front: str, end: bytes) -> None:
    data = add_file_header(BODY, 1, "<!-- {} -->", front).replace(b"\n", end)
    assert strip_file_header(data).strip(b"\n") == BODY.strip("\n").encode()


def test_a_file_without_a_header_is_its_own_body() -> None:
    assert strip_file_header(b"Mine.\r\n") == b"Mine.\r\n"


def test_long_blank_lines_have_no_header() -> None:
    assert parse_file_header(b" " * 200_000 + b"\n\nMine.\n") is None


SEALED = add_file_header(BODY, 1, "<!-- {} -->", FRONT)


@given(st.binary(max_size=20), st.integers(0, len(SEALED)), st.integers(0, len(SEALED)))
def test_any_bytes_can_be_looked_at(piece: bytes, start: int, end: int) -> None:
    data = SEALED[:start] + piece + SEALED[end:]
    found = parse_file_header(data)
    assert found is None or b"cub file v" in data
    assert (strip_file_header(data) == data) is (found is None)


@given(st.text(alphabet="ab -*\n#:", max_size=40), st.integers(0, 10**9 - 1))
def test_whatever_is_sealed_is_intact(body: str, version: int) -> None:
    found = read_header(add_file_header(body, version, "<!-- {} -->", FRONT))
    assert (found.version, found.is_intact) == (version, True)
