from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.agent.tools.edit_file import EDIT
from cub.agent.tools.read_file import READ
from cub.agent.tools.tool import ToolOutput
from cub.agent.tools.tool_arguments import ToolError
from tests.agent.tools.context import call, list_names, make_context


def edit(folder: Path, data: bytes, old: str, new: str, *, replace_all: bool = False) -> ToolOutput:
    context = make_context(folder)
    (folder / "a").write_bytes(data)
    context.reads.record_file(context.root / "a", data)
    return call(
        EDIT, context, file_path="a", old_string=old, new_string=new, replace_all=replace_all
    )


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a b c", "b", "B", b"a B c"),
        (b"a\nb\nc\n", "a\nb", "x\ny\nz", b"x\ny\nz\nc\n"),
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\n"),
        (b"a\r\nb\r\nc", "\nb", "", b"a\r\nc"),
        (b"a\r\nb\r\nc", "a\r\nb", "x\r\ny", b"x\r\ny\r\nc"),
        (b"a\nb\r\nc\r\nd\r\n", "a\nb", "x\ny", b"x\ny\r\nc\r\nd\r\n"),
        (b"a\r\nb\nc\n", "b", "x\ny", b"a\r\nx\ny\nc\n"),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        (b"caf\xe9 old\n", "old", "neu é", b"caf\xe9 neu \xc3\xa9\n"),
        (b"a\n", "a\n", "a\r\n", b"a\r\n"),
        (b"a\rb", "a", "x\ny", b"x\ny\rb"),
        ("a é\n".encode("utf-16"), "é", "ü", "a ü\n".encode("utf-16")),
        ("\ufeffa\r\nb".encode("utf-16-be"), "a\nb", "x\ny", "\ufeffx\r\ny".encode("utf-16-be")),
        ("a 😀".encode("utf-32"), "😀", "", "a ".encode("utf-32")),
        (b"\xff\xfe\x3d\xd8a\0\r\0\n\0", "a", "b", b"\xff\xfe\x3d\xd8b\0\r\0\n\0"),
    ],
)
def test_only_the_text_is_replaced(
    tmp_path: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    edit(tmp_path, before, old, new)
    assert (tmp_path / "a").read_bytes() == after
    assert list_names(tmp_path) == ["a"]


def test_the_result_says_what_was_done_and_shows_it_to_people(tmp_path: Path) -> None:
    output = edit(tmp_path, b"x\ny\nx\n", "x", "z", replace_all=True)
    assert output.text == "Edited a in 2 places."
    assert output.preview == "@@ -1,3 +1,3 @@\n-x\n+z\n y\n-x\n+z"
    assert output.changed == (Path(os.path.realpath(tmp_path / "a")),)


def test_a_text_that_is_there_more_than_once_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="is in a 3 times"):
        edit(tmp_path, b"x\r\nx\nx", "x", "z")
    assert (tmp_path / "a").read_bytes() == b"x\r\nx\nx"


@pytest.mark.parametrize(
    ("data", "old", "hint"),
    [
        (b"a", "zz", "use Read"),
        ("“a”\n".encode("utf-16"), '"a"', "line 1 has U+201C LEFT DOUBLE QUOTATION MARK"),
    ],
)
def test_a_text_that_is_not_there_is_an_error_with_the_nearest_place(
    tmp_path: Path, data: bytes, old: str, hint: str
) -> None:
    with pytest.raises(ToolError, match="old_string is not in a") as caught:
        edit(tmp_path, data, old, "new")
    assert hint in caught.value.hint
    assert (tmp_path / "a").read_bytes() == data


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [("", "x", "old_string is empty"), ("x", "x", "the same"), ("\udc80", "x", "not valid")],
)
def test_a_change_that_makes_no_sense_is_an_error(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(ToolError, match=message):
        edit(tmp_path, b"x", old, new)


def test_a_missing_file_is_an_error_that_names_write(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="does not exist") as caught:
        call(EDIT, make_context(tmp_path), file_path="a", old_string="x", new_string="y")
    assert "Write" in caught.value.hint


def test_a_file_that_was_not_read_stays(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    context = make_context(tmp_path)
    with pytest.raises(ToolError, match="not read yet"):
        call(EDIT, context, file_path="a", old_string="mine", new_string="y")
    call(READ, context, file_path="a")
    call(EDIT, context, file_path="a", old_string="mine", new_string="y")
    call(EDIT, context, file_path="a", old_string="y", new_string="z")
    assert (tmp_path / "a").read_text() == "z"


PIECES = st.lists(
    st.sampled_from([b"\n", b"\r\n", b"\r", b"\xff", b"\xef\xbb\xbf", b"a", b" ", "é".encode()]),
    max_size=12,
).map(b"".join)


CODECS = st.sampled_from(["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])


@given(CODECS, st.binary(max_size=30), st.binary(max_size=30))
def test_no_unit_of_another_encoding_changes(
    tmp_path_factory: pytest.TempPathFactory, codec: str, head: bytes, tail: bytes
) -> None:
    folder, width = tmp_path_factory.mktemp("edit"), 4 if "32" in codec else 2
    head, tail = (part[: len(part) // width * width] for part in (head, tail))
    before = "\ufeff".encode(codec) + head + "<old>".encode(codec) + tail
    try:
        edit(folder, before, "<old>", "new")
    except ToolError:  # by chance, a NUL or no text at all
        assert (folder / "a").read_bytes() == before
        return
    assert (folder / "a").read_bytes() == before.replace("<old>".encode(codec), "new".encode(codec))


@given(PIECES, PIECES, PIECES, st.sampled_from(["é", "x\ny", "", "\n", "q\r\n"]))
def test_no_byte_outside_of_the_replacement_changes(
    tmp_path_factory: pytest.TempPathFactory, head: bytes, middle: bytes, tail: bytes, new: str
) -> None:
    folder = tmp_path_factory.mktemp("edit")
    # A mark on both sides makes the text unique; what is between is shown with LF.
    try:
        shown = middle.replace(b"\r\n", b"\n").decode()
    except UnicodeDecodeError:
        return
    edit(folder, head + b"<" + middle + b">" + tail, f"<{shown}>", f"({new})")
    after = (folder / "a").read_bytes()
    assert after.startswith(head + b"(")
    assert after.endswith(b")" + tail)
    inside = after[len(head) + 1 : len(after) - len(tail) - 1]
    assert inside.replace(b"\r\n", b"\n") == new.replace("\r\n", "\n").encode()
