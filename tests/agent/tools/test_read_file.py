from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.agent.tools.read_file import READ
from cub.agent.tools.tool_arguments import ToolError
from cub.agent.tools.tool_text import MAX_RESULT_CHARS
from tests.agent.tools.context import call, make_context

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))


def read(folder: Path, data: bytes, **values: int) -> str:
    (folder / "a.txt").write_bytes(data)
    return call(READ, make_context(folder), file_path="a.txt", **values).text


def test_lines_have_numbers(tmp_path: Path) -> None:
    assert read(tmp_path, b"one\n\n\tthree") == "1\tone\n2\t\n3\t\tthree"


def test_offset_and_limit_choose_lines_and_the_rest_is_counted(tmp_path: Path) -> None:
    text = read(tmp_path, b"a\nb\nc\nd\n", offset=2, limit=2)
    assert text == "2\tb\n3\tc\n… 1 more lines: read on with offset 4"
    assert read(tmp_path, b"a\nb\nc\nd\n", offset=4, limit=9) == "4\td"
    assert read(tmp_path, b"a\nb\n", offset=0) == "1\ta\n2\tb"


def test_a_model_may_name_the_last_line(tmp_path: Path) -> None:
    text = read(tmp_path, b"a\nb\nc\nd\n", start_line=2, end_line=3)
    assert text == "2\tb\n3\tc\n… 1 more lines: read on with offset 4"
    assert read(tmp_path, b"a\nb\n", start_line=2, end_line=9) == "2\tb"
    with pytest.raises(ToolError, match="end_line is before start_line"):
        read(tmp_path, b"a\nb\n", start_line=2, end_line=1)


def test_two_thousand_lines_are_shown_by_default(tmp_path: Path) -> None:
    lines = read(tmp_path, b"x\n" * 2_001).split("\n")
    assert lines[1_999:] == ["2000\tx", "… 1 more lines: read on with offset 2001"]


@pytest.mark.parametrize(
    ("values", "message"),
    [({"offset": 3}, "has 2 lines"), ({"offset": -1}, "at least 1"), ({"limit": 0}, "at least 1")],
)
def test_lines_that_are_not_there_are_an_error(
    tmp_path: Path, values: dict[str, int], message: str
) -> None:
    with pytest.raises(ToolError, match=message):
        read(tmp_path, b"a\nb", **values)


def test_crlf_is_said_once_and_not_shown(tmp_path: Path) -> None:
    assert read(tmp_path, b"a\r\nb\r\n") == "(This file has CRLF line ends.)\n1\ta\n2\tb"
    mixed = read(tmp_path, b"a\r\nb\nc\n")
    assert mixed == "(This file has CRLF line ends in 1 of 3 lines.)\n1\ta\n2\tb\n3\tc"


def test_a_byte_order_mark_is_not_shown(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbfa\n") == "1\ta"


def test_bytes_that_are_not_utf_8_are_replaced_and_said(tmp_path: Path) -> None:
    text = read(tmp_path, b"caf\xe9\n")
    assert text.endswith("1\tcaf�")
    assert "not UTF-8" in text


def test_characters_that_look_like_others_are_said(tmp_path: Path) -> None:
    text = read(tmp_path, "a\u00a0b\nc\n\u200bd\u00a0e\n— “x”\n".encode())
    notes = "(U+00A0 NO-BREAK SPACE is in lines 1, 3.)\n(U+200B ZERO WIDTH SPACE is in line 3.)\n"
    assert text == notes + "1\ta\u00a0b\n2\tc\n3\t\u200bd\u00a0e\n4\t— “x”"
    assert "NO-BREAK" not in read(tmp_path, "a\u00a0b\nc\n".encode(), offset=2)


WIDE = ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]


@pytest.mark.parametrize("codec", WIDE)
def test_utf_16_and_utf_32_are_text_with_a_note(tmp_path: Path, codec: str) -> None:
    mark = "" if codec in ("utf-16", "utf-32") else "\ufeff"
    text = read(tmp_path, f"{mark}é 😀\r\nb\r\n".encode(codec))
    assert text.startswith("(This file is UTF-")
    assert text.endswith("(This file has CRLF line ends.)\n1\té 😀\n2\tb")


