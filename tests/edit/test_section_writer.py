from __future__ import annotations

import pytest

from cub.edit.document import MAX_BYTES, Document
from cub.edit.section_writer import put_section, remove_section, render_section
from cub.edit.sections import get_bytes_outside
from cub.errors import CubError
from tests.edit.readers import read_section
from tests.edit.strategies import BODY

SECTION = render_section(BODY, 1, b"\n")


def _put(data: bytes, *, top: bool = False) -> bytes:
    return put_section(Document(data, "AGENTS.md"), BODY, 1, top=top).document.data


def _removed(data: bytes, *, top: bool = False) -> bytes:
    document = Document(data)
    section = read_section(document)
    return remove_section(document, section, top=top)


def test_the_section_reads_as_specified() -> None:
    assert SECTION.decode().split("\n") == [
        "<!-- BEGIN CUB MANAGED SECTION v1 -->",
        "<!-- Do not edit this section. Run `cub update` to refresh. -->",
        "<!-- To customize cub behavior, add your overrides OUTSIDE this section. -->",
        "<!-- cub:digest sha256-a85a4bcd68eeb2ca -->",
        "",
        "## Cub Integration",
        "",
        "- Work on one task.",
        "",
        "<!-- END CUB MANAGED SECTION -->",
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", SECTION + b"\n"),
        (b"abc\n", b"abc\n\n" + SECTION + b"\n"),
        (b"abc", b"abc\n\n" + SECTION),
        (b"abc\n\n\n", b"abc\n\n\n\n" + SECTION + b"\n"),
        (b"a\r\nb", b"a\r\nb\r\n\r\n" + SECTION.replace(b"\n", b"\r\n")),
        (b"a\rb\r", b"a\rb\r\r" + SECTION.replace(b"\n", b"\r") + b"\r"),
        (b"a\nb\nc\r", b"a\nb\nc\r\r" + SECTION + b"\n"),
        (b"\xff\xfe\xfd broken", b"\xff\xfe\xfd broken\n\n" + SECTION),
    ],
)
def test_a_new_section_goes_to_the_end_with_its_separator(data: bytes, expected: bytes) -> None:
    assert _put(data) == expected
    assert _removed(expected) == data


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"abc", SECTION + b"\n\nabc"),
        (b"\nabc\n", SECTION + b"\n\n\nabc\n"),
        (b"\xef\xbb\xbfabc\n", b"\xef\xbb\xbf" + SECTION + b"\n\nabc\n"),
        (b"---\na: 1\n---\nabc\n", b"---\na: 1\n---\n" + SECTION + b"\n\nabc\n"),
        (b"---\na: 1\n---", b"---\na: 1\n---\n\n" + SECTION),
        (b"\na\rb\rc\r", SECTION.replace(b"\n", b"\r") + b"\r\r\n\na\rb\rc\r"),
        (b"", SECTION + b"\n"),
    ],
)
def test_on_top_means_behind_mark_and_front_matter(data: bytes, expected: bytes) -> None:
    assert _put(data, top=True) == expected
    assert _removed(expected, top=True) == data


@pytest.mark.parametrize(
    ("tail", "what"),
    [
        ("```py\nx = 1\n", "code fence that starts in line 3"),
        ("~~~~\n```\n", "code fence that starts in line 3"),
        ("<!-- a note\n", "comment or raw HTML block that starts in line 3"),
        ("<pre>\ntext\n\nmore", "comment or raw HTML block that starts in line 3"),
        ("<script>\n", "comment or raw HTML block that starts in line 3"),
        ("<?php\n", "comment or raw HTML block that starts in line 3"),
        ("<![CDATA[\n", "comment or raw HTML block that starts in line 3"),
        ("<!DOCTYPE\n", "comment or raw HTML block that starts in line 3"),
    ],
)
def test_an_open_end_would_swallow_the_section_so_it_goes_on_top(tail: str, what: str) -> None:
    data = f"# T\n\n{tail}".encode()
    done = put_section(Document(data), BODY, 1)
    assert done.document.data == SECTION + b"\n\n" + data
    assert what in done.moved_to_top_reason
    assert _removed(done.document.data) == data


@pytest.mark.parametrize(
    "tail", ["<div>\ntext\n", "- ```\n  x\n", "> ```\n", "    code\n", "text\n"]
)
def test_ends_that_close_by_themselves_swallow_nothing(tail: str) -> None:
    done = put_section(Document(tail.encode()), BODY, 1)
    assert not done.moved_to_top_reason
    assert done.document.data.startswith(tail.encode())


def test_an_existing_section_is_replaced_where_it_stands() -> None:
    data = b"above\n  " + SECTION.replace(b"v1", b"v0") + b"\nbelow\r\n"
    assert _put(data) == b"above\n" + SECTION + b"\nbelow\r\n"


def test_a_section_without_a_line_end_is_replaced_by_one_without() -> None:
    assert _put(b"above\n\n" + SECTION.replace(b"v1", b"v0")) == b"above\n\n" + SECTION


def test_a_section_inside_an_html_block_keeps_its_surroundings() -> None:
    old = b"<!-- BEGIN CUB MANAGED SECTION v0 -->\nold\n<!-- END CUB MANAGED SECTION -->\n"
    data = b"<details>\n" + old + b"</details>\nmore\n\ntext\n"
    assert _put(data) == b"<details>\n" + SECTION + b"\n</details>\nmore\n\ntext\n"


def test_lines_below_stand_apart_from_their_neighbours() -> None:
    document = Document(b"above\n\n" + SECTION + b"\nbelow\n")
    done = put_section(document, BODY, 1, lines_below=b"  mine\n").document.data
    assert done == b"above\n\n" + SECTION + b"\n\n  mine\n\nbelow\n"


def test_what_a_separator_does_not_explain_stays() -> None:
    moved = b"above\n\n" + SECTION + b"\n\nbelow\n"
    assert _removed(moved) == b"above\n\n\nbelow\n"
    assert _removed(b"above\n" + SECTION + b"\n") == b"above\n"
    assert _removed(SECTION + b"\nmine\n") == b"mine\n"
    assert _removed(SECTION + b"\n\nmine\n") == b"\nmine\n"


@pytest.mark.parametrize("top", [False, True])
def test_no_section_makes_a_file_too_large_to_be_read_again(top: bool) -> None:
    document = Document.parse(b"x" * (MAX_BYTES - 100) + b"\n", "AGENTS.md")
    with pytest.raises(CubError, match="with its section, this file has"):
        put_section(document, BODY, 1, top=top)


ENDS = [
    "",
    "\n",
    "\r\n",
    "\r",
    "\n\n",
    "\n   \n",
    "\n\n    code",
    "\n> quote\n",
    "\n```\n",
    "\n<div>\n",
]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("top", [False, True])
def test_a_section_beside_a_block_of_very_many_lines(end: str, top: bool) -> None:
    data = (b"- item\n" * 1200)[:-1] + end.encode()
    done = put_section(Document(data, "AGENTS.md"), BODY, 1, top=top).document
    section = read_section(done)
    assert remove_section(done, section, top=top) == data
    again = put_section(done, BODY + "\nMore.\n", 1).document
    renewed = read_section(again)
    assert get_bytes_outside(again, renewed) == get_bytes_outside(done, section)
