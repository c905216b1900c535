"""The proof itself: what it says of results that are not as `put_section` makes them."""

from __future__ import annotations

import pytest

from cub.edit.document import Document
from cub.edit.section_writer import put_section, render_section
from cub.edit.verification import find_fault
from cub.errors import InternalError
from tests.edit.strategies import BODY

SECTION = render_section(BODY, 1, b"\n") + b"\n"
LINES = SECTION.count(b"\n")
TEXT = b"# Title\n\none\n\ntwo\n\nthree\n"


def _fault(before: bytes, after: bytes, span: tuple[int, int]) -> str:
    return find_fault(Document(before), None, Document(after), span)


def test_a_section_at_the_end_is_as_it_should_be() -> None:
    assert _fault(TEXT, TEXT + b"\n" + SECTION, (7, 8 + LINES)) == ""


def test_a_section_beside_its_place_is_not_where_it_was_put() -> None:
    result = TEXT + b"\n" + SECTION
    for span in ((0, 7), (9, 8 + LINES), (7, 7 + LINES)):
        assert "would not be found where it was put" in _fault(TEXT, result, span)


def test_a_section_needs_a_digest_of_its_own() -> None:
    other = SECTION.replace(b"one task", b"two tasks")
    assert "its own digest" in _fault(TEXT, TEXT + b"\n" + other, (7, 8 + LINES))


def test_a_section_needs_a_heading() -> None:
    bare = render_section("Work on one task.\n", 1, b"\n") + b"\n"
    span = (7, 8 + bare.count(b"\n"))
    assert "heading would not render" in _fault(TEXT, TEXT + b"\n" + bare, span)


@pytest.mark.parametrize(
    ("line", "other", "says"),
    [
        (b"three", b"# three", "would render differently"),
        (b"three", b"    three", "would render differently"),
        (b"# Title", b"# title", "would not stay as it is"),
        (b"one", b"One", "would not stay as it is"),
        (b"two", b"two  ", "would not stay as it is"),
    ],
)
def test_no_other_line_may_differ(line: bytes, other: bytes, says: str) -> None:
    result = TEXT.replace(line, other) + b"\n" + SECTION
    assert says in _fault(TEXT, result, (7, 8 + LINES))


@pytest.mark.parametrize(
    ("line", "other"), [(b"# Title", b"Title"), (b"two", b"Two"), (b"three", b"three  ")]
)
def test_nor_below_a_section_on_top(line: bytes, other: bytes) -> None:
    result = SECTION + b"\n" + TEXT.replace(line, other)
    assert "would not stay as it is" in _fault(TEXT, result, (0, LINES + 1))


def test_a_body_that_ends_its_section_is_never_put() -> None:
    body = f"{BODY}\n<!-- END CUB MANAGED SECTION -->\n\nmore\n"
    for text in (TEXT, TEXT + b"\n" + SECTION):
        with pytest.raises(InternalError):
            put_section(Document(text), body, 1)