def test_half_of_a_pair_in_utf_16_is_marked(tmp_path: Path) -> None:
    text = read(tmp_path, b"\xff\xfea\0\x3d\xd8b\0")
    assert "(This file is not valid UTF-16-LE: �" in text
    assert text.endswith("1\ta���b")


@pytest.mark.parametrize("data", [b"\xff\xfea\0\0\0", b"\xff\xfea\0b", b"a\0b\0"])
def test_what_is_no_whole_utf_16_is_binary(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ToolError, match="is a binary file"):
        read(tmp_path, data)


def test_an_empty_file_is_said(tmp_path: Path) -> None:
    assert read(tmp_path, b"") == "a.txt is empty."


def test_a_binary_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"a\.txt is a binary file"):
        read(tmp_path, b"a" * 100_000 + b"\0")


def test_a_folder_is_an_error_that_names_glob(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    with pytest.raises(ToolError, match="is a directory") as caught:
        call(READ, make_context(tmp_path), file_path="src")
    assert "Glob" in caught.value.hint


def test_a_missing_file_is_an_error_with_a_similar_name(tmp_path: Path) -> None:
    (tmp_path / "parser.py").touch()
    with pytest.raises(ToolError, match="does not exist") as caught:
        call(READ, make_context(tmp_path), file_path="parsers.py")
    assert caught.value.hint == "did you mean parser.py?"
    with pytest.raises(ToolError, match="does not exist") as caught:
        call(READ, make_context(tmp_path), file_path="none/parsers.py")
    assert caught.value.hint == ""


@pytest.mark.skipif(os.name == "nt", reason="needs FIFOs")
def test_a_fifo_is_an_error_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ToolError, match="a FIFO"):
        call(READ, make_context(tmp_path), file_path="pipe")


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a\0", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
def test_an_image_is_a_block_in_base64(tmp_path: Path, data: bytes, media_type: str) -> None:
    (tmp_path / "logo").write_bytes(data)
    output = call(READ, make_context(tmp_path), file_path="logo")
    (image,) = output.images
    assert (image.media_type, base64.b64decode(image.data)) == (media_type, data)
    assert output.text == f"logo: {media_type}, {len(data)} bytes"


def test_an_image_that_models_do_not_take_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "logo.png").write_bytes(PNG + bytes(3_750_000))
    with pytest.raises(ToolError, match="more than the 3,750,000"):
        call(READ, make_context(tmp_path), file_path="logo.png")


def test_a_file_that_was_read_is_known_by_its_whole_content(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1\n2\n")
    context = make_context(tmp_path)
    call(READ, context, file_path="a", limit=1)
    assert context.reads.explain_unknown(context.root / "a", b"1\n2\n") == ""
    assert context.reads.explain_unknown(context.root / "a", b"1\n3\n") != ""


@pytest.mark.parametrize(
    "data", [b"x" * (50 << 20), b"ab\n" * (17 << 20), "ä\n".encode() * 1_000_000]
)
def test_the_text_of_a_huge_file_is_bounded(tmp_path: Path, data: bytes) -> None:
    text = read(tmp_path, data, limit=10**9)
    assert len(text) < MAX_RESULT_CHARS + 200
    assert "cut" in text


def test_a_file_that_is_too_large_is_an_error(tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as file:
        file.truncate((64 << 20) + 1)
    with pytest.raises(ToolError, match="67,108,865 bytes"):
        call(READ, make_context(tmp_path), file_path="a")


@given(
    st.lists(st.text(st.characters(exclude_characters="\r\n\0", codec="utf-8")), min_size=1),
    st.integers(1, 9),
    st.integers(1, 9),
)
def test_any_lines_are_shown_as_they_are(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], offset: int, limit: int
) -> None:
    data = "\n".join([*lines, "end"]).encode().removeprefix(b"\xef\xbb\xbf")
    whole = data.decode().split("\n")
    if offset <= len(whole):
        text = read(tmp_path_factory.mktemp("read"), data, offset=offset, limit=limit)
        shown = whole[offset - 1 :][:limit]
        expected = [f"{n}\t{line}" for n, line in enumerate(shown, offset)]
        numbered = [line for line in text.split("\n") if not line.startswith("(U+")]
        assert numbered[: len(shown)] == expected
